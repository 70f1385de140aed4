import CGTK
import VitrineGTK
import VitrineGalleryModel

/// The header bar, with the title and the buttons of the page.
@MainActor
@safe
final class GalleryHeader {
  let widget: Widget
  private let gridButtons: [Widget]
  private let photoButtons: [Widget]

  init(title: Widget, subtitle: Widget) {
    widget = unsafe Widget(gtk_header_bar_new())
    for label in [title, subtitle] {
      unsafe gtk_label_set_ellipsize(cast(label.pointer), PANGO_ELLIPSIZE_MIDDLE)
    }
    let titles = Widget.box(GTK_ORIENTATION_VERTICAL, [title, subtitle]).aligned(GTK_ALIGN_FILL, GTK_ALIGN_CENTER)
    unsafe gtk_header_bar_set_title_widget(cast(widget.pointer), titles.pointer)
    func button(_ command: Command, _ icon: String) -> Widget {
      .button(icon: icon, command.title, action: command.action)
    }
    let open = button(.open, "folder-open-symbolic")
    let back = button(.back, "go-previous-symbolic")
    let previous = button(.previous, "go-up-symbolic")
    let next = button(.next, "go-down-symbolic")
    let search = Widget.toggle(icon: "system-search-symbolic", Command.search.title, action: Command.search.action)
    let info = Widget.toggle(icon: "help-about-symbolic", Command.info.title, action: Command.info.action)
    let smaller = button(.zoomOut, "zoom-out-symbolic")
    let larger = button(.zoomIn, "zoom-in-symbolic")
    gridButtons = [open, search]
    photoButtons = [back, previous, next]
    for child in [open, back, previous, next] {
      unsafe gtk_header_bar_pack_start(cast(widget.pointer), child.pointer)
    }
    let menu = unsafe Widget(gtk_menu_button_new())
    menu.set("icon-name", "open-menu-symbolic")
    menu.set("tooltip-text", translated("Menu"))
    menu.set("primary", true)
    menu.accessibleName = translated("Menu")
    let model = unsafe GalleryMenu.make()
    unsafe gtk_menu_button_set_menu_model(cast(menu.pointer), cast(model))
    unsafe g_object_unref(UnsafeMutableRawPointer(model))
    for child in [menu, info, search, larger, smaller] {
      unsafe gtk_header_bar_pack_end(cast(widget.pointer), child.pointer)
    }
  }

  /// Shows the buttons of a page.
  func update(_ page: GalleryWindow.Page) {
    for button in gridButtons { button.isShown = page != .photo }
    for button in photoButtons { button.isShown = page == .photo }
  }
}

/// The menu of the header bar.
@MainActor
enum GalleryMenu {
  /// Returns the menu, with a reference for the caller.
  static func make() -> OpaquePointer? {
    let menu = unsafe g_menu_new()
    unsafe add([.open, .paste, .reload], to: menu)
    unsafe add([.copy, .openWith, .trash, .undo], to: menu)
    unsafe add([.zoomFit, .zoomActual, .rotateLeft, .rotateRight, .fullscreen], to: menu)
    let orders = [translated("By Name"), translated("Newest First"), translated("Largest First")]
    let choices = unsafe g_menu_new()
    let orderActions = ItemOrder.allCases.map { "win.order::\($0.rawValue)" }
    unsafe add(zip(orderActions, orders), of: translated("Order"), to: choices)
    let themes = [translated("As the Desktop"), translated("Light"), translated("Dark")]
    let themeActions = Theme.allCases.map { "win.theme::\($0.rawValue)" }
    unsafe add(zip(themeActions, themes), of: translated("Colours"), to: choices)
    unsafe g_menu_append_section(menu, nil, cast(choices))
    unsafe g_object_unref(UnsafeMutableRawPointer(choices))
    unsafe add([.statistics, .origins], to: menu)
    unsafe add([.quit], to: menu)
    return unsafe menu
  }

  /// Adds a submenu of choices, one of which holds.
  private static func add(_ choices: some Sequence<(String, String)>, of title: String, to menu: OpaquePointer?) {
    let list = unsafe g_menu_new()
    for (action, title) in choices { unsafe g_menu_append(list, title, action) }
    unsafe g_menu_append_submenu(menu, title, cast(list))
    unsafe g_object_unref(UnsafeMutableRawPointer(list))
  }

  private static func add(_ commands: [Command], to menu: OpaquePointer?) {
    let section = unsafe g_menu_new()
    for command in commands {
      let item = unsafe g_menu_item_new(command.title, command.action)
      // The item takes the floating variant.
      if let key = command.key { unsafe g_menu_item_set_attribute_value(item, "accel", g_variant_new_string(key)) }
      unsafe g_menu_append_item(section, item)
      unsafe g_object_unref(UnsafeMutableRawPointer(item))
    }
    unsafe g_menu_append_section(menu, nil, cast(section))
    unsafe g_object_unref(UnsafeMutableRawPointer(section))
  }
}
