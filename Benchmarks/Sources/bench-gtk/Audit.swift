import Vitrine
import VitrineImaging
import VitrineRuntime
import VitrineSandbox
import VitrineTesting

/// Checks what the cells actually show.
@MainActor
final class Audit {
  struct Findings {
    /// The number of visible cells that showed another picture than their own, each counted once for each picture.
    var wrong = 0
    /// The same, at rest.
    var wrongAtRest = 0
    /// The number of visible cells that were painted without their image although it was in memory when they were
    /// bound.
    var flashes = 0
    /// The number of cells that came to rest after a scroll, and the number of them that had their image in the first
    /// frame that showed them.
    var settled = 0
    var settledAtOnce = 0
    /// The number of visible cells at rest whose pixels were compared with their file's, and the number of identical ones.
    var compared = 0
    var identical = 0
    /// The number of visible cells at rest that showed nothing.
    var empty = 0
  }

  private(set) var findings = Findings()
  private let pictures: [Picture]
  private let window: Window
  private let style: any CellStyle
  /// The wrong picture last seen in each cell, so that it is counted once and not with each frame.
  private var seen: [ObjectIdentifier: Int] = [:]

  init(_ pictures: [Picture], window: Window, style: any CellStyle) {
    (self.pictures, self.window, self.style) = (pictures, window, style)
  }

  private var visibleCells: [GridCell] {
    style.cells.filter { $0.isVisible(in: window.scrolled) }
  }

  /// True if every visible cell shows an image.
  var isComplete: Bool {
    let cells = visibleCells
    return !cells.isEmpty && cells.allSatisfy { $0.shown != nil }
  }

  /// Checks a frame that has just been painted.
  func lookAtFrame() {
    for cell in visibleCells {
      if cell.beganWithImage == nil { cell.beganWithImage = cell.shown != nil }
      if cell.wasInMemory, cell.shown == nil, !cell.hasFlashed {
        cell.hasFlashed = true
        findings.flashes += 1
      }
      let id = ObjectIdentifier(cell)
      guard let index = cell.index, let shown = cell.shown, isWrong(shown, at: index) else {
        seen[id] = nil
        continue
      }
      guard seen[id] != shown.byteCount else { continue }
      seen[id] = shown.byteCount
      findings.wrong += 1
    }
  }

  /// Counts the cells on the screen, on which a scroll has come to rest.
  func countSettled() {
    for cell in visibleCells {
      findings.settled += 1
      if cell.beganWithImage == true { findings.settledAtOnce += 1 }
    }
  }

  /// Compares the visible cells with the files, pixel by pixel, when nothing moves any more.
  func lookAtRest() async {
    let decoders = BenchGTK.codecs.decoders
    for cell in visibleCells {
      guard let index = cell.index, let shown = cell.shown else {
        findings.empty += 1
        continue
      }
      if isWrong(shown, at: index) { findings.wrongAtRest += 1 }
      let path = pictures[index].path
      let size = pictures[index].request("", pixels: cell.pixels).size
      let expected = await Task.detached {
        (try? FileContents.at(path)).flatMap { file in
          try? decoders.decode(file, DecodeOptions(size: size)).bitmap
        }
      }.value
      findings.compared += 1
      if let expected, expected.hasSamePixels(as: shown.image) { findings.identical += 1 }
    }
  }

  /// The length of the encoded bytes identifies a picture.
  private func isWrong(_ shown: ImageResponse, at index: Int) -> Bool { pictures[index].byteCount != shown.byteCount }
}

extension Bitmap {
  fileprivate func hasSamePixels(as other: Bitmap) -> Bool {
    guard width == other.width, height == other.height else { return false }
    // Both are read only inside these closures.
    return unsafe withUnsafeBytes { mine in unsafe other.withUnsafeBytes { unsafe mine.elementsEqual($0) } }
  }
}
