/// The contents of a frame header (T.81, B.2.2), and the blocks that follow from it.
struct JPEGFrame {
  struct Component {
    let identifier: UInt8
    /// The number of blocks across and down in a unit of an interleaved scan.
    let columns: Int
    let rows: Int
    let quantizationTable: Int
    /// The number of cells of a block, across and down.
    ///
    /// A cell is a pixel at the scale of the frame.
    var cellColumns = 1
    var cellRows = 1
    /// The number of blocks across and down that hold pixels: those of a scan of this component alone.
    var blocksAcross = 0
    var blocksDown = 0
    /// The number of blocks across, including blocks that only fill the last unit.
    var paddedAcross = 0
    /// The number of blocks down, including blocks that only fill the last unit.
    var paddedDown = 0
    /// The steps of the table in force at the component's first scan, in zigzag order.
    var quantization: [Int] = []
  }

  let width: Int
  let height: Int
  let isProgressive: Bool
  var components: [Component] = []
  /// The number of units of an interleaved scan, across and down.
  private(set) var unitsAcross = 0
  private(set) var unitsDown = 0
  /// The number of pixels across a unit at an eighth of the size.
  private(set) var unitColumns = 1
  private(set) var unitRows = 1
  /// The scale at which a pixel is a cell.
  private(set) var eighths = 1

  /// The number of cells across the whole image, including the padding.
  var cellsAcross: Int { unitsAcross * unitColumns * eighths }
  /// The number of cells down, including the padding.
  var cellsDown: Int { unitsDown * unitRows * eighths }

  /// Returns `nil` for unsupported frames: other precisions, CMYK, sampling factors that do not divide one another.
  init?(_ segment: ByteReader, isProgressive: Bool) {
    guard segment.byte(at: 0) == 8, let height = segment.bigEndian16(at: 1), let width = segment.bigEndian16(at: 3),
      let count = segment.byte(at: 5), width > 0, height > 0, count == 1 || count == 3,
      segment.count == 6 + 3 * Int(count)
    else { return nil }
    (self.width, self.height, self.isProgressive) = (Int(width), Int(height), isProgressive)
    for offset in stride(from: 6, to: segment.count, by: 3) {
      guard let identifier = segment.byte(at: offset), let sampling = segment.byte(at: offset + 1),
        let table = segment.byte(at: offset + 2), table < 4,
        !components.contains(where: { $0.identifier == identifier })
      else { return nil }
      // With a single component the factors have no meaning.
      let (columns, rows) = count == 1 ? (1, 1) : (Int(sampling >> 4), Int(sampling & 15))
      guard 1...4 ~= columns, 1...4 ~= rows else { return nil }
      components.append(
        Component(identifier: identifier, columns: columns, rows: rows, quantizationTable: Int(table))
      )
    }
    // T.81 forbids units of more than ten blocks; libjpeg reports them.
    guard count == 1 || components.reduce(0, { $0 + $1.columns * $1.rows }) <= 10 else { return nil }
    unitColumns = components.reduce(1) { max($0, $1.columns) }
    unitRows = components.reduce(1) { max($0, $1.rows) }
    unitsAcross = Self.divided(self.width, by: 8 * unitColumns)
    unitsDown = Self.divided(self.height, by: 8 * unitRows)
    for index in components.indices {
      let (columns, rows) = (components[index].columns, components[index].rows)
      guard unitColumns % columns == 0, unitRows % rows == 0 else { return nil }
      let (cellColumns, cellRows) = (unitColumns / columns, unitRows / rows)
      guard BlockMeans.Layout(columns: cellColumns, rows: cellRows) != nil else { return nil }
      (components[index].cellColumns, components[index].cellRows) = (cellColumns, cellRows)
      components[index].blocksAcross = Self.divided(self.width * columns, by: 8 * unitColumns)
      components[index].blocksDown = Self.divided(self.height * rows, by: 8 * unitRows)
      components[index].paddedAcross = unitsAcross * columns
      components[index].paddedDown = unitsDown * rows
    }
  }

  /// Returns the frame with cells of half the width and height; `nil` if blocks cannot be divided into so many.
  func atQuarter() -> JPEGFrame? {
    var frame = self
    frame.eighths = 2
    for index in components.indices {
      frame.components[index].cellColumns *= 2
      frame.components[index].cellRows *= 2
      let component = frame.components[index]
      guard BlockMeans.Layout(columns: component.cellColumns, rows: component.cellRows) != nil else { return nil }
    }
    return frame
  }

  static func divided(_ length: Int, by unit: Int) -> Int { (length + unit - 1) / unit }
}

/// The contents of a scan header (T.81, B.2.3), and the range of its data.
struct JPEGScan {
  struct Part {
    /// The index of the component in the frame.
    let component: Int
    let differences: HuffmanTable?
    let coefficients: HuffmanTable?
  }

  var parts: [Part] = []
  /// The first and the last coefficient, in zigzag order.
  var first = 0
  var last = 63
  /// The bit position reached by an earlier scan, 0 for none, and the one that this scan reaches.
  var high = 0
  var low = 0
  /// The number of units between restart markers; 0 for none.
  var restartInterval = 0
  /// The entropy-coded data, up to the next marker other than a restart marker.
  var data = 0..<0

  var isOfDC: Bool { first == 0 }
  var isRefinement: Bool { high > 0 }
}
