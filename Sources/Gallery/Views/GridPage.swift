import CGTK
import CVitrineGTK
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
  /// Called once, when all pictures on the first screen are there.
  var onFirstScreen: () -> Void = {}

  private let pipeline: ImagePipeline
  private let grid: Widget
  private let strings: OpaquePointer
  private let selection: OpaquePointer
  private var factory: RemotePictureFactory?
  private var cells: [WeakCell] = []
  private(set) var list = ItemList()
  private(set) var selected = SelectedItems()
  private var isApplying = false
  private var isWaitingForFirstScreen = true

  private struct WeakCell {
    weak var cell: GalleryCell?
  }

  init(_ pipeline: ImagePipeline, cellSize: Int) {
    self.pipeline = pipeline
    // The selection owns the model, the grid the selection; both are released with this object, too.
    unsafe strings = gtk_string_list_new(nil)
    unsafe g_object_ref(UnsafeMutableRawPointer(strings))
    unsafe selection = gtk_multi_selection_new(strings)
    unsafe g_object_ref(UnsafeMutableRawPointer(selection))
    unsafe grid = Widget(gtk_grid_view_new(selection, nil))
    widget = .scrolled(grid)
    widget.addClass("gallery").expands()
    grid.accessibleName = translated("Pictures")
    unsafe gtk_grid_view_set_max_columns(cast(grid.pointer), 24)
    unsafe gtk_grid_view_set_enable_rubberband(cast(grid.pointer), 1)
    grid.on("activate") { [weak self] (position: UInt32) in self?.open(at: Int(position)) }
    unsafe connect(selection, "selection-changed") { [weak self] in self?.selectionChanged() }
    self.cellSize = cellSize
    makeFactory()
  }

  isolated deinit {
    unsafe g_object_unref(UnsafeMutableRawPointer(selection))
    unsafe g_object_unref(UnsafeMutableRawPointer(strings))
  }

  // MARK: Content

  /// The side of a picture in points.
  var cellSize = 0 {
    didSet { if cellSize != oldValue, oldValue != 0 { makeFactory() } }
  }

  /// Changes the list, and shows its changes.
  func change(_ body: (inout ItemList) -> [ListSplice]) {
    let steps = body(&list)
    guard !steps.isEmpty else { return }
    isApplying = true
    for step in steps { splice(step) }
    isApplying = false
    select(selected)
  }

  /// Notes that pictures leave: the next one is selected in their place.
  func prepareToRemove(_ ids: Set<String>) { selected.leave(ids, from: list) }

  /// Shows newer versions of pictures in their cells; the old ones stay until the new ones are there.
  func reload(_ ids: Set<String>) {
    for cell in liveCells {
      guard let id = cell.id, ids.contains(id), let item = list[id] else { continue }
      cell.reload(item)
    }
  }

  private func splice(_ step: ListSplice) {
    var texts: [UnsafePointer<CChar>?] = unsafe step.added.map { unsafe UnsafePointer(strdup($0)) }
    unsafe texts.append(nil)
    // The list copies the texts.
    unsafe gtk_string_list_splice(strings, guint(step.position), guint(step.removed), &texts)
    unsafe texts.forEach { unsafe free(UnsafeMutablePointer(mutating: $0)) }
  }

  // MARK: Selection

  /// Selects pictures; those that are not visible stay selected for when they are.
  func select(_ items: SelectedItems) {
    selected = items
    let wanted = unsafe gtk_bitset_new_empty()
    let all = unsafe gtk_bitset_new_range(0, guint(list.visible.count))
    defer {
      unsafe gtk_bitset_unref(wanted)
      unsafe gtk_bitset_unref(all)
    }
    for position in items.positions(in: list) { unsafe gtk_bitset_add(wanted, guint(position)) }
    isApplying = true
    unsafe gtk_selection_model_set_selection(selection, wanted, all)
    isApplying = false
    onSelect()
  }

  /// Selects a picture, scrolls to it and gives it the keyboard.
  func show(_ id: String) {
    guard let position = list.position(of: id) else { return }
    select(SelectedItems([id]))
    // The action takes the number; the variant is floating, and the call takes it.
    unsafe gtk_widget_activate_action_variant(
      grid.pointer,
      "list.scroll-to-item",
      g_variant_new_uint32(guint32(position)),
    )
    focus()
  }

  func focus() {
    guard list.visible.isEmpty || !grid.focus() else { return }
    widget.focus()
  }

  /// The selected pictures, in order.
  var selectedItems: [GalleryItem] { selected.items(in: list) }

  private func selectionChanged() {
    guard !isApplying else { return }
    let bits = unsafe gtk_selection_model_get_selection(selection)
    defer { unsafe gtk_bitset_unref(bits) }
    let positions = unsafe (0..<gtk_bitset_get_size(bits)).map { unsafe Int(gtk_bitset_get_nth(bits, guint($0))) }
    selected.set(positions: positions, in: list)
    onSelect()
  }

  private func open(at position: Int) {
    guard list.visible.indices.contains(position) else { return }
    onOpen(list.visible[position])
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
      unsafe item.text.flatMap { self?.list[$0] }?.request
    }
    let size = cellSize
    factory.onSetup = { [weak self] cell in
      let gallery = GalleryCell(cell, size: size)
      gallery.onOpen = { self?.open(at: $0) }
      gallery.onContent = { self?.contentChanged() }
      self?.cells.removeAll { $0.cell == nil }
      self?.cells.append(WeakCell(cell: gallery))
      cell.onBind = { [weak self] cell in
        // The closure keeps the cell's other widgets.
        gallery.bind(unsafe cell.item?.text.flatMap { self?.list[$0] }, at: cell.position)
      }
      cell.onUnbind = { _ in gallery.bind(nil, at: 0) }
    }
    self.factory = factory
    unsafe gtk_grid_view_set_factory(cast(grid.pointer), factory.pointer)
  }

  private var liveCells: [GalleryCell] { cells.compactMap(\.cell) }

  /// The pixels of a picture in the grid, for the placeholder of an opened one.
  func pixels(of id: String) -> Bitmap? { liveCells.first { $0.id == id }?.shown?.image }

  private func contentChanged() {
    guard isWaitingForFirstScreen else { return }
    let onScreen = liveCells.filter { $0.id != nil && $0.isOnScreen }
    guard !onScreen.isEmpty, onScreen.allSatisfy(\.isSettled) else { return }
    isWaitingForFirstScreen = false
    onFirstScreen()
  }
}
