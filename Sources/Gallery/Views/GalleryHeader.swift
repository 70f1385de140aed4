import CGTK
import VitrineGTK
import VitrineGalleryModel

/// The header bar, with the title and the buttons of the page.
@MainActor
@safe
final class GalleryHeader {
  /// Called after the bar has got another width.
  var onResize: () -> Void = {}
  /// Called when the menu closes and would keep the keyboard.
  var onMenuClosed: () -> Void = {}
  /// The bar, in a view that is as narrow as the window.
  let widget: Widget
  private let menu = Widget(of: gtk_menu_button_get_type())
  private let bar = Widget(of: gtk_header_bar_get_type())
  /// The buttons that a narrow window has in the menu only, the first to go first.
  private let optional: [[Widget]]
  private let title: Widget
  /// The least length of the title, in characters.
  private static let titleLength = 8
  private var fitting: Repeating?
  private var closing: Repeating?
  private var shownPage: GalleryWindow.Page?
  private let gridButtons: [Widget]
  private let photoButtons: [Widget]

  init(title: Widget, subtitle: Widget, isForDevelopers: Bool) {
    self.title = title
    widget = .scrolled(bar, horizontal: GTK_POLICY_EXTERNAL)
    for property in ["propagate-natural-width", "propagate-natural-height"] { widget.set(property, true) }
    widget.set("vscrollbar-policy", GTK_POLICY_NEVER)
    for label in [title, subtitle] { label.set("ellipsize", PANGO_ELLIPSIZE_MIDDLE) }
    let titles = Widget.box(GTK_ORIENTATION_VERTICAL, [title, subtitle]).aligned(GTK_ALIGN_FILL, GTK_ALIGN_CENTER)
    bar.set("title-widget", titles)
    func button(_ command: Command, _ icon: String, isToggle: Bool = false) -> Widget {
      let button = Widget.button(icon: icon, command.title, action: command.action, isToggle: isToggle)
      // After a click, keys are still for the pictures.
      button.set("focus-on-click", false)
      return button
    }
    let open = button(.open, "folder-open-symbolic")
    let up = button(.up, "go-up-symbolic")
    let back = button(.back, "view-grid-symbolic")
    let previous = button(.previous, "go-previous-symbolic")
    let next = button(.next, "go-next-symbolic")
    let search = button(.search, "system-search-symbolic", isToggle: true)
    let info = button(.info, "help-about-symbolic", isToggle: true)
    let smaller = button(.zoomOut, "zoom-out-symbolic")
    let larger = button(.zoomIn, "zoom-in-symbolic")
    gridButtons = [open, up, search]
    photoButtons = [back, previous, next]
    optional = [[smaller, larger], [info]]
    for child in [open, up, back, previous, next] { bar.add(child) }
    menu.set("icon-name", "open-menu-symbolic")
    menu.set("tooltip-text", translated("Menu"))
    menu.set("primary", true)
    menu.setAccessibleName(translated("Menu"))
    menu.set("menu-model", GalleryMenu.make(isForDevelopers: isForDevelopers))
    menu.object("popover")?.on("closed") { [weak self] in
      // GTK gives the keyboard to the button with its next frame.
      self?.closing = Repeating(every: 100) { [weak self] in
        if let self, self.menu.hasFocusWithin { onMenuClosed() }
        return false
      }
    }
    for child in [menu, info, search, larger, smaller] { bar.addAtEnd(child) }
    widget.object("hadjustment")?.on("notify::page-size") { [weak self] in self?.fitLater() }
  }

  /// Shows the buttons for which the window is wide enough; the bar would forget a change during its layout.
  private func fitLater() {
    fitting = Repeating(every: 0) { [weak self] in
      self?.fit()
      return false
    }
  }

  private func fit() {
    let width = widget.size.width
    guard width > 0 else { return }
    onResize()
    for button in optional.joined() { button.isShown = true }
    title.set("width-chars", Self.titleLength)
    for group in optional where bar.minimumWidth > width {
      for button in group { button.isShown = false }
    }
    // With large text.
    if bar.minimumWidth > width { title.set("width-chars", 1) }
  }

  /// Shows the buttons of a page.
  func update(_ page: GalleryWindow.Page) {
    guard page != shownPage else { return }
    shownPage = page
    for button in gridButtons { button.isShown = page != .photo }
    for button in photoButtons { button.isShown = page == .photo }
    fitLater()
  }
}

/// The menu of the header bar.
@MainActor
enum GalleryMenu {
  static func make(isForDevelopers: Bool) -> Menu {
    let menu = Menu()
    add([.open, .up, .recursive, .paste, .reload], to: menu)
    let file = make([
      [.copy, .copyPixels, .copyTo, .moveTo, .rename, .saveAs, .print, .wallpaper, .openWith],
      [.trash, .delete, .undo],
    ])
    let view = make([
      [.zoomIn, .zoomOut, .zoomFit, .zoomActual, .zoomDouble],
      [.pause, .previousFrame, .nextFrame],
      [.info, .slideshow, .fullscreen],
    ])
    let edit = make([[.rotateLeft, .rotateRight, .flipHorizontally, .flipVertically], [.crop, .saveTurn]])
    let submenus = Menu()
    submenus.add(translated("Picture"), submenu: file)
    submenus.add(translated("Edit"), submenu: edit)
    submenus.add(translated("View"), submenu: view)
    menu.add(section: submenus)
    let choices = Menu()
    let orders = add("order", ItemOrder.self, of: translated("Order"), to: choices) {
      switch $0 {
      case .name: translated("By Name")
      case .newest: translated("Newest First")
      case .taken: translated("By Date Taken")
      case .largest: translated("Largest First")
      }
    }
    add([.reverse], to: orders)
    add("kind", ItemKind.self, of: translated("Show"), to: choices) {
      switch $0 {
      case .all: translated("All Pictures")
      case .photographs: translated("Photographs")
      case .graphics: translated("Graphics")
      case .animations: translated("Animations")
      }
    }
    let slides = add("interval", SlideInterval.self, of: translated("Slideshow"), to: choices) {
      translated("Every %s second", many: "Every %s seconds", $0.seconds)
    }
    add([.shuffle], to: slides)
    add("theme", Theme.self, of: translated("Colours"), to: choices) {
      switch $0 {
      case .system: translated("As the Desktop")
      case .light: translated("Light")
      case .dark: translated("Dark")
      }
    }
    menu.add(section: choices)
    if isForDevelopers { add([.statistics, .origins], to: menu) }
    add([.shortcuts, .about, .quit], to: menu)
    return menu
  }

  /// Makes a menu of commands, in sections.
  static func make(_ sections: [[Command]]) -> Menu {
    let menu = Menu()
    for section in sections { add(section, to: menu) }
    return menu
  }

  /// Adds a submenu of choices, one of which holds.
  @discardableResult
  private static func add<Choice: RawRepresentable<String> & CaseIterable>(
    _ action: String,
    _ choices: Choice.Type,
    of title: String,
    to menu: Menu,
    _ name: (Choice) -> String,
  ) -> Menu {
    let list = Menu()
    for choice in choices.allCases { list.add(name(choice), action: "win.\(action)::\(choice.rawValue)") }
    menu.add(title, submenu: list)
    return list
  }

  private static func add(_ commands: [Command], to menu: Menu) {
    let section = Menu()
    for command in commands { section.add(command.title, action: command.action, key: command.key) }
    menu.add(section: section)
  }
}
