import CGTK
import Vitrine
import VitrineGTK
import VitrineGalleryModel

/// The page with all pictures, in a grid.
@MainActor
@safe
final class GridPage {
  let widget: Widget
  /// Called with the picture that is to be opened.
  var onOpen: (GalleryItem) -> Void = { _ in }
  /// Called when other pictures are selected.
  var onSelect: () -> Void = {}
  /// Called when Tab (`true`) or Shift and Tab (`false`) leave the grid; returns `true` if something else has the keyboard.
  var onLeave: (Bool) -> Bool = { _ in false }
  /// Called when a menu is wanted, at a place of a widget of the grid.
  var onMenu: (Widget, (x: Double, y: Double)?) -> Void = { _, _ in }
  /// Called when the wheel has changed the size of the pictures.
  var onZoom: () -> Void = {}
  /// Called once, when all pictures on the first screen are there.
  var onFirstScreen: () -> Void = {}

  private let pipeline: ImagePipeline
  private let grid: Widget
  private let strings = StringList(selection: .multiple)
  private var factory: RemotePictureFactory?
  private var cells: [WeakCell] = []
  private var cellsBound = 128
  private(set) var list = ItemList()
  private(set) var selected = SelectedItems()
  private var isApplying = false
  private var placeBeforeSearch: (place: Place?, selected: SelectedItems)?
  private var resizing: Repeating?
  private var settling: Repeating?
  /// The widest row, in pictures.
  private var columns = 0
  private var isWaitingForFirstScreen = true

  private struct WeakCell {
    weak var cell: GalleryCell?
  }

  /// - Parameters:
  ///   - pipeline: The pipeline that loads.
  ///   - cellSize: The side of a picture in points.
  ///   - width: The width that the page will have, in points.
  init(_ pipeline: ImagePipeline, cellSize: Int, width: Int) {
    self.pipeline = pipeline
    grid = Widget(of: gtk_grid_view_get_type())
    widget = .scrolled(grid)
    widget.addClass("gallery").expands()
    grid.setAccessibleName(translated("Pictures"))
    grid.set("enable-rubberband", true)
    grid.on("activate") { [weak self] (position: UInt32) in self?.open(at: Int(position)) }
    strings.onSelect { [weak self] in self?.selectionChanged(to: $0) }
    self.cellSize = cellSize
    setColumns(width: width)
    makeFactory()
    widget.object("hadjustment")?.on("notify::page-size") { [weak self] in self?.widthChanged() }
    addZooming()
    widget.onKey(GTK_PHASE_CAPTURE) { [weak self] key, modifiers in
      switch Int32(key) {
      case GDK_KEY_Tab where modifiers.rawValue & GDK_SHIFT_MASK.rawValue == 0: self?.onLeave(true) ?? false
      case GDK_KEY_Tab, GDK_KEY_ISO_Left_Tab: self?.onLeave(false) ?? false
      // After the wheel, GTK would look for a cell that it has recycled.
      case GDK_KEY_Home, GDK_KEY_KP_Home: self?.go(toEnd: false, modifiers) ?? false
      case GDK_KEY_End, GDK_KEY_KP_End: self?.go(toEnd: true, modifiers) ?? false
      default: false
      }
    }
  }

  // MARK: Content

  /// The side of a picture in points.
  var cellSize = 0 {
    didSet {
      guard cellSize != oldValue, oldValue != 0 else { return }
      widthChanged()
      makeFactory()
    }
  }

  /// Shows larger or smaller pictures.
  func zoom(isIn: Bool) {
    let sizes = WindowState.cellSizes
    guard let index = sizes.firstIndex(of: cellSize), sizes.indices.contains(index + (isIn ? 1 : -1)) else { return }
    let place = place
    cellSize = sizes[index + (isIn ? 1 : -1)]
    if let place { scroll(to: place.first) }
  }

  /// GTK makes 30 rows of cells of the widest kind, visible or not: no more columns than there is room for.
  private func setColumns(width: Int) {
    let wanted = max(1, width / (cellSize + Self.cellPadding))
    guard wanted != columns else { return }
    columns = wanted
    grid.set("max-columns", wanted)
  }

  /// The least room beside a picture, in points; see the style sheet.
  private static let cellPadding = 10

