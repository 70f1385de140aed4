import CGTK
import Vitrine
import VitrineGTK
import VitrineGalleryModel
import VitrineRuntime

/// The window: the grid or one photograph, with panels beside and over them.
@MainActor
@safe
final class GalleryWindow {
  /// The parts of the window that the user sees one at a time.
  enum Page {
    case empty, grid, photo
  }

  let window: Widget
  let grid: GridPage
  let photo: PhotoPage
  let info: InfoPanel
  let statistics: StatisticsPanel
  let toast = Toast()
  let library: Library
  let appearance: Appearance
  /// The changes of files that can be undone.
  var history = FileHistory()
  var actions: [Command: Action] = [:]
  /// Called when the window closes.
  var onClose: () -> Void = {}
  /// Called once, when all pictures on the first screen are there.
  var onFirstScreen: () -> Void = {}
  private(set) var page = Page.empty
  private(set) var isFullScreen = false
  var state: WindowState
  let application: Application
  private let statePath: String
  private let parts: GalleryPipeline
  /// The pages, and the panels that lie over them.
  private let pictures = Widget(of: gtk_overlay_get_type())
  private let stack: Widget
  private let searchBar: Widget
  private let searchEntry: Widget
  private let title = Widget.label("", "title")
  private let subtitle = Widget.label("", "subtitle")
  private let legend: Widget
  private let emptyText: Widget
  private let header: GalleryHeader
  private let path: PathBar
  private let controls: FullScreenControls
  private let menu: ContextMenu
  private(set) lazy var slideshow = Slideshow(self)
  private(set) lazy var crop = Crop(self)
  /// True if animations stand still.
  var isPaused = false
  /// True if the window has what helps to develop it.
  let isForDevelopers: Bool
  private var isClosed = false

  /// The width in points from which on the information is beside the pictures.
  private static let leastWidthOfBoth = 600

  init(
    _ application: Application,
    _ parts: GalleryPipeline,
    _ library: Library,
    _ state: WindowState,
    statePath: String,
    isForDevelopers: Bool,
  ) {
    (self.library, self.state, self.statePath, self.parts) = (library, state, statePath, parts)
    (self.application, self.isForDevelopers) = (application, isForDevelopers)
    appearance = Appearance(state.theme)
    Style.load()
    window = application.window(title: translated("Gallery"), width: state.width, height: state.height)
    grid = GridPage(parts.pipeline, cellSize: state.cellSize, width: state.width)
    photo = PhotoPage(parts.photographs)
    info = InfoPanel(parts.pipeline)
    statistics = StatisticsPanel(parts)
    emptyText = .label(translated("Open a folder, or drop pictures here"), "empty", "title-2")
    emptyText.set("wrap", true)
    emptyText.expands().aligned(GTK_ALIGN_CENTER, GTK_ALIGN_CENTER)
    stack = Widget(of: gtk_stack_get_type())
    // A photograph may be narrower than a cell of the grid.
    stack.set("hhomogeneous", false)
    stack.add(emptyText).add(grid.widget).add(photo.widget)
    searchEntry = Widget(of: gtk_search_entry_get_type())
    searchEntry.setAccessibleName(Command.search.title)
    searchBar = Widget(of: gtk_search_bar_get_type())
    searchBar.add(searchEntry)
    // Both are what their names say.
    unsafe gtk_search_bar_connect_entry(cast(searchBar.pointer), cast(searchEntry.pointer))
    legend = Self.makeLegend()
    header = GalleryHeader(title: title, subtitle: subtitle, isForDevelopers: isForDevelopers)
    path = PathBar { [weak library] in _ = library?.open([$0]) }
    controls = FullScreenControls(over: photo.widget)
    menu = ContextMenu(in: stack)
    layOut()
    connectParts()
    makeActions()
    setSwitch(.reverse, state.isReversed)
    setSwitch(.shuffle, state.shuffles)
    setSwitch(.recursive, state.isRecursive)
    library.isRecursive = state.isRecursive
    grid.change { $0.setOrder(state.order, isReversed: state.isReversed) }
    setInfo(isShown: state.showsInfo)
    if state.isMaximized { window.set("maximized", true) }
    update()
  }

