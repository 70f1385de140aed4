import CGTK
import Vitrine
import VitrineGTK
import VitrineRuntime

/// The window with all keys, and the one about the program.
@MainActor
enum Help {
  static func showShortcuts(in owner: Widget) {
    let groups: [(String, [(String, Command)])] = [
      (
        translated("Pictures"),
        keys([
          .open, .openPicture, .search, .selectAll, .reload, .copy, .copyPixels, .paste, .copyTo, .moveTo, .rename,
          .saveAs, .print, .wallpaper, .openWith, .trash, .delete, .undo,
        ]),
      ),
      (
        translated("One Picture"),
        [("Right", .next), ("Left", .previous)]
          + keys([
            .first, .last, .back, .rotateLeft, .rotateRight, .flipHorizontally, .flipVertically, .crop, .saveTurn,
            .pause, .previousFrame, .nextFrame,
          ]),
      ),
      (
        translated("View"),
        keys([
          .zoomIn, .zoomOut, .zoomFit, .zoomActual, .zoomDouble, .info, .slideshow, .fullscreen, .shortcuts, .quit,
        ]),
      ),
    ]
    // GTK has no other way to fill the window than its description of interfaces.
    let text = groups.map { title, commands in
      let rows = commands.map { keys, command in
        """
        <child><object class="GtkShortcutsShortcut"><property name="accelerator">\(escaped(keys))</property>\
        <property name="title">\(escaped(command.title))</property></object></child>
        """
      }
      return """
        <child><object class="GtkShortcutsGroup"><property name="title">\(escaped(title))</property>\
        \(rows.joined())</object></child>
        """
    }
    let interface = """
      <interface><object class="GtkShortcutsWindow" id="window"><child><object class="GtkShortcutsSection">\
      <property name="section-name">all</property><property name="max-height">15</property>\
      \(text.joined())</object></child></object></interface>
      """
    let builder = unsafe gtk_builder_new_from_string(interface, -1)
    defer { unsafe g_object_unref(UnsafeMutableRawPointer(builder)) }
    // The builder keeps the object for the call.
    guard let object = unsafe gtk_builder_get_object(builder, "window") else { return }
    unsafe Dialogs.present(Widget(cast(object)), over: owner)
  }

  private static func keys(_ commands: [Command]) -> [(String, Command)] {
    commands.compactMap { command in command.key.map { ($0, command) } }
  }

  private static func escaped(_ text: String) -> String {
    text.reduce(into: "") { result, character in
      switch character {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      default: result.append(character)
      }
    }
  }

  static func showAbout(in owner: Widget) {
    let window = Widget(of: gtk_about_dialog_get_type())
    window.set("program-name", translated("Gallery"))
    window.set("logo-icon-name", Desktop.applicationID)
    window.set("version", vitrineVersion)
    window.set("comments", translated("Shows pictures: folders, files and URLs"))
    Dialogs.present(window, over: owner)
  }
}
