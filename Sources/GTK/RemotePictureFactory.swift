public import CGTK
import CVitrineGTK
public import Vitrine

/// Makes and binds cells of `GtkGridView`, `GtkListView` and `GtkColumnView` that load and show images.
///
/// ```swift
/// let factory = RemotePictureFactory(width: 188, height: 188) { item in
///   ImageRequest(url: url(of: item))
/// }
/// let grid = gtk_grid_view_new(selection, factory.retained())
/// ```
/// GTK binds many more cells than are visible. Only visible ones look for their images: an image in memory is there
/// with the first frame that shows its cell. A load is cancelled when its cell is bound to another item. Cells are
/// recycled, and never show another item's image. A cell that is scrolled off the screen gives its image back to the
/// memory cache, and takes it from there if it comes back. With `prefetch`, images beyond the edge of the screen are
/// loaded into memory before they are scrolled to. Cells that rush by in a fling load nothing, but show what is in
/// memory.
///
/// This object is a handle: the factory works without it. Call everything on the main thread.
@MainActor
@safe
public final class RemotePictureFactory {
  /// A closure that makes the request of an item of the model; `nil` leaves the cell empty.
  public typealias RequestOfItem = @MainActor (_ item: UnsafeMutablePointer<GObject>) -> ImageRequest?

  /// The `GtkListItemFactory`, which this object retains.
  public let pointer: OpaquePointer
  private let binding: Binding
  let ahead: CellPrefetcher

  /// Makes a factory.
  ///
  /// - Parameters:
  ///   - pipeline: The pipeline that loads. Defaults to the program's shared pipeline.
  ///   - width: The width of a picture in points.
  ///   - height: The height of a picture in points.
  ///   - mode: The way an image is fitted into its picture. Defaults to `.fill`.
  ///   - placeholder: The content until an image has been loaded. Defaults to none.
  ///   - failure: The content if loading fails. Defaults to the theme's icon for missing images.
  ///   - prefetch: The number of items beyond the edge of the screen, in the direction of the scroll, whose images are
  ///     loaded into memory, six at a time and at low priority. Items that the scroll leaves behind are no longer
  ///     loaded. Two screens of items are a good number. Defaults to 0.
  ///   - request: Makes the request of an item.
  public convenience init(
    _ pipeline: ImagePipeline = .shared,
    width: Int,
    height: Int,
    mode: TargetSize.Mode = .fill,
    placeholder: Placeholder = .none,
    failure: Placeholder = .symbol("image-missing"),
    prefetch: Int = 0,
    request: @escaping RequestOfItem,
  ) {
    let prefetch = Self.prefetching(pipeline, prefetch)
    unsafe self.init(width, height, mode, placeholder, failure, request, prefetch: prefetch) {
      ImageSlot(pipeline: pipeline, mailbox: .gtk)
    }
  }

  /// Makes a factory of pictures that load in a scope.
  ///
  /// See ``init(_:width:height:mode:placeholder:failure:prefetch:request:)``.
  public convenience init(
    in scope: LoadScope,
    width: Int,
    height: Int,
    mode: TargetSize.Mode = .fill,
    placeholder: Placeholder = .none,
    failure: Placeholder = .symbol("image-missing"),
    prefetch: Int = 0,
    request: @escaping RequestOfItem,
  ) {
    let prefetch = Self.prefetching(scope.pipeline, prefetch)
    unsafe self.init(width, height, mode, placeholder, failure, request, prefetch: prefetch) {
      ImageSlot(scope: scope, mailbox: .gtk)
    }
  }

  private static func prefetching(_ pipeline: ImagePipeline, _ count: Int) -> (loads: ImagePrefetcher, count: Int)? {
    count > 0 ? (ImagePrefetcher(pipeline, maxConcurrentLoads: 6), count) : nil
  }

