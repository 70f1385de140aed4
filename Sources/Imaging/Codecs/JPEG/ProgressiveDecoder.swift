import VitrineRuntime

/// Decodes the scans of a progressive file that an eighth or a quarter of its size needs, and skips the others.
///
/// DC and AC scans are independent. So the AC scans are decoded one component at a time, and only one component's
/// refinement state is in memory.
struct ProgressiveDecoder {
  private let bytes: Elements<UInt8>
  private let script: JPEGScript
  private let control: DecodeControl
  private let coarse: [CoarsePlane]

  /// `bytes` must outlive the value.
  init(_ bytes: Elements<UInt8>, _ script: JPEGScript, _ control: DecodeControl) {
    self.bytes = bytes
    self.script = script
    self.control = control
    coarse = script.frame.components.map { CoarsePlane($0) }
  }

  /// Decodes the cells of each component; returns `nil` if the data are damaged.
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
        height: script.frame.cellsDown,
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
    guard let decoder = FineScan(bytes, scan, plane) else { return false }
    for row in 0..<plane.blocksDown {
      try control.check()
      guard decoder.decodeRow(row) else { return false }
    }
    return decoder.isAtEnd
  }

  /// The data of a component that the loop over blocks needs: plain values, so that the loop counts no references.
  ///
  /// They refer to the memory of planes and of tables of the script.
  private struct Part: BitwiseCopyable {
    let columns: Int
    let rows: Int
    let blocks: CoarsePlane.Blocks
    let differences: Table<WindowIndex, Int16>?
  }

  private func parts(of scan: JPEGScan) -> [Part] {
    scan.parts.map { part in
      let component = script.frame.components[part.component]
      let (columns, rows) = scan.parts.count > 1 ? (component.columns, component.rows) : (1, 1)
      return Part(
        columns: columns,
        rows: rows,
        blocks: coarse[part.component].blocks,
        differences: part.differences?.differences.entries,
      )
    }
  }

  private func decodeCoarse(_ scan: JPEGScan) throws(ImageError) -> Bool {
    let frame = script.frame
    let reader = EntropyReader(bytes, scan.data)
    var cursor = reader.start()
    var restart = RestartCounter(interval: scan.restartInterval)
    var predictions = [Int](repeating: 0, count: scan.parts.count)
    // A scan of one component has its blocks in order, without padding blocks.
    let single = scan.parts.count == 1 ? frame.components[scan.parts[0].component] : nil
    let (across, down) = (single?.blocksAcross ?? frame.unitsAcross, single?.blocksDown ?? frame.unitsDown)
    let parts = parts(of: scan)
    let (low, isRefinement, partCount) = (scan.low, scan.isRefinement, scan.parts.count)
    for row in 0..<down {
      try control.check()
      for column in 0..<across {
        if restart.isDue {
          guard let next = reader.restart(cursor, number: restart.pass()) else { return false }
          cursor = next
          for index in predictions.indices { predictions[index] = 0 }
        }
        for index in 0..<partCount {
          let part = parts[index]
          for y in row &* part.rows..<row &* part.rows &+ part.rows {
            for x in column &* part.columns..<column &* part.columns &+ part.columns {
              if cursor.next > reader.latestStart {
                cursor = reader.advance(cursor)
                if reader.hasOverrun { return false }
              }
              cursor.refill()
              if isRefinement {
                if cursor.takeBit() { part.blocks.add(1 << low, x, y) }
                continue
              }
              guard let differences = part.differences else { return false }
              let entry = Int(differences[cursor.window])
              if entry != 0 {
                cursor.drop(entry & 15)
                predictions[index] += entry &>> 4
              } else {
                let code = scan.parts[index].differences?.code(at: cursor.wideWindow) ?? 0
                guard code != 0 else { return false }
                cursor.drop(code & 255)
                let size = code &>> 8
                if size > 0 { predictions[index] += HuffmanTable.extended(cursor.take(size), size: size) }
              }
              guard let value = Int16(exactly: predictions[index] << low) else { return false }
              part.blocks.add(value, x, y)
            }
          }
        }
      }
    }
    // They own the memory that the parts point to.
    return withExtendedLifetime((coarse, scan)) { reader.isAtEnd(cursor) }
  }
}

/// Counts units between restart markers.
struct RestartCounter {
  private let interval: Int
  private var left: Int
  private var passed = 0

  init(interval: Int) {
    self.interval = interval
    left = interval
  }

  /// True if a marker comes before the next unit.
  ///
  /// Read it once for each unit.
  var isDue: Bool {
    mutating get {
      guard interval > 0 else { return false }
      defer { left -= 1 }
      return left == 0
    }
  }

  /// Counts the marker and returns its number.
  mutating func pass() -> Int {
    defer { passed += 1 }
    left = interval - 1
    return passed & 7
  }
}

/// The DC coefficients of one component.
final class CoarsePlane {
  /// The blocks, as plain values that must not outlive their plane.
  struct Blocks: BitwiseCopyable {
    let width: Int
    let height: Int
    fileprivate let values: MutableElements<Int16>

    /// Sets bits that are still 0.
    @inline(__always)
    func add(_ value: Int16, _ x: Int, _ y: Int) { values[y &* width &+ x] |= value }

    @inline(__always)
    subscript(x: Int, y: Int) -> Int { Int(values[y &* width &+ x]) }
  }

  // Used by one thread at a time.
  private let memory: OwnedElements<Int16>
  let blocks: Blocks

  init(_ component: JPEGFrame.Component) {
    memory = OwnedElements(repeating: 0, count: component.paddedAcross * component.paddedDown)
    blocks = Blocks(width: component.paddedAcross, height: component.paddedDown, values: memory.elements)
  }

  /// Writes the cells of all blocks as if all other coefficients were 0.
  func store(_ writer: CellWriter, _ component: JPEGFrame.Component, into plane: SamplePlane) {
    let blocks = blocks
    for y in 0..<blocks.height {
      let cells = plane.cells(column: 0, row: y * component.cellRows)
      for x in 0..<blocks.width { writer.store(blocks[x, y], into: cells.moved(by: x &* component.cellColumns)) }
    }
  }
}