  private func widthChanged() {
    // The grid would forget a change during its layout.
    resizing = Repeating(every: 0) { [weak self] in
      guard let self else { return false }
      if widget.size.width > 0 { setColumns(width: widget.size.width) }
      return false
    }
  }

  /// Control and the wheel make pictures larger or smaller.
  private func addZooming() {
    var steps = 0.0
    // Before the grid scrolls.
    widget.onScroll(GTK_PHASE_CAPTURE) { [weak self] scroll in
      guard let self, scroll.modifiers.rawValue & GDK_CONTROL_MASK.rawValue != 0 else { return false }
      steps += scroll.isTouchpad ? scroll.y / 60 : scroll.y
      guard abs(steps) >= 1 else { return true }
      zoom(isIn: steps < 0)
      steps = 0
      onZoom()
      return true
    }
  }

  /// Changes the list, and shows its changes.
  func change(_ body: (inout ItemList) -> [ListSplice]) {
    let steps = body(&list)
    guard !steps.isEmpty else { return }
    isApplying = true
    for step in steps {
      strings.replace(step.position..<step.position + step.removed, with: step.added)
    }
    isApplying = false
    select(selected)
  }

  /// Shows only pictures whose name has all words of a text.
  ///
  /// After the search, the grid is where it was before, or at what was selected meanwhile.
  func search(_ text: String) {
    let wasSearching = !list.search.isEmpty
    if !wasSearching, !text.isEmpty { placeBeforeSearch = (place, selected) }
    change { $0.setSearch(text) }
    if !text.isEmpty {
      settle(at: 0)
    } else if wasSearching {
      defer { placeBeforeSearch = nil }
      if selected != placeBeforeSearch?.selected, let item = selectedItems.first {
        show(item.id)
      } else if let place = placeBeforeSearch?.place {
        scroll(to: place.first)
        settle(at: place.value)
      }
    }
  }

  // MARK: Place

  /// The part of the grid that is visible.
  private struct Place {
    /// The id of the first picture.
    let first: ItemID
    /// The distance from the beginning, in points.
    let value: Double
  }

  private var place: Place? {
    let onScreen = liveCells.filter { $0.isOnScreen && $0.id != nil }
    guard let first = onScreen.min(by: { $0.position < $1.position })?.id else { return nil }
    return Place(first: first, value: vertical?.get("value") ?? 0)
  }

  private var vertical: GTKObject? { widget.object("vadjustment") }

  private func scroll(to id: ItemID) {
    if let position = list.position(of: id) { grid.scroll(toItem: position) }
  }

  /// Scrolls to a distance, which the grid may not have before it is laid out.
  private func settle(at value: Double) {
    var rounds = 0
    settling = Repeating(every: 15) { [weak self] in
      guard let self else { return false }
      vertical?.set("value", value)
      rounds += 1
      return rounds < 4
    }
  }

  /// Notes that pictures leave: the next one is selected in their place.
  func prepareToRemove(_ ids: Set<ItemID>) { selected.leave(ids, from: list) }

  /// Shows newer versions of pictures in their cells; the old ones stay until the new ones are there.
  func reload(_ ids: Set<ItemID>) {
    for cell in liveCells {
      guard let id = cell.id, ids.contains(id), let item = list[id] else { continue }
      cell.reload(item)
    }
  }

  // MARK: Selection

  /// Selects pictures; invisible ones stay selected for when they come back.
  func select(_ items: SelectedItems) {
    selected = items
    isApplying = true
    strings.selected = items.positions(in: list)
    isApplying = false
    onSelect()
  }

  /// Selects a picture, scrolls to it and gives it the keyboard.
  func show(_ id: ItemID) {
    guard list.position(of: id) != nil else { return }
    select(SelectedItems([id]))
    scrollAndFocus(id)
    // A page that has just come may have no cell there before it is laid out.
    settling = Repeating(every: 30) { [weak self] in
      guard let self, selected.ids == [id], grid.isMapped else { return false }
      scrollAndFocus(id)
      return false
    }
  }