  init(
    _ width: Int,
    _ height: Int,
    _ mode: TargetSize.Mode,
    _ placeholder: Placeholder,
    _ failure: Placeholder,
    _ request: @escaping RequestOfItem,
    prefetch: (loads: ImagePrefetcher, count: Int)? = nil,
    makeSlot: @escaping @MainActor () -> ImageSlot,
  ) {
    unsafe pointer = gtk_signal_list_item_factory_new()
    let binding = unsafe Binding(request) {
      RemotePicture(slot: makeSlot(), width: width, height: height, mode: mode)
    }
    (binding.placeholder, binding.failure) = (placeholder, failure)
    ahead = unsafe CellPrefetcher(prefetch?.loads, count: prefetch?.count ?? 0, request)
    binding.ahead = ahead
    self.binding = binding
    let object = unsafe UnsafeMutableRawPointer(pointer)
    // The connections retain the binding for the life of the factory, and do not retain the factory.
    unsafe Signals.connect(object, "setup", argument: { unsafe binding.setUp($0) })
    unsafe Signals.connect(object, "bind", argument: { unsafe binding.bind($0) })
    unsafe Signals.connect(object, "unbind", argument: { unsafe binding.unbind($0) })
    unsafe Signals.connect(object, "teardown", argument: { unsafe binding.tearDown($0) })
  }

  isolated deinit { unsafe g_object_unref(UnsafeMutableRawPointer(pointer)) }

  /// Returns the factory with a reference of its own, for functions that take ownership, such as `gtk_grid_view_new`.
  public func retained() -> OpaquePointer {
    unsafe OpaquePointer(g_object_ref(UnsafeMutableRawPointer(pointer)))
  }

  /// A closure that is called with each new cell, to put other widgets around or beside its picture.
  ///
  /// Defaults to an empty one.
  public var onSetup: @MainActor (RemotePictureCell) -> Void {
    get { binding.onSetup }
    set { binding.onSetup = newValue }
  }
}

extension Widget {
  /// Has a `GtkListView` or `GtkGridView` show a list in the cells of a factory.
  @discardableResult
  public func show(_ list: StringList, _ factory: RemotePictureFactory) -> Self {
    set("model", list)
    unsafe set("factory", GTKObject(factory.pointer))
    return self
  }
}

/// A cell of a list or grid, recycled from item to item.
@MainActor
@safe
public final class RemotePictureCell {
  /// The cell's picture.
  public let picture: RemotePicture
  /// The widget that fills the cell.
  ///
  /// Defaults to the picture; with `nil` the cell is empty.
  public var child: Widget?
  /// The item that the cell shows, of the model's type; `nil` between two items.
  public internal(set) var item: UnsafeMutablePointer<GObject>?
  /// The text of that item, if the model is a ``StringList`` or another `GtkStringList`.
  public var text: String? { unsafe item?.text }
  /// The position of the item in the model.
  public internal(set) var position = 0
  /// True from the binding of an item until the cell is on the screen, when its image is looked for.
  var awaitsItem = false
  /// The `GtkListItem`, which owns the cell.
  var listItem: OpaquePointer?
  /// A closure that is called before the cell shows an item, to update its other widgets.
  ///
  /// Defaults to an empty one.
  public var onBind: @MainActor (RemotePictureCell) -> Void = { _ in }
  /// A closure that is called after the cell has released its item.
  ///
  /// Defaults to an empty one.
  public var onUnbind: @MainActor (RemotePictureCell) -> Void = { _ in }

  init(_ picture: RemotePicture) {
    self.picture = picture
    child = Widget(picture)
  }
}

/// The handlers of the factory's signals.
@MainActor
@safe
private final class Binding {
  let request: RemotePictureFactory.RequestOfItem
  let makePicture: @MainActor () -> RemotePicture
  var placeholder = Placeholder.none
  var failure = Placeholder.none
  var onSetup: @MainActor (RemotePictureCell) -> Void = { _ in }
  var ahead: CellPrefetcher?

  init(_ request: @escaping RemotePictureFactory.RequestOfItem, makePicture: @escaping @MainActor () -> RemotePicture) {
    unsafe self.request = request
    self.makePicture = makePicture
  }

