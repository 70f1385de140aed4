import VitrineRuntime

/// Rows of a picture of high dynamic range, of which a renderer measures the peak; other readers get rows as an ordinary
/// screen shows them.
package final class HighRangeRows: RowSource {
  package let colors: HighRangeColors
  /// The rows as decoded: RGBA, 16 bits a component in the byte order of the machine, straight alpha.
  private let rows: any RowSource
  private let target: ColorSpace
  /// The conversion for readers of single rows, and room for their rows.
  private var map: ToneMap?
  private var memory: OwnedElements<UInt16>?

  /// Wraps rows of eight bytes a pixel; ``read(into:bytesPerRow:count:)`` converts them to `target`.
  package init(_ rows: any RowSource, _ colors: HighRangeColors, to target: ColorSpace) {
    (self.rows, self.colors, self.target) = (rows, colors, target)
  }

  package var width: Int { rows.width }
  package var height: Int { rows.height }
  package var extentWidth: Double { rows.extentWidth }
  package var extentHeight: Double { rows.extentHeight }
  package var origin: (x: Int, y: Int) { rows.origin }
  package var hasAlpha: Bool { rows.hasAlpha }
  package var isAveraged: Bool { rows.isAveraged }
  package var colorSpace: ColorSpace? { target }
  package var damage: ImageError? { rows.damage }

  /// Reads rows as they were decoded, without gaps.
  func read(wide target: MutableElements<UInt16>, count: Int) throws(ImageError) -> Int {
    precondition(count > 0 && target.count >= count * 4 * width, "no room for the rows")
    // As much room as the source may use, by the line above.
    return try unsafe target.withUnsafeBufferPointer { (target) throws(ImageError) in
      try unsafe rows.read(into: UnsafeMutableRawBufferPointer(target), bytesPerRow: 8 * width, count: count)
    }
  }

  /// Reads rows in standard range, by the peak that the file says, or else the usual peak: it does not depend on the
  /// picture, so that frames and tiles fit together.
  package func read(into target: UnsafeMutableRawBufferPointer, bytesPerRow: Int, count: Int) throws(ImageError) -> Int
  {
    let map = self.map ?? ToneMap(colors, peak: colors.peak ?? HighRangeColors.nominalPeak, to: self.target)
    let memory = self.memory ?? OwnedElements<UInt16>(repeating: 0, count: Renderer.batch * 4 * width)
    (self.map, self.memory) = (map, memory)
    let got = try read(wide: memory.elements, count: min(count, Renderer.batch))
    // Only written before this returns.
    let target = unsafe MutableElements(target)
    for row in 0..<got {
      let source = memory.elements.extracting(row * 4 * width..<(row + 1) * 4 * width)
      map.apply(source.elements, into: target.extracting(row * bytesPerRow..<row * bytesPerRow + 4 * width))
    }
    return got
  }
}
