import Vitrine
import VitrineImaging
import VitrineRuntime

// Parts of a picture in any size.
extension TileReader {
  /// Returns a part of the picture in a size; see ``TiledImage/picture(of:width:height:priority:)``.
  func picture(
    of region: PixelRegion,
    width: Int,
    height: Int,
    _ priority: Priority,
  ) async throws(LoadError) -> Bitmap {
    let level = level(for: region, width, height)
    let size = grid.size(of: level)
    let across = Span(region.x, region.width, level, upTo: size.width)
    let down = Span(region.y, region.height, level, upTo: size.height)
    var tiles: [(region: PixelRegion, bitmap: Bitmap)] = []
    for row in down.tiles {
      for column in across.tiles {
        let place = TilePlace(level: level, column: column, row: row)
        guard let region = grid.region(of: place) else { continue }
        tiles.append((region, try await tile(place, priority)))
      }
    }
    guard let first = tiles.first, let last = tiles.last else {
      throw LoadError(.undecodable, .request, source.request.name, "the part is outside the picture")
    }
    let isTile = tiles.count == 1 && (first.region.width, first.region.height) == (width, height)
    if isTile, across.pixels == first.region.x..<first.region.x + width,
      down.pixels == first.region.y..<first.region.y + height
    {
      return first.bitmap
    }
    let covered = PixelRegion(
      x: first.region.x,
      y: first.region.y,
      width: last.region.x + last.region.width - first.region.x,
      height: last.region.y + last.region.height - first.region.y,
    )
    return try await resources.process(source.request.name, priority: priority) {
      [tiles] (item, limits) throws(ImageError) in
      let parts = tiles.map { tile in
        var region = tile.region
        (region.x, region.y) = (region.x - covered.x, region.y - covered.y)
        return (region, tile.bitmap)
      }
      guard let whole = Bitmap(width: covered.width, height: covered.height, joining: parts) else {
        throw ImageError(.processingFailed, "the tiles do not belong together")
      }
      var plan = SamplingPlan(width: width, height: height)
      (plan.crop.x, plan.crop.width) = (across.start - Double(covered.x), across.length)
      (plan.crop.y, plan.crop.height) = (down.start - Double(covered.y), down.length)
      return try whole.resampled(
        plan,
        of: (covered.width, covered.height),
        filter: .lanczos3,
        usesLinearLight: false,
        limits: limits,
        isCancelled: { item.isCancelled },
      )
    }
  }

  /// Returns the coarsest level with as many pixels as a size, allowing for rounding.
  private func level(for region: PixelRegion, _ width: Int, _ height: Int) -> Int {
    var level = 0
    while level < grid.levels.upperBound, TileGrid.reduced(region.width, by: level + 1) >= width,
      TileGrid.reduced(region.height, by: level + 1) >= height
    { level += 1 }
    return level
  }
}

/// A part of a side of a level.
private struct Span: Sendable {
  /// The start and the length in the level's pixels, with fractions.
  let start: Double
  let length: Double
  private let side: Int

  /// Makes the part of a level that shows a part of the picture's side.
  init(_ start: Int, _ length: Int, _ level: Int, upTo side: Int) {
    let scale = Double(1 << level)
    self.start = Double(start) / scale
    // The last pixel of a level may stand for fewer pixels of the picture than the others.
    self.length = min(Double(length) / scale, Double(side) - self.start)
    self.side = side
  }

  /// The level's pixels that are at least partly in it.
  var pixels: Range<Int> {
    let first = Int(start)
    return first..<max(first + 1, min(side, Int((start + length).rounded(.up))))
  }

  /// The columns, or rows, of tiles that are at least partly in it.
  var tiles: ClosedRange<Int> { pixels.lowerBound / TileGrid.side...(pixels.upperBound - 1) / TileGrid.side }
}
