import VitrineRuntime

/// Makes the tiles of all levels of a picture from its rows, in one pass.
///
/// Each level is the one before it, halved: its pixels are the averages of blocks of 2x2 stored pixels, counted from
/// the stored top left. It holds one row of tiles for each level, and one picture to show meanwhile.
package final class TilePyramid {
  /// The size of a row, in bytes.
  private let rowByteCount: Int
  private let levels: [PyramidLevel]
  private let halvers: [RowHalver]
  private let canvas: PyramidCanvas?
  private let canvasLevel: Int
  private let base: Int
  private let height: Int
  private let hasAlpha: Bool
  private var row = 0

  /// Makes a pyramid of rows in stored orientation.
  ///
  /// - Parameters:
  ///   - grid: The levels.
  ///   - base: The level of the rows, at least 0.
  ///   - top: The last level; `nil` for the grid's.
  ///   - orientation: The transform from rows to the upright picture.
  ///   - hasAlpha: A Boolean value that indicates whether the rows have alpha, which is straight.
  ///   - colorSpace: The colour space of the rows.
  ///   - canvas: The level of ``snapshot()``, at least `base`; `nil` for none.
  ///   - wants: Returns whether a tile is needed.
  package init(
    _ grid: TileGrid,
    base: Int,
    top: Int? = nil,
    _ orientation: Orientation,
    hasAlpha: Bool,
    _ colorSpace: ColorSpace,
    canvas: Int?,
    wants: @escaping (TilePlace) -> Bool,
  ) {
    (self.base, self.hasAlpha) = (base, hasAlpha)
    func stored(_ level: Int) -> (width: Int, height: Int) {
      let size = grid.size(of: level)
      return orientation.applied(width: size.width, height: size.height)
    }
    let size = stored(base)
    (rowByteCount, height) = (size.width * 4, size.height)
    let range = base...max(base, top ?? grid.levels.upperBound)
    levels = range.map { PyramidLevel(grid, $0, orientation, hasAlpha: hasAlpha, colorSpace, wants: wants) }
    halvers = range.dropLast().map { level in
      let size = stored(level)
      return RowHalver(width: size.width, height: size.height, ofBytes: level == base, hasAlpha: hasAlpha)
    }
    canvasLevel = canvas ?? -1
    self.canvas = canvas.map { level in
      let size = stored(level)
      return PyramidCanvas(width: size.width, height: size.height, orientation, hasAlpha: hasAlpha, colorSpace)
    }
  }

  /// Estimates the bytes that a pyramid holds.
  package static func byteCount(_ grid: TileGrid, base: Int, canvas: Int?) -> Int {
    let size = grid.size(of: base)
    let longest = max(size.width, size.height)
    // Tiles of all levels, and a row and a half for each halver.
    let rows = 2 * longest * 4 * min(TileGrid.side, longest) + 32 * longest
    let shown = canvas.map { level in
      let size = grid.size(of: level)
      return 8 * size.width * size.height
    }
    return rows + (shown ?? 0)
  }

  /// True if all rows have been added.
  package var isComplete: Bool { row == height }

  /// The number of rows that have been added.
  package var rowCount: Int { row }

  /// Adds the next row, and calls `emit` with the tiles that it completes.
  ///
  /// - Parameters:
  ///   - pixels: The row, in the base level's stored width.
  ///   - emit: Called with a tile and its pixels, which are upright.
  /// - Throws: The error of the receiver of the tiles.
  package func push(
    _ pixels: UnsafeRawBufferPointer,
    emit: (TilePlace, Bitmap) throws(ImageError) -> Void,
  ) throws(ImageError) {
    precondition(pixels.count == rowByteCount && row < height)
    row += 1
    try unsafe levels[0].push(
      write: { columns, target in
        // A part of the row.
        unsafe target.copyMemory(from: UnsafeRawBufferPointer(rebasing: pixels[columns.bytes(4)]))
      },
      emit: emit,
    )
    if canvasLevel == base { unsafe canvas?.push { unsafe $0.copyMemory(from: pixels) } }
    guard let first = halvers.first, unsafe first.push(pixels) else { return }
    var averages = unsafe first.output
    for index in 1..<levels.count {
      try unsafe levels[index].push(
        write: { columns, target in
          let part = unsafe UnsafeRawBufferPointer(rebasing: averages[columns.bytes(8)])
          unsafe RowHalver.round(part, into: target, hasAlpha: hasAlpha)
        },
        emit: emit,
      )
      if canvasLevel == base + index {
        unsafe canvas?.push { unsafe RowHalver.round(averages, into: $0, hasAlpha: hasAlpha) }
      }
      guard index < halvers.count, unsafe halvers[index].push(averages) else { return }
      unsafe averages = halvers[index].output
    }
  }

  /// Adds transparent rows in place of the missing ones; the rows must have alpha.
  package func fill(emit: (TilePlace, Bitmap) throws(ImageError) -> Void) throws(ImageError) {
    let missing = ZeroedMemory(byteCount: rowByteCount)
    while row < height { try unsafe push(UnsafeRawBufferPointer(missing.bytes), emit: emit) }
  }

  /// Returns a copy of the canvas: the whole picture, in which rows that have not come are transparent.
  package func snapshot() -> Bitmap? { canvas?.snapshot() }
}

/// The whole picture at one level.
private final class PyramidCanvas {
  private let width: Int
  private let height: Int
  private let orientation: Orientation
  private let hasAlpha: Bool
  private let colorSpace: ColorSpace
  private let memory: ZeroedMemory
  private var row = 0

  init(width: Int, height: Int, _ orientation: Orientation, hasAlpha: Bool, _ colorSpace: ColorSpace) {
    (self.width, self.height, self.orientation) = (width, height, orientation)
    (self.hasAlpha, self.colorSpace) = (hasAlpha, colorSpace)
    memory = ZeroedMemory(byteCount: 4 * width * height)
  }

  func push(_ write: (UnsafeMutableRawBufferPointer) -> Void) {
    unsafe write(memory.bytes.rows(from: row, count: 1, width: width))
    row += 1
  }

  func snapshot() -> Bitmap {
    unsafe Bitmap(
      width: width,
      height: height,
      alpha: hasAlpha || row < height ? .straight : .opaque,
      colorSpace: colorSpace,
    ) { unsafe $0.copyMemory(from: UnsafeRawBufferPointer(memory.bytes)) }.upright(orientation)
  }
}

extension Range<Int> {
  /// The bytes of pixels of `size` bytes.
  fileprivate func bytes(_ size: Int) -> Range<Int> { lowerBound * size..<upperBound * size }
}