  /// Selects the first or the last picture; returns `false` for keys that the grid itself uses.
  private func go(toEnd: Bool, _ modifiers: GdkModifierType) -> Bool {
    let others = GDK_CONTROL_MASK.rawValue | GDK_SHIFT_MASK.rawValue | GDK_ALT_MASK.rawValue
    guard modifiers.rawValue & others == 0, let item = toEnd ? list.visible.last : list.visible.first else {
      return false
    }
    show(item.id)
    return true
  }

  private func scrollAndFocus(_ id: ItemID) {
    scroll(to: id)
    // The grid itself gives the keyboard to the cell that had it before.
    if let cell = liveCells.first(where: { $0.id == id }) { cell.focus() } else { focus() }
  }

  func focus() {
    guard list.visible.isEmpty || !grid.focus() else { return }
    widget.focus()
  }

  /// The selected pictures, in order.
  var selectedItems: [GalleryItem] { selected.items(in: list) }

  private func selectionChanged(to positions: [Int]) {
    guard !isApplying else { return }
    selected.set(positions: positions, in: list)
    onSelect()
  }

  private func open(at position: Int) {
    guard list.visible.indices.contains(position) else { return }
    onOpen(list.visible[position])
  }

  // MARK: Menus

  /// Opens the menu of the selected pictures; returns `false` if none is selected.
  func openMenu() -> Bool {
    guard let first = selectedItems.first else { return false }
    let cell = liveCells.first { $0.id == first.id && $0.isOnScreen }
    onMenu(cell?.widget ?? widget, nil)
    return true
  }

  /// The pictures that are dragged with a cell: all that are selected, if it is one of them.
  private func items(draggedWith cell: GalleryCell?) -> [GalleryItem] {
    guard let id = cell?.id, let item = list[id] else { return [] }
    let all = selected.ids.contains(id) ? selectedItems : [item]
    return all.filter { !$0.isFolder }
  }

  /// Opens the menu over a cell, whose picture is selected unless several are.
  private func openMenu(over cell: GalleryCell, at place: (x: Double, y: Double)) {
    guard let id = cell.id else { return }
    if !selected.ids.contains(id) { select(SelectedItems([id])) }
    onMenu(cell.widget, place)
  }

  // MARK: Cells

  private func makeFactory() {
    let factory = unsafe RemotePictureFactory(
      pipeline,
      width: cellSize,
      height: cellSize,
      mode: .fit,
      placeholder: .cached,
      failure: .symbol("image-missing-symbolic"),
      prefetch: 40,
    ) { [weak self] item in
      unsafe item.text.flatMap { self?.list[ItemID($0)] }?.request
    }
    let size = cellSize
    factory.onSetup = { [weak self] cell in
      let gallery = GalleryCell(cell, size: size)
      gallery.onOpen = { self?.open(at: $0) }
      gallery.onContent = { self?.contentChanged() }
      Desktop.allowDrag(from: gallery.widget) { [weak gallery] in self?.items(draggedWith: gallery) ?? [] }
      gallery.onMenu = { [weak gallery] in if let gallery { self?.openMenu(over: gallery, at: $0) } }
      self?.keep(gallery)
      cell.onBind = { [weak self] cell in
        // The closure keeps the cell's other widgets.
        gallery.bind(cell.text.flatMap { self?.list[ItemID($0)] }, at: cell.position)
      }
      cell.onUnbind = { _ in gallery.bind(nil, at: 0) }
    }
    self.factory = factory
    grid.show(strings, factory)
  }

  private func keep(_ cell: GalleryCell) {
    // Not with each new one: GTK makes hundreds at once.
    if cells.count >= cellsBound {
      cells.removeAll { $0.cell == nil }
      cellsBound = max(128, 2 * cells.count)
    }
    cells.append(WeakCell(cell: cell))
  }

  private var liveCells: [GalleryCell] { cells.compactMap(\.cell) }

  /// The pixels of a picture in the grid, for the placeholder of an opened one.
  func pixels(of id: ItemID) -> Bitmap? { liveCells.first { $0.id == id }?.shown?.image }

  private func contentChanged() {
    guard isWaitingForFirstScreen else { return }
    let onScreen = liveCells.filter { $0.isOnScreen && $0.id != nil }
    guard !onScreen.isEmpty, onScreen.allSatisfy(\.isSettled) else { return }
    isWaitingForFirstScreen = false
    onFirstScreen()
  }
}