  private func layOut() {
    window.set("titlebar", header.widget)
    let column = Widget.box(GTK_ORIENTATION_VERTICAL, [searchBar, path.widget, stack]).expands()
    pictures.add(column).add(statistics.widget).add(legend).add(controls.widget)
    pictures.add(crop.widget).add(toast.widget)
    info.widget.aligned(GTK_ALIGN_END)
    let panels = Widget(of: gtk_overlay_get_type())
    window.add(panels.add(pictures).add(info.widget))
    header.onResize = { [weak self] in self?.placeInfo() }
  }

  /// Puts the information beside the pictures, or over them in a window that is too narrow for both.
  private func placeInfo() {
    let width = header.widget.size.width
    let isBeside = info.widget.isShown && (width == 0 || width >= Self.leastWidthOfBoth)
    pictures.set("margin-end", isBeside ? info.widget.minimumWidth : 0)
  }

  private func connectParts() {
    grid.onOpen = { [weak self] in self?.open($0) }
    grid.onSelect = { [weak self] in self?.update() }
    grid.onLeave = { [weak self] in self?.leaveGrid(forwards: $0) ?? false }
    grid.onMenu = { [weak self] widget, place in self?.menu.show(ContextMenu.ofCell, over: widget, at: place) }
    photo.widget.onClick(button: 3) { [weak self] click in self?.showMenu(at: (click.x, click.y)) }
    header.onMenuClosed = { [weak self] in self?.focusPictures() }
    grid.onZoom = { [weak self] in self?.updateActions() }
    grid.onFirstScreen = { [weak self] in self?.onFirstScreen() }
    photo.onChange = { [weak self] in
      self?.crop.photographChanged()
      self?.slideshow.photographChanged()
      self?.update()
    }
    photo.neighbours = { [weak self] in self?.neighbours(of: $0) ?? [] }
    library.onChange = { [weak self] in self?.libraryChanged($0) }
    searchEntry.on("search-changed") { [weak self] in self?.searchChanged() }
    searchEntry.on("activate") { [weak self] in self?.grid.focus() }
    searchBar.on("notify::search-mode-enabled") { [weak self] in self?.searchModeChanged() }
    window.on(
      "close-request",
      answering: { [weak self] () -> Bool in
        self?.close()
        self?.onClose()
        return false
      },
    )
    window.on("notify::fullscreened") { [weak self] in self?.fullScreenChanged() }
    photo.widget.onKey(GTK_PHASE_CAPTURE) { [weak self] key, modifiers in
      self?.photographKey(key, modifiers) ?? false
    }
    window.onKey(GTK_PHASE_BUBBLE) { [weak self] key, modifiers in
      if Int32(key) == GDK_KEY_Menu || Int32(key) == GDK_KEY_F10 && modifiers.rawValue & GDK_SHIFT_MASK.rawValue != 0 {
        return self?.showMenu() ?? false
      }
      guard let command = Command.of(key, modifiers) else { return false }
      return self?.perform(command) ?? false
    }
    Desktop.acceptDrops(on: window) { [weak self] in self?.add($0) }
  }

  // MARK: Pages

  /// Opens a photograph; the picture of its cell stands for it until it is there.
  func open(_ item: GalleryItem) {
    if case .folder(let path) = item.place { return _ = library.open([path]) }
    let pixels = grid.pixels(of: item.id)
    show(.photo)
    photo.show(item, placeholder: pixels)
    photo.view.focus()
    update()
  }

  /// Goes back to the grid, at the photograph that was open.
  func showGrid() {
    let id = photo.item?.id
    photo.show(nil)
    show(grid.list.count == 0 ? .empty : .grid)
    if let id { grid.show(id) } else { grid.focus() }
    update()
  }

  private func show(_ new: Page) {
    page = new
    if new != .photo { slideshow.stop() }
    updateControls()
    parts.makeRoom(forPhotograph: new == .photo)
    let child =
      switch new {
      case .empty: emptyText
      case .grid: grid.widget
      case .photo: photo.widget
      }
    stack.set("visible-child", child)
  }

  /// Goes on by so many photographs; at the ends it stays.
  func move(by distance: Int) {
    if let position = position(of: photo.item) { move(to: position + distance) }
  }

  /// The position of a photograph among the pictures.
  func position(of item: GalleryItem?) -> Int? {
    guard let item, let position = grid.list.position(of: item.id) else { return nil }
    return position - grid.list.pictures.startIndex
  }

