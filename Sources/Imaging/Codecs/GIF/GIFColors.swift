/// The palette of one frame or several, with what drawing in it needs.
final class GIFColors {
  let palette: Palette
  let table: GIFColorTable
  private var nearest: NearestColors
  private let names: Set<UInt32>
  /// Made for the first picture that needs them.
  private var pairs: ColorPairs?

  /// Makes the palette of a picture, of at most `count` colours, on demand with an entry for pixels that get none.
  init(
    _ counts: borrowing ColorCounts,
    count: Int,
    withTransparent isTransparent: Bool,
    _ check: () throws(ImageError) -> Void,
  ) throws(ImageError) {
    palette = try Palette(counts, count: count, check)
    table = GIFColorTable(palette.colors, withTransparent: isTransparent)
    nearest = NearestColors(palette.components, bits: counts.count > 1000 ? 5 : 4)
    names = Set(palette.colors)
  }

  /// True if a table has room for pixels without a colour.
  var hasTransparent: Bool { palette.colors.count < 1 << table.bits }

  /// Returns `true` if a picture has no other colours.
  func hasAll(of counts: borrowing ColorCounts) -> Bool {
    counts.isExact && counts.count <= names.count && counts.colors.allSatisfy { names.contains($0 & 0xFF_FFFF) }
  }

  /// Returns the mean squared error of a picture's pixel that is drawn in its nearest colour.
  func error(of counts: borrowing ColorCounts) -> Double {
    var (sum, pixelCount) = (0.0, 0.0)
    let components = nearest.colors
    for point in counts.points {
      var color = point
      color.w = 0
      let difference = color - components[nearest.index(of: color)]
      sum += Double((difference * difference).sum() * point.w)
      pixelCount += Double(point.w)
    }
    return sum / max(1, pixelCount)
  }

  /// Draws and compresses a picture, until `check`, which is called now and then, throws an error.
  ///
  /// If a pixel gets no colour, the table must have an entry for it.
  func picture(
    _ pixels: DrawnPixels,
    _ dithering: ImageEncoding.Dithering,
    _ check: () throws(ImageError) -> Void,
  ) throws(ImageError) -> GIFPicture {
    let leavesOut = pixels.leavesOut()
    precondition(!leavesOut || hasTransparent)
    if dithering == .ordered, pairs == nil { pairs = ColorPairs(nearest.colors) }
    let transparent = leavesOut ? UInt8(palette.colors.count) : nil
    var rows = IndexedRows(pixels, pairs, dithering, transparent: transparent ?? 0)
    var writer = LZWWriter(bits: table.bits)
    let batch = RowBatch(width: pixels.area.width)
    for row in 0..<pixels.area.height {
      if batch.begins(row) { try check() }
      // The row is used before the next one is drawn.
      writer.append(rows.next(&nearest))
    }
    return GIFPicture(transparent: transparent, data: writer.finish())
  }
}
