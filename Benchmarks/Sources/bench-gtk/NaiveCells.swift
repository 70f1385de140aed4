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
  let factory = unsafe GTKObject(gtk_signal_list_item_factory_new(), isOwned: true)
  /// The cells by their list items.
  private var made: [OpaquePointer: GridCell] = unsafe [:]
  private(set) var counts = CellCounts()

  init(_ pictures: [Picture], _ root: String, pipeline: ImagePipeline, size: Int) {
    unsafe factory.on("setup") { [weak self] (item: OpaquePointer) in
      MainThreadWork.measure {
        let picture = Widget(of: gtk_picture_get_type()).minimumSize(width: size, height: size)
        picture.set("can-shrink", true)
        unsafe gtk_widget_set_overflow(picture.pointer, GTK_OVERFLOW_HIDDEN)
        let cell = GridCell(picture: picture, size: size)
        unsafe gtk_list_item_set_child(item, cell.root.pointer)
        unsafe self?.made[item] = cell
      }
      self?.counts.cellsMade += 1
    }
    unsafe factory.on("bind") { [weak self] (item: OpaquePointer) in
      guard let cell = unsafe self?.made[item] else { return }
      let place = unsafe Int(gtk_list_item_get_position(item))
      let request = MainThreadWork.measure { pictures[place].request(root, pixels: cell.pixels) }
      cell.bind(place, name: pictures[place].name, wasInMemory: pipeline.cachedImage(for: request) != nil)
      MainThreadWork.measure { cell.picture.set("paintable", nil) }
      self?.counts.binds += 1
      self?.counts.loadsStarted += 1
      Task {
        let load = MainThreadWork.measure { pipeline.imageTask(for: request) }
        guard let response = try? await load.response else { return }
        MainThreadWork.measure {
          let texture = unsafe GTKObject(response.image.makeTexture(), isOwned: true)
          cell.picture.set("paintable", texture)
        }
        cell.shown = response
        self?.count(response.origin)
      }
    }
    unsafe factory.on("unbind") { [weak self] (item: OpaquePointer) in unsafe self?.made[item]?.unbind() }
  }

  var cells: [GridCell] { unsafe Array(made.values) }

  private func count(_ origin: ImageResponse.Origin) {
    switch origin {
    case .memory: counts.fromMemory += 1
    case .disk, .revalidated: counts.fromDisk += 1
    case .network, .local: counts.fromNetwork += 1
    }
  }
}
