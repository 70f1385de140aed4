/// What a frame header (T.81, B.2.2) says, and the blocks that follow from it.
struct JPEGFrame {
  struct Component {
    let identifier: UInt8
    /// Blocks across and down in a unit of an interleaved scan.
    let columns: Int
    let rows: Int
    let quantizationTable: Int
    /// Cells that a block is divided into across and down, each of them an eighth of the image's resolution.
    var cellColumns = 1
    var cellRows = 1
    /// Blocks across and down that hold pixels, which are those of a scan of this component alone.
    var blocksAcross = 0
    var blocksDown = 0
    /// Blocks across with those that only fill the last unit.
    var paddedAcross = 0
    /// The same down.
    var paddedDown = 0
    /// The steps of the table in force at its first scan, in zigzag order.
    var quantization: [Int] = []
  }

  let width: Int
  let height: Int
  let isProgressive: Bool
  var components: [Component] = []
  /// Units of an interleaved scan across and down.
  private(set) var unitsAcross = 0
  private(set) var unitsDown = 0
  /// Cells across in a unit, which are the pixels that it has at an eighth.
  private(set) var unitColumns = 1
  private(set) var unitRows = 1

  /// The whole image's cells across, with those that only fill up.
  var cellsAcross: Int { unitsAcross * unitColumns }

  /// `nil` for what is not decoded here: other precisions, CMYK, sampling factors that do not divide one another.
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
      // Of a single component the factors mean nothing.
      let (columns, rows) = count == 1 ? (1, 1) : (Int(sampling >> 4), Int(sampling & 15))
      guard 1...4 ~= columns, 1...4 ~= rows else { return nil }
      components.append(
        Component(identifier: identifier, columns: columns, rows: rows, quantizationTable: Int(table))
      )
    }
    // A unit of more than ten blocks is forbidden, and libjpeg says so.
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

  static func divided(_ length: Int, by unit: Int) -> Int { (length + unit - 1) / unit }
}

/// What a scan header (T.81, B.2.3) says, and where its data are.
struct JPEGScan {
  struct Part {
    /// Which of the frame's components.
    let component: Int
    let differences: HuffmanTable?
    let coefficients: HuffmanTable?
  }

  var parts: [Part] = []
  /// The first and the last coefficient, in zigzag order.
  var first = 0
  var last = 63
  /// The bit position that was reached before, 0 for none, and the one this scan reaches.
  var high = 0
  var low = 0
  /// Units from one restart marker to the next; 0 for none.
  var restartInterval = 0
  /// The entropy-coded data, up to the next marker that is none of restart.
  var data = 0..<0

  var isOfDC: Bool { first == 0 }
  var isRefinement: Bool { high > 0 }
}
