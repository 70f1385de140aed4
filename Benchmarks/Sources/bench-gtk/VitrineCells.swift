import CGTK
import Vitrine
import VitrineGTK

/// Cells of VitrineGTK.
@MainActor
@safe
final class VitrineCells: CellStyle {
  let factory: GTKObject
  private var made: [WeakCell] = []
  private var cellsMade = 0
  private var before: ImageSlot.Statistics

  private struct WeakCell {
    weak var cell: GridCell?
  }

  init(_ pictures: [Picture], _ root: String, pipeline: ImagePipeline, size: Int) {
    before = FrameMailbox.gtk.statistics
    let factory = unsafe RemotePictureFactory(pipeline, width: size, height: size, prefetch: 40) { item in
      unsafe pictures[index(of: item)].request(root)
    }
    unsafe self.factory = GTKObject(factory.pointer)
    factory.onSetup = { [weak self] cell in
      let gridCell = GridCell(picture: Widget(cell.picture), size: size)
      cell.child = gridCell.root
      cell.onBind = { cell in
        let index = cell.position
        let request = pictures[index].request(root, pixels: gridCell.pixels)
        gridCell.bind(index, name: pictures[index].name, wasInMemory: pipeline.cachedImage(for: request) != nil)
      }
      cell.onUnbind = { _ in gridCell.unbind() }
      // The picture's widget would keep itself by its cell.
      cell.picture.onChange = { [weak gridCell] content in
        if case .image(let response, _) = content { gridCell?.shown = response } else { gridCell?.shown = nil }
      }
      self?.made.append(WeakCell(cell: gridCell))
      self?.cellsMade += 1
    }
  }

  var cells: [GridCell] { made.compactMap(\.cell) }

  var counts: CellCounts {
    let now = FrameMailbox.gtk.statistics
    return CellCounts(
      cellsMade: cellsMade,
      binds: now.binds - before.binds,
      loadsStarted: now.loadsStarted - before.loadsStarted,
      loadsCancelled: now.loadsCancelled - before.loadsCancelled,
      fromMemory: now.shownFromMemory - before.shownFromMemory,
      fromDisk: now.shownFromDisk - before.shownFromDisk,
      fromNetwork: now.shownFromNetwork - before.shownFromNetwork,
    )
  }
}
