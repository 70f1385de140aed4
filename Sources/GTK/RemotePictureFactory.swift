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
/// GTK binds many more cells than are visible. Every cell checks memory when it is bound, and only visible ones load.
/// A load is cancelled when its cell is bound to another item. Cells are recycled, and never show another item's
/// image.
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

  /// Makes a factory.
  ///
  /// - Parameters:
  ///   - pipeline: The pipeline that loads. Defaults to the program's shared pipeline.
  ///   - width: The width of a picture in points.
  ///   - height: The height of a picture in points.
  ///   - mode: The way an image is fitted into its picture. Defaults to `.fill`.
  ///   - placeholder: The content until an image has been loaded. Defaults to none.
  ///   - failure: The content if loading fails. Defaults to the theme's icon for missing images.
  ///   - request: Makes the request of an item.
  public convenience init(
    _ pipeline: ImagePipeline = .shared,
    width: Int,
    height: Int,
    mode: TargetSize.Mode = .fill,
    placeholder: Placeholder = .none,
    failure: Placeholder = .symbol("image-missing"),
    request: @escaping RequestOfItem,
  ) {
    unsafe self.init(width, height, mode, placeholder, failure, request) {
      ImageSlot(pipeline: pipeline, mailbox: .gtk)
    }
  }

  /// Makes a factory of pictures that load in a scope.
  ///
  /// See ``init(_:width:height:mode:placeholder:failure:request:)``.
  public convenience init(
    in scope: LoadScope,
    width: Int,
    height: Int,
    mode: TargetSize.Mode = .fill,
    placeholder: Placeholder = .none,
    failure: Placeholder = .symbol("image-missing"),
    request: @escaping RequestOfItem,
  ) {
    unsafe self.init(width, height, mode, placeholder, failure, request) {
      ImageSlot(scope: scope, mailbox: .gtk)
    }
  }

  init(
    _ width: Int,
    _ height: Int,
    _ mode: TargetSize.Mode,
    _ placeholder: Placeholder,
    _ failure: Placeholder,
    _ request: @escaping RequestOfItem,
    makeSlot: @escaping @MainActor () -> ImageSlot,
  ) {
    unsafe pointer = gtk_signal_list_item_factory_new()
    let binding = unsafe Binding(request) {
      RemotePicture(slot: makeSlot(), width: width, height: height, mode: mode)
    }
    (binding.placeholder, binding.failure) = (placeholder, failure)
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

/// A cell of a list or grid, recycled from item to item.
@MainActor
@safe
public final class RemotePictureCell {
  /// The cell's picture.
  public let picture: RemotePicture
  /// The widget that fills the cell.
  ///
  /// Defaults to the picture.
  public var child: UnsafeMutablePointer<GtkWidget>
  /// The item that the cell shows, of the model's type; `nil` between two items.
  public internal(set) var item: UnsafeMutablePointer<GObject>?
  /// The position of the item in the model.
  public internal(set) var position = 0
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
    unsafe child = picture.widget
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

  init(_ request: @escaping RemotePictureFactory.RequestOfItem, makePicture: @escaping @MainActor () -> RemotePicture) {
    unsafe self.request = request
    self.makePicture = makePicture
  }

  func setUp(_ listItem: UnsafeMutableRawPointer?) {
    guard let listItem = unsafe listItem else { return }
    let cell = RemotePictureCell(makePicture())
    // A grid gives its columns all available width; a picture keeps its own.
    unsafe gtk_widget_set_halign(cell.picture.widget, GTK_ALIGN_CENTER)
    unsafe gtk_widget_set_valign(cell.picture.widget, GTK_ALIGN_CENTER)
    MainThreadWork.exclude { onSetup(cell) }
    unsafe gtk_list_item_set_child(OpaquePointer(listItem), cell.child)
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
    let wanted = unsafe object.flatMap { unsafe request($0) }
    cell.picture.load(wanted, placeholder: placeholder, failure: failure)
  }

  func unbind(_ listItem: UnsafeMutableRawPointer?) {
    guard let cell = unsafe cell(of: listItem) else { return }
    // Cancels, and frees the pixels of an invisible cell.
    cell.picture.clear()
    unsafe cell.item = nil
    MainThreadWork.exclude { cell.onUnbind(cell) }
  }

  func tearDown(_ listItem: UnsafeMutableRawPointer?) {
    guard let listItem = unsafe listItem else { return }
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
