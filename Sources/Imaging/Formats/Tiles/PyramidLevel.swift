/// One level of a ``TilePyramid``: cuts rows in stored orientation into upright tiles.
///
/// It holds the tiles of one row of them, whose memory their bitmaps take over.
@safe
final class PyramidLevel {
  private let level: Int
  /// The stored size.
  private let width: Int
  private let height: Int
  private let orientation: Orientation
  private let hasAlpha: Bool
  private let colorSpace: ColorSpace
  private let wants: (TilePlace) -> Bool
  /// The stored columns of each tile, in the order of upright ones.
  private let columns: [Range<Int>]
  /// The tiles that are being filled, and the wanted ones of them.
  private var tiles: [PixelStorage?] = []
  private var band = 0..<0
  private var row = 0

  init(
    _ grid: TileGrid,
    _ level: Int,
    _ orientation: Orientation,
    hasAlpha: Bool,
    _ colorSpace: ColorSpace,
    wants: @escaping (TilePlace) -> Bool,
  ) {
    let size = grid.size(of: level)
    (width, height) = orientation.applied(width: size.width, height: size.height)
    (self.level, self.orientation, self.hasAlpha) = (level, orientation, hasAlpha)
    (self.colorSpace, self.wants) = (colorSpace, wants)
    columns = Self.spans(of: width, isMirrored: orientation.mirrorsStoredColumns)
  }

  /// Returns the stored spans of tiles along one axis, in the order of upright tiles.
  private static func spans(of length: Int, isMirrored: Bool) -> [Range<Int>] {
    stride(from: 0, to: length, by: TileGrid.side).map { start in
      let end = min(length, start + TileGrid.side)
      return isMirrored ? length - end..<length - start : start..<end
    }
  }

  /// The index of the tiles that the current row belongs to.
  private var bandIndex: Int { (orientation.mirrorsStoredRows ? height - 1 - row : row) / TileGrid.side }

  private func place(_ column: Int) -> TilePlace {
    orientation.swapsAxes
      ? TilePlace(level: level, column: bandIndex, row: column)
      : TilePlace(level: level, column: column, row: bandIndex)
  }

  /// Adds a row, which `write` writes in parts: the columns, and the memory for their pixels.
  ///
  /// Calls `emit` with the tiles that it completes.
  func push(
    write: (Range<Int>, UnsafeMutableRawBufferPointer) -> Void,
    emit: (TilePlace, Bitmap) throws(ImageError) -> Void,
  ) throws(ImageError) {
    precondition(row < height)
    if row == band.upperBound { beginBand() }
    for (index, columns) in columns.enumerated() {
      guard let tile = tiles[index] else { continue }
      let bytesPerRow = columns.count * 4
      let start = (row - band.lowerBound) * bytesPerRow
      // A row of the tile, which has the band's columns; the slice checks the bounds.
      unsafe write(columns, UnsafeMutableRawBufferPointer(rebasing: tile.buffer[start..<start + bytesPerRow]))
    }
    if row == band.upperBound - 1 {
      let (finished, places) = (tiles, columns.indices.map(place))
      tiles = []
      for (index, columns) in columns.enumerated() {
        guard let tile = finished[index] else { continue }
        try emit(places[index], bitmap(tile, columns.count))
      }
    }
    row += 1
  }

  private func beginBand() {
    let length = Self.spans(of: height, isMirrored: orientation.mirrorsStoredRows)[bandIndex].count
    band = row..<row + length
    tiles = columns.enumerated().map { index, columns in
      wants(place(index)) ? PixelStorage(count: 4 * columns.count * length) : nil
    }
  }

  private func bitmap(_ storage: PixelStorage, _ width: Int) -> Bitmap {
    let bitmap = Bitmap(
      width: width,
      height: band.count,
      alpha: hasAlpha ? .straight : .opaque,
      colorSpace: colorSpace,
      storage: storage,
    )
    return bitmap.upright(orientation)
  }
}

extension Bitmap {
  /// Returns the upright picture of stored pixels.
  func upright(_ orientation: Orientation) -> Bitmap {
    guard orientation != .up else { return self }
    let size = orientation.applied(width: width, height: height)
    let plan = SamplingPlan(width: size.width, height: size.height)
    return Bitmap.writing(width: size.width, height: size.height, alpha: alpha, colorSpace: colorSpace) { target in
      var writer = UprightWriter<UInt32>(target, plan, orientation)
      withElements { source in
        for row in 0..<height { writer.write(source.rows(from: row, count: 1, width: width)) }
      }
      writer.finish()
    }
  }
}