  /// Goes to the photograph at a position among the pictures, or to the nearest one.
  func move(to position: Int) {
    let all = grid.list.pictures
    guard !all.isEmpty else { return }
    let item = all[all.startIndex + min(max(position, 0), all.count - 1)]
    guard item.id != photo.item?.id else { return }
    photo.show(item, placeholder: grid.pixels(of: item.id))
    photo.view.focus()
  }

  private func neighbours(of item: GalleryItem) -> [GalleryItem] {
    guard let position = grid.list.position(of: item.id) else { return [] }
    let all = grid.list.pictures
    return [1, -1, 2].compactMap { all.indices.contains(position + $0) ? all[position + $0] : nil }
  }

  private func photographKey(_ key: UInt32, _ modifiers: GdkModifierType) -> Bool {
    let others = GDK_CONTROL_MASK.rawValue | GDK_ALT_MASK.rawValue
    guard modifiers.rawValue & others == 0 else { return false }
    if crop.isActive { return crop.pressed(key) }
    guard
      let command = Command.ofPhotograph(
        key,
        isFitting: photo.view.isFitting,
        hasPages: photo.view.pageCount > 1,
        isRightToLeft: window.isRightToLeft,
      )
    else { return false }
    return perform(command)
  }

  /// Opens the menu of the selected or the open pictures; returns `false` if there are none.
  @discardableResult
  private func showMenu(at place: (x: Double, y: Double)? = nil) -> Bool {
    if page == .grid { return grid.openMenu() }
    guard page == .photo else { return false }
    menu.show(ContextMenu.ofPhotograph, over: photo.widget, at: place)
    return true
  }

  /// Gives the keyboard to what is shown.
  private func focusPictures() {
    if page == .photo { photo.view.focus() } else { grid.focus() }
  }

  // MARK: The library

  private func libraryChanged(_ change: Library.Change) {
    guard !isClosed else { return }
    switch change {
    case .replaced(let items, let opened, let problems):
      grid.change { $0.replace(with: items) }
      if state.order == .taken { library.readDates(of: Array(grid.list.pictures)) }
      if let problem = problems.first { toast.show(problem) }
      if let item = opened.flatMap({ grid.list[$0] }) { return open(item) }
      if page == .photo, let item = photo.item.flatMap({ grid.list[$0.id] }) {
        if item != photo.item { photo.reload(item) }
        return update()
      }
      photo.show(nil)
      show(items.count == 0 ? .empty : .grid)
      grid.focus()
    case .failed(let problems):
      if let problem = problems.first { toast.show(problem) }
    case .updated(let removed, let items):
      let leaving = Set(removed).filter { grid.list[$0] != nil }
      let changed = Set(
        items.filter { item in grid.list[item.id].map { $0.version != item.version } ?? false }.map(\.id)
      )
      leave(leaving)
      grid.change { $0.update(removing: removed, adding: items) }
      grid.reload(changed)
      if let open = photo.item, changed.contains(open.id), let newer = grid.list[open.id] { photo.reload(newer) }
      if page != .photo { show(grid.list.count == 0 ? .empty : .grid) }
    }
    update()
  }

  /// Goes on with others before pictures leave.
  func leave(_ leaving: Set<ItemID>) {
    guard !leaving.isEmpty else { return }
    grid.prepareToRemove(leaving)
    guard page == .photo, let open = photo.item, leaving.contains(open.id) else { return }
    if let next = grid.list.neighbour(of: open.id, without: leaving).flatMap({ grid.list[$0] }) {
      photo.show(next, placeholder: grid.pixels(of: next.id))
    } else {
      photo.show(nil)
      show(.grid)
      grid.focus()
    }
  }

  /// Gives the keyboard to what is after or before the grid.
  ///
  /// GTK would go from picture to picture, through all of them.
  private func leaveGrid(forwards: Bool) -> Bool {
    let direction = forwards ? GTK_DIR_TAB_FORWARD : GTK_DIR_TAB_BACKWARD
    let others =
      forwards ? [info.widget, header.widget] : (isSearching ? [searchBar] : []) + [path.widget, header.widget]
    return others.contains { $0.isShown && $0.focusNext(direction) }
  }

  /// Adds what was dropped or pasted, and shows it.
  func add(_ places: [String]) {
    library.add(places) { [weak self] item in
      guard let self else { return }
      if page == .photo { open(item) } else { grid.show(item.id) }
    }
  }

  // MARK: Search

  var isSearching: Bool {
    get { searchBar.get("search-mode-enabled") ?? false }
    set { searchBar.set("search-mode-enabled", newValue) }
  }

