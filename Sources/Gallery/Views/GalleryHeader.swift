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
    widget = Widget(of: gtk_header_bar_get_type())
    for label in [title, subtitle] { label.set("ellipsize", PANGO_ELLIPSIZE_MIDDLE) }
    let titles = Widget.box(GTK_ORIENTATION_VERTICAL, [title, subtitle]).aligned(GTK_ALIGN_FILL, GTK_ALIGN_CENTER)
    widget.set("title-widget", titles)
    func button(_ command: Command, _ icon: String, isToggle: Bool = false) -> Widget {
      .button(icon: icon, command.title, action: command.action, isToggle: isToggle)
    }
    let open = button(.open, "folder-open-symbolic")
    let back = button(.back, "go-previous-symbolic")
    let previous = button(.previous, "go-up-symbolic")
    let next = button(.next, "go-down-symbolic")
    let search = button(.search, "system-search-symbolic", isToggle: true)
    let info = button(.info, "help-about-symbolic", isToggle: true)
    let smaller = button(.zoomOut, "zoom-out-symbolic")
    let larger = button(.zoomIn, "zoom-in-symbolic")
    gridButtons = [open, search]
    photoButtons = [back, previous, next]
    for child in [open, back, previous, next] { widget.add(child) }
    let menu = Widget(of: gtk_menu_button_get_type())
    menu.set("icon-name", "open-menu-symbolic")
    menu.set("tooltip-text", translated("Menu"))
    menu.set("primary", true)
    menu.setAccessibleName(translated("Menu"))
    menu.set("menu-model", GalleryMenu.make())
    for child in [menu, info, search, larger, smaller] { widget.addAtEnd(child) }
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
  static func make() -> Menu {
    let menu = Menu()
    add([.open, .paste, .reload], to: menu)
    add([.copy, .openWith, .trash, .undo], to: menu)
    add([.zoomFit, .zoomActual, .rotateLeft, .rotateRight, .fullscreen], to: menu)
    let orders = [translated("By Name"), translated("Newest First"), translated("Largest First")]
    let choices = Menu()
    let orderActions = ItemOrder.allCases.map { "win.order::\($0.rawValue)" }
    add(zip(orderActions, orders), of: translated("Order"), to: choices)
    let themes = [translated("As the Desktop"), translated("Light"), translated("Dark")]
    let themeActions = Theme.allCases.map { "win.theme::\($0.rawValue)" }
    add(zip(themeActions, themes), of: translated("Colours"), to: choices)
    menu.add(section: choices)
    add([.statistics, .origins], to: menu)
    add([.quit], to: menu)
    return menu
  }

  /// Adds a submenu of choices, one of which holds.
  private static func add(_ choices: some Sequence<(String, String)>, of title: String, to menu: Menu) {
    let list = Menu()
    for (action, title) in choices { list.add(title, action: action) }
    menu.add(title, submenu: list)
  }

  private static func add(_ commands: [Command], to menu: Menu) {
    let section = Menu()
    for command in commands { section.add(command.title, action: command.action, key: command.key) }
    menu.add(section: section)
  }
}
