import CGTK
import VitrineGTK
import VitrineGalleryModel

/// The folders that lead to the open one, each of which can be opened.
@MainActor
final class PathBar {
  let widget: Widget
  private let row = Widget.box(GTK_ORIENTATION_HORIZONTAL)
  private var shown: String?
  private let opened: @MainActor (String) -> Void

  /// - Parameter opened: Called with the path of a folder to open.
  init(_ opened: @escaping @MainActor (String) -> Void) {
    self.opened = opened
    // A long path is scrolled.
    widget = .scrolled(row, horizontal: GTK_POLICY_EXTERNAL)
    widget.set("vscrollbar-policy", GTK_POLICY_NEVER)
    widget.addClass("path").expands(vertically: false)
    widget.setAccessibleName(translated("Folders"))
    widget.object("hadjustment")?.on("changed") { [weak self] in self?.settle() }
  }

  /// Shows the way to a folder; nothing for `nil`.
  func show(_ folder: String?) {
    widget.isShown = folder != nil
    guard folder != shown else { return }
    shown = folder
    row.removeChildren()
    guard let folder else { return }
    let names = folder.split(separator: "/").map(String.init)
    for index in -1..<names.count {
      let path = "/" + names.prefix(index + 1).joined(separator: "/")
      let button = Widget.button(index < 0 ? "/" : names[index].readablePath)
      button.on("clicked") { [opened] in opened(path) }
      if index > 0 { row.add(.label("/")) }
      row.add(button)
    }
    settle()
  }

  /// Shows the end, which is what matters; its place is known after the layout.
  private func settle() {
    let adjustment = widget.object("hadjustment")
    settling = Repeating(every: 0) {
      adjustment?.set("value", adjustment?.get("upper") ?? 0.0)
      return false
    }
  }

  private var settling: Repeating?
}
