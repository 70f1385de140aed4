import VitrineRuntime

/// Decodes those scans of a progressive file that an eighth of its size needs, and leaves out the others.
///
/// Scans of DC and of AC coefficients have nothing to do with one another, so the components' AC scans are decoded one
/// component after the other: what must be held for refinement is held for one at a time.
@safe
struct ProgressiveDecoder {
  private let bytes: UnsafeRawBufferPointer
  private let script: JPEGScript
  private let control: DecodeControl
  private let coarse: [CoarsePlane]

  /// `bytes` outlives the value.
  init(_ bytes: UnsafeRawBufferPointer, _ script: JPEGScript, _ control: DecodeControl) {
    unsafe self.bytes = bytes
    self.script = script
    self.control = control
    coarse = script.frame.components.map { CoarsePlane($0) }
  }

  /// Each component's cells; `nil` where the data are damaged.
  ///
  /// - Throws: ``ImageError``: `.cancelled`, `.outOfTime`.
  func decode() throws(ImageError) -> [SamplePlane]? {
    for scan in script.scans where scan.isOfDC {
      guard try decodeCoarse(scan) else { return nil }
    }
    var planes: [SamplePlane] = []
    for (index, component) in script.frame.components.enumerated() {
      let plane = SamplePlane(
        width: script.frame.cellsAcross,
        height: script.frame.unitsDown * script.frame.unitRows,
      )
      let means = BlockMeans(component)
      let scans = script.scans.filter { !$0.isOfDC && $0.parts[0].component == index }
      if means.last == 0 || scans.isEmpty {
        coarse[index].store(means.writer, component, into: plane)
      } else {
        let fine = FinePlane(component, means)
        for scan in scans {
          guard try decodeFine(scan, fine) else { return nil }
        }
        fine.store(coarse[index], into: plane)
      }
      planes.append(plane)
    }
    return planes
  }

  private func decodeFine(_ scan: JPEGScan, _ plane: FinePlane) throws(ImageError) -> Bool {
    guard let decoder = unsafe FineScan(bytes, scan, plane) else { return false }
    for row in 0..<plane.blocksDown {
      try control.check()
      guard decoder.decodeRow(row) else { return false }
    }
    return decoder.isAtEnd
  }

  private func decodeCoarse(_ scan: JPEGScan) throws(ImageError) -> Bool {
    let frame = script.frame
    let reader = unsafe EntropyReader(bytes, scan.data)
    var cursor = reader.start()
    var restart = RestartCounter(interval: scan.restartInterval)
    var predictions = [Int](repeating: 0, count: scan.parts.count)
    // A scan of one component has its blocks in order and none that only fill up a unit.
    let single = scan.parts.count == 1 ? frame.components[scan.parts[0].component] : nil
    let (across, down) = (single?.blocksAcross ?? frame.unitsAcross, single?.blocksDown ?? frame.unitsDown)
    for row in 0..<down {
      try control.check()
      for column in 0..<across {
        if restart.isDue {
          guard let next = reader.restart(cursor, number: restart.pass()) else { return false }
          cursor = next
          for index in predictions.indices { predictions[index] = 0 }
        }
        for (index, part) in scan.parts.enumerated() {
          let component = frame.components[part.component]
          let (columns, rows) = single == nil ? (component.columns, component.rows) : (1, 1)
          for y in row * rows..<row * rows + rows {
            for x in column * columns..<column * columns + columns {
              if unsafe cursor.next > reader.latestStart {
                cursor = reader.advance(cursor)
                if reader.hasOverrun { return false }
              }
              cursor.refill()
              if scan.isRefinement {
                if cursor.takeBit() { coarse[part.component].add(1 << scan.low, x, y) }
                continue
              }
              guard let difference = part.differences.flatMap({ cursor.takeDifference($0) }) else { return false }
              predictions[index] += difference
              guard let value = Int16(exactly: predictions[index] << scan.low) else { return false }
              coarse[part.component].add(value, x, y)
            }
          }
        }
      }
    }
    return reader.isAtEnd(cursor)
  }
}

extension BitCursor {
  /// Takes a DC coefficient's difference from bits that have just been refilled; `nil` where they are none.
  @inline(__always)
  mutating func takeDifference(_ table: HuffmanTable) -> Int? {
    let entry = Int(table.differences[window])
    if entry != 0 {
      drop(entry & 255)
      return entry &>> 8
    }
    let code = table.code(at: wideWindow)
    guard code != 0 else { return nil }
    drop(code & 255)
    return code > 255 ? HuffmanTable.extended(take(code &>> 8), size: code &>> 8) : 0
  }
}

/// Counts units from one restart marker to the next.
struct RestartCounter {
  private let interval: Int
  private var left: Int
  private var passed = 0

  init(interval: Int) {
    self.interval = interval
    left = interval
  }

  /// Whether a marker comes before the next unit; to be asked once for each.
  var isDue: Bool {
    mutating get {
      guard interval > 0 else { return false }
      defer { left -= 1 }
      return left == 0
    }
  }

  /// The number of the marker that comes now.
  mutating func pass() -> Int {
    defer { passed += 1 }
    left = interval - 1
    return passed & 7
  }
}

/// The DC coefficients of one component.
@safe
final class CoarsePlane {
  private let width: Int
  private let height: Int
  // Owned: allocated in init, freed in deinit, used by one thread at a time.
  private let values: UnsafeMutablePointer<Int16>

  init(_ component: JPEGFrame.Component) {
    (width, height) = (component.paddedAcross, component.paddedDown)
    unsafe values = .allocate(capacity: width * height)
    unsafe values.initialize(repeating: 0, count: width * height)
  }

  deinit { unsafe values.deallocate() }

  /// Sets bits that are not set yet.
  @inline(__always)
  func add(_ value: Int16, _ x: Int, _ y: Int) {
    precondition(x >= 0 && x < width && y >= 0 && y < height)
    unsafe values[y &* width &+ x] |= value
  }

  @inline(__always)
  subscript(x: Int, y: Int) -> Int {
    precondition(x >= 0 && x < width && y >= 0 && y < height)
    return unsafe Int(values[y &* width &+ x])
  }

  /// Writes all blocks' cells as if there were no other coefficients.
  func store(_ writer: CellWriter, _ component: JPEGFrame.Component, into plane: SamplePlane) {
    precondition(plane.width == width * component.cellColumns && plane.height == height * component.cellRows)
    for y in 0..<height {
      let cells = unsafe plane.row(y * component.cellRows)
      for x in 0..<width {
        // By the precondition the plane has cells for all blocks.
        unsafe writer.store(self[x, y], into: cells + x &* component.cellColumns, stride: plane.width)
      }
    }
  }
}