  private func searchChanged() {
    grid.search(searchEntry.get("text") ?? "")
    update()
  }

  private func searchModeChanged() {
    setSwitch(.search, isSearching)
    if isSearching {
      if page == .photo { showGrid() }
      searchEntry.focus()
    } else {
      grid.focus()
    }
  }

  // MARK: Panels

  func setInfo(isShown: Bool) {
    info.widget.isShown = isShown
    placeInfo()
    state.showsInfo = isShown
    setSwitch(.info, isShown)
    update()
  }

  func setOrigins(isShown: Bool) {
    grid.widget.setClass("origins", isShown)
    legend.isShown = isShown
    setSwitch(.origins, isShown)
  }

  private static func makeLegend() -> Widget {
    let legend = Widget.label("", "legend")
    let colors = [
      ("#33d17a", translated("memory")), ("#3584e4", translated("disk")), ("#9141ac", translated("confirmed")),
      ("#ff7800", translated("server")), ("#f6d32d", translated("file")),
    ]
    legend.set("label", colors.map { "<span color=\"\($0)\">■</span> \($1)" }.joined(separator: "  "))
    legend.set("use-markup", true)
    legend.set("can-target", false)
    legend.aligned(GTK_ALIGN_END, GTK_ALIGN_END).margins(12)
    legend.isShown = false
    return legend
  }

  /// Shows the controls of full screen, but not over the bar for cropping.
  func updateControls() { controls.isActive = isFullScreen && page == .photo && !crop.isActive }

  private func fullScreenChanged() {
    isFullScreen = window.get("fullscreened") ?? false
    window.setClass("fullscreen", isFullScreen)
    setSwitch(.fullscreen, isFullScreen)
    info.widget.isShown = state.showsInfo && !isFullScreen
    placeInfo()
    updateControls()
    if !isFullScreen { slideshow.stop() }
  }

  // MARK: Title and state

  /// Shows what is open: in the title, in the panels, and in which actions there are.
  func update() {
    let list = grid.list
    let (name, detail): (String, String)
    if page == .photo, let item = photo.item {
      let position = position(of: item).map { translated("%s of %s", "\($0 + 1)", "\(list.pictures.count)") }
      let zoom = photo.view.isFitting ? nil : "\(Int((photo.view.zoom * 100).rounded())) %"
      (name, detail) = (item.name, [position, frame, zoom].compactMap(\.self).joined(separator: " · "))
    } else {
      let folder = library.sources.folders.first?.split(separator: "/").last.map { String($0).readablePath }
      name = folder ?? (list.count == 0 ? translated("Gallery") : translated("Pictures"))
      let count = translated("%s picture", many: "%s pictures", list.pictures.count)
      let chosen = grid.selectedItems.count
      detail = chosen > 1 ? "\(count), \(translated("%s selected", "\(chosen)"))" : count
    }
    title.text = name
    subtitle.text = detail
    controls.name(name)
    path.show(page == .photo || library.sources.folders.count != 1 ? nil : library.sources.folders[0])
    window.set("title", name)
    emptyText.text =
      library.sources.isEmpty
      ? translated("Open a folder, or drop pictures here") : translated("There are no pictures here")
    header.update(page)
    let view = page == .photo ? photo.view : nil
    info.show(view == nil ? grid.selectedItems.first : photo.item, view?.origin, view?.damage, view?.error)
    updateActions()
  }

  /// The number of the page, or of the frame at which an animation is paused; `nil` for other pictures.
  private var frame: String? {
    if photo.view.pageCount > 1 {
      return translated("page %s of %s", "\(photo.view.page + 1)", "\(photo.view.pageCount)")
    }
    guard isPaused, let player = photo.view.player else { return nil }
    return translated("frame %s of %s", "\(player.frameIndex + 1)", "\(player.image.frameCount)")
  }

  private func close() {
    isClosed = true
    slideshow.stop()
    let (width, height): (Int, Int) = (window.get("default-width") ?? 0, window.get("default-height") ?? 0)
    if width > 0, height > 0 { (state.width, state.height) = (width, height) }
    state.isMaximized = window.get("maximized") ?? false
    state.cellSize = grid.cellSize
    state.theme = appearance.theme
    // A few bytes; without them, the next window has its default size.
    try? state.write(to: statePath)
    photo.show(nil)
    statistics.isShown = false
  }
}
