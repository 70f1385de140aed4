import CGTK
import Vitrine
import VitrineGTK

/// The obvious first attempt: start loading when a cell is bound, set the image when it arrives.
///
/// It does not check memory first, cancels nothing, and does not check whether the cell still needs the image. It
/// loads with the same kind of pipeline, so that this is the only difference.
@MainActor
@safe
final class NaiveCells: CellStyle {
  private let factory: OpaquePointer
  private var made: [ObjectIdentifier: GridCell] = [:]
  private(set) var counts = CellCounts()

  init(_ pictures: [Picture], _ root: String, pipeline: ImagePipeline, size: Int) {
    unsafe factory = gtk_signal_list_item_factory_new()
    let object: UnsafeMutableRawPointer = unsafe cast(factory)
    unsafe Signals.connect(
      object,
      "setup",
      argument: { [weak self] listItem in
        guard let listItem = unsafe listItem else { return }
        let picture: UnsafeMutablePointer<GtkWidget> = unsafe gtk_picture_new()
        unsafe gtk_picture_set_can_shrink(cast(picture), 1)
        unsafe gtk_widget_set_size_request(picture, gint(size), gint(size))
        unsafe gtk_widget_set_overflow(picture, GTK_OVERFLOW_HIDDEN)
        let cell = unsafe GridCell(picture: picture, size: size)
        unsafe gtk_list_item_set_child(cast(listItem), cell.root)
        // Owned by the list item.
        unsafe g_object_set_data_full(
          cast(listItem),
          "cell",
          Unmanaged.passRetained(cell).toOpaque(),
          releaseObject,
        )
        self?.made[ObjectIdentifier(cell)] = cell
        self?.counts.cellsMade += 1
      },
    )
    unsafe Signals.connect(
      object,
      "bind",
      argument: { [weak self] listItem in
        guard let cell = unsafe Self.cell(of: listItem),
          let item = unsafe gtk_list_item_get_item(cast(listItem))
        else { return }
        let place = unsafe index(of: cast(item))
        let request = pictures[place].request(root, pixels: cell.pixels)
        MainThreadWork.exclude {
          cell.bind(place, name: pictures[place].name, wasInMemory: pipeline.cachedImage(for: request) != nil)
        }
        unsafe gtk_picture_set_paintable(cast(cell.picture), nil)
        self?.counts.binds += 1
        self?.counts.loadsStarted += 1
        // The only thing that it does right: the widget lives until its image has arrived.
        let picture = unsafe cell.picture
        unsafe g_object_ref(cast(picture))
        Task {
          defer { unsafe g_object_unref(cast(picture)) }
          let load = MainThreadWork.measure { pipeline.imageTask(for: request) }
          guard let response = try? await load.response else { return }
          MainThreadWork.measure {
            let texture = unsafe response.image.makeTexture()
            unsafe gtk_picture_set_paintable(cast(picture), texture)
            unsafe g_object_unref(cast(texture))
          }
          cell.shown = response
          self?.count(response.origin)
        }
      },
    )
    unsafe Signals.connect(object, "unbind", argument: { unsafe Self.cell(of: $0)?.unbind() })
  }

  isolated deinit { unsafe g_object_unref(cast(factory)) }

  func makeFactory() -> OpaquePointer { unsafe cast(g_object_ref(cast(factory))) }

  var cells: [GridCell] { Array(made.values) }

  private func count(_ origin: ImageResponse.Origin) {
    switch origin {
    case .memory: counts.fromMemory += 1
    case .disk, .revalidated: counts.fromDisk += 1
    case .network, .local: counts.fromNetwork += 1
    }
  }

  private static func cell(of listItem: UnsafeMutableRawPointer?) -> GridCell? {
    guard let listItem = unsafe listItem,
      let cell = unsafe g_object_get_data(cast(listItem), "cell")
    else { return nil }
    // Set in `setup`.
    return unsafe Unmanaged<GridCell>.fromOpaque(cell).takeUnretainedValue()
  }
}