  func setUp(_ listItem: UnsafeMutableRawPointer?) {
    guard let listItem = unsafe listItem else { return }
    let cell = RemotePictureCell(makePicture())
    unsafe cell.listItem = OpaquePointer(listItem)
    cell.picture.view.visibilityChanged = { [weak self, weak cell] isVisible in
      if let self, let cell { visibilityChanged(of: cell, isVisible) }
    }
    // A grid gives its columns all available width; a picture keeps its own.
    unsafe gtk_widget_set_halign(cell.picture.widget, GTK_ALIGN_CENTER)
    unsafe gtk_widget_set_valign(cell.picture.widget, GTK_ALIGN_CENTER)
    MainThreadWork.exclude { onSetup(cell) }
    unsafe gtk_list_item_set_child(OpaquePointer(listItem), cell.child?.pointer)
    // The list item retains the cell, until `tearDown`.
    unsafe g_object_set_qdata_full(
      vitrine_gtk_object(listItem),
      vitrine_gtk_quark(),
      Unmanaged.passRetained(cell).toOpaque(),
      releaseObject,
    )
  }

  func bind(_ listItem: UnsafeMutableRawPointer?) {
    guard let cell = unsafe cell(of: listItem), let item = unsafe gtk_list_item_get_item(OpaquePointer(listItem)) else {
      return
    }
    let object = unsafe vitrine_gtk_object(item)
    unsafe cell.item = object
    cell.position = unsafe Int(gtk_list_item_get_position(OpaquePointer(listItem)))
    MainThreadWork.exclude { cell.onBind(cell) }
    cell.awaitsItem = true
    if cell.picture.view.slot.isVisible { visibilityChanged(of: cell, true) }
  }

  /// Loads the image of a cell that is bound and can be seen.
  ///
  /// GTK binds some six cells for each one on the screen, all in the frame of a jump. A cell enters the screen before
  /// that frame is drawn, so an image in memory is still there with it.
  private func visibilityChanged(of cell: RemotePictureCell, _ isVisible: Bool) {
    ahead?.cell(cell, isVisible: isVisible)
    guard isVisible else { return giveBackImage(of: cell) }
    guard cell.awaitsItem, let item = unsafe cell.item else { return }
    cell.awaitsItem = false
    unsafe cell.picture.load(request(item), placeholder: placeholder, failure: failure)
  }

  /// Gives back the image of a cell that has been scrolled off the screen, if the memory cache has it, too.
  ///
  /// GTK keeps ten cells bound for each one on the screen, and a jump released the images of all of them in one frame. If
  /// the cell comes back, its image is looked for as after `bind`. The images of a list that is hidden as a whole stay,
  /// since the frame that shows it again wants them all; an animation stays where it is.
  private func giveBackImage(of cell: RemotePictureCell) {
    guard unsafe cell.item != nil, !cell.awaitsItem, cell.picture.view.player == nil,
      cell.picture.slot.isImageInMemory, unsafe CellPrefetcher.isListMapped(around: cell.picture.widget)
    else { return }
    cell.picture.clear()
    cell.awaitsItem = true
  }

  func unbind(_ listItem: UnsafeMutableRawPointer?) {
    guard let cell = unsafe cell(of: listItem) else { return }
    // Cancels, and frees the pixels of an invisible cell.
    cell.picture.clear()
    cell.awaitsItem = false
    unsafe cell.item = nil
    ahead?.cell(cell, isVisible: false)
    MainThreadWork.exclude { cell.onUnbind(cell) }
  }

  func tearDown(_ listItem: UnsafeMutableRawPointer?) {
    guard let listItem = unsafe listItem else { return }
    if let cell = unsafe cell(of: listItem) {
      unsafe cell.item = nil
      ahead?.cell(cell, isVisible: false)
    }
    unsafe gtk_list_item_set_child(OpaquePointer(listItem), nil)
    unsafe g_object_set_qdata(vitrine_gtk_object(listItem), vitrine_gtk_quark(), nil)
  }

  private func cell(of listItem: UnsafeMutableRawPointer?) -> RemotePictureCell? {
    guard let listItem = unsafe listItem,
      let cell = unsafe g_object_get_qdata(vitrine_gtk_object(listItem), vitrine_gtk_quark())
    else { return nil }
    // Set in `setUp`. Nothing else is stored under our quark in a list item.
    return unsafe Unmanaged<RemotePictureCell>.fromOpaque(cell).takeUnretainedValue()
  }
}
