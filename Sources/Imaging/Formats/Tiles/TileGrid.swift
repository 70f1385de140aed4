/// The levels of a picture, each half the size of the one before, and the tiles of each level.
///
/// Sizes are the upright picture's. Tiles begin at its top left; those at the right and bottom edges are smaller.
package struct TileGrid: Hashable, Sendable {
  /// The length of a tile's sides, in pixels.
  package static let side = 512

  /// The width of level 0, in pixels.
  package let width: Int
  /// The height of level 0, in pixels.
  package let height: Int
  /// The levels: 0 is the picture's own size, negative ones are enlarged, the last one fits into a tile.
  package let levels: ClosedRange<Int>

  /// Makes the grid of a picture of `width` x `height` pixels; `finest` is 0 or below.
  package init(width: Int, height: Int, finest: Int = 0) {
    (self.width, self.height) = (width, height)
    var coarsest = 0
    while Self.reduced(max(width, height), by: coarsest) > Self.side { coarsest += 1 }
    levels = min(0, finest)...coarsest
  }

  /// Returns a length divided by 2 `level` times, rounded up; multiplied for negative levels.
  package static func reduced(_ length: Int, by level: Int) -> Int {
    level <= 0 ? length << -level : (length - 1) >> level + 1
  }

  /// Returns the size of a level, in pixels.
  package func size(of level: Int) -> (width: Int, height: Int) {
    (Self.reduced(width, by: level), Self.reduced(height, by: level))
  }

  /// Returns the number of tiles of a level, across and down.
  package func count(of level: Int) -> (columns: Int, rows: Int) {
    let size = size(of: level)
    return ((size.width - 1) / Self.side + 1, (size.height - 1) / Self.side + 1)
  }

  /// Returns the pixels of a tile within its level; `nil` if there is no such tile.
  package func region(of tile: TilePlace) -> PixelRegion? {
    guard levels.contains(tile.level) else { return nil }
    let (count, size) = (count(of: tile.level), size(of: tile.level))
    guard (0..<count.columns).contains(tile.column), (0..<count.rows).contains(tile.row) else { return nil }
    let (x, y) = (tile.column * Self.side, tile.row * Self.side)
    return PixelRegion(x: x, y: y, width: min(Self.side, size.width - x), height: min(Self.side, size.height - y))
  }

  /// Returns the tiles of a level, row by row.
  package func tiles(of level: Int) -> [TilePlace] {
    let count = count(of: level)
    return (0..<count.rows).flatMap { row in
      (0..<count.columns).map { TilePlace(level: level, column: $0, row: row) }
    }
  }
}

/// The place of a tile in a ``TileGrid``.
package struct TilePlace: Hashable, Sendable {
  package let level: Int
  package let column: Int
  package let row: Int

  package init(level: Int, column: Int, row: Int) {
    (self.level, self.column, self.row) = (level, column, row)
  }
}
