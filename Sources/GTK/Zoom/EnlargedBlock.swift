import Vitrine
import VitrineImaging

/// A square part of a tile of level 0, enlarged a whole number of times without smoothing.
///
/// GTK before 4.10 enlarges with smoothing only. Parts are small, so that moving a picture makes few new ones, and a whole
/// number of times, so that zooming a little does not make all of them anew; GTK does the rest.
struct EnlargedBlock: Hashable {
  let tile: TilePlace
  /// The column and the row of the block within the tile.
  let column: Int
  let row: Int
  let factor: Int

  /// The largest side of an enlarged block, in pixels.
  private static let longest = 512

  /// Returns the factor for an enlargement: the next whole number, of which GTK then takes a little away.
  static func factor(for enlargement: Double) -> Int { max(2, Int((enlargement - 1e-6).rounded(.up))) }

  /// Returns the side of a block, in pixels of the picture: a power of two, of which a tile is a multiple.
  static func side(for factor: Int) -> Int {
    var side = TileGrid.side
    while side > 1, side * factor > longest { side /= 2 }
    return side
  }

  /// Makes the block at a place of the whole picture, counted in blocks.
  init(column: Int, row: Int, factor: Int) {
    let count = TileGrid.side / Self.side(for: factor)
    tile = TilePlace(level: 0, column: column / count, row: row / count)
    (self.column, self.row, self.factor) = (column % count, row % count, factor)
  }
}

extension Bitmap {
  /// Returns a block of this tile; `nil` if it is outside.
  func enlarged(_ block: EnlargedBlock) -> Bitmap? {
    let (side, factor) = (EnlargedBlock.side(for: block.factor), block.factor)
    let (left, top) = (block.column * side, block.row * side)
    let (width, height) = (min(side, self.width - left), min(side, self.height - top))
    guard width > 0, height > 0 else { return nil }
    return unsafe withUnsafeBytes { source in
      unsafe Bitmap(width: width * factor, height: height * factor, alpha: alpha, colorSpace: colorSpace) { target in
        let bytesPerRow = 4 * width * factor
        for y in 0..<height {
          // Both are within their bitmaps, by the sizes above.
          let row = unsafe UnsafeMutableRawBufferPointer(
            rebasing: target[y * factor * bytesPerRow..<(y * factor + 1) * bytesPerRow]
          )
          for x in 0..<width {
            let offset = (top + y) * self.bytesPerRow + 4 * (left + x)
            let pixel = unsafe source.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
            for copy in x * factor..<(x + 1) * factor {
              unsafe row.storeBytes(of: pixel, toByteOffset: 4 * copy, as: UInt32.self)
            }
          }
          for copy in 1..<factor {
            let start = (y * factor + copy) * bytesPerRow
            unsafe UnsafeMutableRawBufferPointer(rebasing: target[start..<start + bytesPerRow])
              .copyMemory(from: UnsafeRawBufferPointer(row))
          }
        }
      }
    }
  }
}
