import VitrineImaging
import VitrineRuntime
import VitrineTestSupport

/// A JPEG file made by hand of random coefficients: any sampling, restart interval and order of scans.
///
/// What the picture shows does not matter: two decoders are to agree on it.
struct JPEGFile: CustomStringConvertible {
  /// One scan of a progressive file; without a component all of them, interleaved.
  struct Scan {
    var component: Int?
    var first = 0
    var last = 0
    var high = 0
    var low = 0
  }

  var width: Int
  var height: Int
  /// Blocks across and down in a unit, for each component.
  var sampling: [(columns: Int, rows: Int)]
  var restartInterval = 0
  /// The scans of a progressive file; none for a baseline one.
  var scans: [Scan] = []
  /// Segments behind the signature.
  var head: [UInt8] = []
  var identifiers: [UInt8] = [1, 2, 3]
  var seed: UInt64 = 1

  var description: String {
    let factors = sampling.map { "\($0.columns)x\($0.rows)" }.joined(separator: ",")
    return "\(width)x\(height) \(factors) restart \(restartInterval) scans \(scans.count)"
  }

  /// What most encoders write: successive approximation of everything, chroma first.
  static let usualScans: [Scan] = [
    Scan(low: 1), Scan(component: 0, first: 1, last: 5, low: 2), Scan(component: 2, first: 1, last: 63, low: 1),
    Scan(component: 1, first: 1, last: 63, low: 1), Scan(component: 0, first: 6, last: 63, low: 2),
    Scan(component: 0, first: 1, last: 63, high: 2, low: 1), Scan(high: 1),
    Scan(component: 2, first: 1, last: 63, high: 1), Scan(component: 1, first: 1, last: 63, high: 1),
    Scan(component: 0, first: 1, last: 63, high: 1),
  ]

  /// Components one by one, bands that refinement cuts otherwise, more bits held back.
  static let unusualScans: [Scan] = [
    Scan(component: 2, low: 2), Scan(component: 0, low: 2), Scan(component: 1),
    Scan(component: 1, first: 1, last: 2, low: 3), Scan(component: 1, first: 3, last: 40, low: 3),
    Scan(component: 1, first: 41, last: 63, low: 3), Scan(component: 2, first: 1, last: 63),
    Scan(component: 1, first: 1, last: 20, high: 3, low: 2), Scan(component: 1, first: 21, last: 63, high: 3, low: 2),
    Scan(component: 0, high: 2, low: 1), Scan(component: 2, high: 2, low: 1), Scan(component: 0, first: 1, last: 63),
    Scan(component: 1, first: 1, last: 63, high: 2, low: 1), Scan(component: 2, high: 1), Scan(component: 0, high: 1),
    Scan(component: 1, first: 1, last: 63, high: 1),
  ]

  /// Symbols from the most to the least frequent: two codes of 2 bits, 16 of 6, 100 of 10, and the rest of 16.
  private static let coefficientSymbols: [UInt8] = {
    let common: [UInt8] = [0x00, 0x01, 0xF0, 0x02, 0x11, 0x12, 0x03, 0x21, 0x31, 0x10, 0x20]
    return common + (0...255).filter { !common.contains($0) }
  }()
  private static let coefficientLengths = [2: 2, 6: 16, 10: 100, 16: 138]
  private static let differenceSymbols: [UInt8] = [3, 4, 2, 5, 0, 1, 6, 7, 8, 9, 10, 11]
  private static let differenceLengths = [2: 2, 4: 4, 14: 6]

  private static func codes(_ symbols: [UInt8], _ lengths: [Int: Int]) -> [UInt8: (code: Int, length: Int)] {
    var result: [UInt8: (code: Int, length: Int)] = [:]
    var (code, index) = (0, 0)
    for length in 1...16 {
      for _ in 0..<lengths[length, default: 0] {
        result[symbols[index]] = (code, length)
        code += 1
        index += 1
      }
      code <<= 1
    }
    return result
  }

  static func segment(_ marker: UInt8, _ body: [UInt8]) -> [UInt8] { [0xFF, marker] + .big16(body.count + 2) + body }

  private static func table(_ head: UInt8, _ symbols: [UInt8], _ lengths: [Int: Int]) -> [UInt8] {
    let counts = (1...16).map { UInt8(lengths[$0] ?? 0) }
    return segment(0xC4, [head] + counts + symbols)
  }

  static func step(_ index: Int) -> Int { index == 0 ? 5 : 2 + index % 7 }

  var data: Data {
    let coder = Coder(self)
    var bytes: [UInt8] = [0xFF, 0xD8] + head
    bytes += Self.segment(0xDB, [0] + (0..<64).map { UInt8(Self.step($0)) })
    var frame: [UInt8] = [8] + .big16(height) + .big16(width) + [UInt8(sampling.count)]
    for (index, factor) in sampling.enumerated() {
      frame += [identifiers[index], UInt8(factor.columns << 4 | factor.rows), 0]
    }
    bytes += Self.segment(scans.isEmpty ? 0xC0 : 0xC2, frame)
    bytes += Self.table(0x00, Self.differenceSymbols, Self.differenceLengths)
    bytes += Self.table(0x10, Self.coefficientSymbols, Self.coefficientLengths)
    if restartInterval > 0 { bytes += Self.segment(0xDD, .big16(restartInterval)) }
    let all = scans.isEmpty ? [Scan(last: 63)] : scans.filter { ($0.component ?? 0) < sampling.count }
    for scan in all {
      let parts = scan.component.map { [$0] } ?? Array(sampling.indices)
      let choices: [UInt8] = parts.flatMap { [identifiers[$0], 0] }
      let header = [UInt8(parts.count)] + choices
      bytes += Self.segment(0xDA, header + [UInt8(scan.first), UInt8(scan.last), UInt8(scan.high << 4 | scan.low)])
      bytes += coder.encode(scan, parts)
    }
    return Data(bytes + [0xFF, 0xD9])
  }

  /// Writes entropy-coded data.
  private final class Coder {
    let file: JPEGFile
    let units: (across: Int, down: Int)
    /// For each component rows of blocks of 64 coefficients in zigzag order.
    var blocks: [[[[Int]]]] = []
    let coefficientCodes = JPEGFile.codes(JPEGFile.coefficientSymbols, JPEGFile.coefficientLengths)
    let differenceCodes = JPEGFile.codes(JPEGFile.differenceSymbols, JPEGFile.differenceLengths)
    var bytes: [UInt8] = []
    var (accumulator, count) = (0, 0)

    init(_ file: JPEGFile) {
      self.file = file
      let (most, high) = (file.sampling.map(\.columns).max() ?? 1, file.sampling.map(\.rows).max() ?? 1)
      let isSingle = file.sampling.count == 1
      let (columns, rows) = isSingle ? (1, 1) : (most, high)
      units = ((file.width + 8 * columns - 1) / (8 * columns), (file.height + 8 * rows - 1) / (8 * rows))
      var generator = SplitMix64(seed: file.seed)
      for factor in file.sampling {
        let (across, down) = isSingle ? (1, 1) : (factor.columns, factor.rows)
        blocks.append(
          (0..<units.down * down).map { _ in
            (0..<units.across * across).map { _ in Self.block(&generator) }
          }
        )
      }
    }

    /// Smooth, busy and full blocks, and such as have nothing but their mean.
    static func block(_ generator: inout SplitMix64) -> [Int] {
      var block = [Int](repeating: 0, count: 64)
      block[0] = .random(in: -150...150, using: &generator)
      let count = [0, 0, 2, 6, 20, 63].randomElement(using: &generator) ?? 0
      for _ in 0..<count {
        let index =
          count == 63 ? Int.random(in: 1...63, using: &generator) : Int.random(in: 1...30, using: &generator)
        block[index] = .random(in: -9...9, using: &generator)
      }
      if count == 20 { block[63] = 1 }
      return block
    }

    func encode(_ scan: Scan, _ parts: [Int]) -> [UInt8] {
      (bytes, accumulator, count) = ([], 0, 0)
      var predictions = [0, 0, 0]
      var restarts = 0
      var run = Run()
      for (number, unit) in unitBlocks(parts).enumerated() {
        if file.restartInterval > 0, number > 0, number % file.restartInterval == 0 {
          end(&run)
          flush()
          bytes += [0xFF, UInt8(0xD0 + restarts % 8)]
          restarts += 1
          predictions = [0, 0, 0]
        }
        for (component, y, x) in unit {
          let block = blocks[component][y][x]
          if scan.first > 0 {
            scan.high == 0 ? first(block, scan, &run) : refine(block, scan, &run)
          } else if scan.high > 0 {
            put(block[0] >> scan.low & 1, 1)
          } else {
            let value = block[0] >> scan.low
            difference(value - predictions[component])
            predictions[component] = value
            if scan.last == 63 { sequential(block) }
          }
        }
      }
      end(&run)
      flush()
      return bytes
    }

    private func unitBlocks(_ parts: [Int]) -> [[(Int, Int, Int)]] {
      if parts.count == 1 {
        let factor = file.sampling[parts[0]]
        let isSingle = file.sampling.count == 1
        let most = isSingle ? factor.columns : file.sampling.map(\.columns).max() ?? 1
        let high = isSingle ? factor.rows : file.sampling.map(\.rows).max() ?? 1
        let across = (file.width * factor.columns + 8 * most - 1) / (8 * most)
        let down = (file.height * factor.rows + 8 * high - 1) / (8 * high)
        return (0..<down).flatMap { y in (0..<across).map { x in [(parts[0], y, x)] } }
      }
      return (0..<units.down).flatMap { unitY in
        (0..<units.across).map { unitX in
          parts.flatMap { part in
            let factor = file.sampling[part]
            return (0..<factor.rows).flatMap { y in
              (0..<factor.columns).map { x in (part, unitY * factor.rows + y, unitX * factor.columns + x) }
            }
          }
        }
      }
    }

    private func put(_ value: Int, _ length: Int) {
      guard length > 0 else { return }
      accumulator = accumulator << length | value & (1 << length - 1)
      count += length
      while count >= 8 {
        let byte = UInt8(accumulator >> (count - 8) & 255)
        bytes += byte == 255 ? [255, 0] : [byte]
        count -= 8
      }
      accumulator &= 1 << count - 1
    }

    private func flush() { if count > 0 { put(0x7F, 8 - count) } }

    private func symbol(_ symbol: Int) {
      guard let code = coefficientCodes[UInt8(symbol)] else { return }
      put(code.code, code.length)
    }

    private static func size(_ value: Int) -> Int { Int.bitWidth - abs(value).leadingZeroBitCount }

    private func extra(_ value: Int) { put(value < 0 ? value - 1 : value, Self.size(value)) }

    private func difference(_ value: Int) {
      guard let code = differenceCodes[UInt8(Self.size(value))] else { return }
      put(code.code, code.length)
      extra(value)
    }

    private func sequential(_ block: [Int]) {
      var zeros = 0
      for index in 1..<64 {
        guard block[index] != 0 else {
          zeros += 1
          continue
        }
        while zeros > 15 {
          symbol(0xF0)
          zeros -= 16
        }
        symbol(zeros << 4 | Self.size(block[index]))
        extra(block[index])
        zeros = 0
      }
      if zeros > 0 { symbol(0) }
    }

    /// Blocks that have ended, and the bits that correct what is in them.
    private struct Run {
      var blocks = 0
      var corrections: [Int] = []
    }

    private func end(_ run: inout Run) {
      guard run.blocks > 0 else { return }
      let size = Self.size(run.blocks) - 1
      symbol(size << 4)
      put(run.blocks, size)
      for bit in run.corrections { put(bit, 1) }
      run = Run()
    }

    /// As a point transform of AC coefficients divides: towards zero.
    private func magnitude(_ value: Int, _ low: Int) -> Int { abs(value) >> low }

    private func first(_ block: [Int], _ scan: Scan, _ run: inout Run) {
      var zeros = 0
      for index in scan.first...scan.last {
        let value = magnitude(block[index], scan.low) * block[index].signum()
        guard value != 0 else {
          zeros += 1
          continue
        }
        end(&run)
        while zeros > 15 {
          symbol(0xF0)
          zeros -= 16
        }
        symbol(zeros << 4 | Self.size(value))
        extra(value)
        zeros = 0
      }
      if zeros > 0 { run.blocks += 1 }
      if run.blocks == 0x7FFF { end(&run) }
    }

    private func refine(_ block: [Int], _ scan: Scan, _ run: inout Run) {
      let lastNew = (scan.first...scan.last).last { magnitude(block[$0], scan.low) == 1 } ?? 0
      var zeros = 0
      var corrections: [Int] = []
      for index in scan.first...scan.last {
        let value = magnitude(block[index], scan.low)
        if value == 0 {
          zeros += 1
        } else if value > 1 {
          corrections.append(value & 1)
        } else {
          end(&run)
          symbol(zeros << 4 | 1)
          put(block[index] > 0 ? 1 : 0, 1)
          for bit in corrections { put(bit, 1) }
          (zeros, corrections) = (0, [])
        }
        if zeros == 16, index < lastNew {
          end(&run)
          symbol(0xF0)
          for bit in corrections { put(bit, 1) }
          (zeros, corrections) = (0, [])
        }
      }
      if zeros > 0 || !corrections.isEmpty {
        run.blocks += 1
        run.corrections += corrections
      }
    }
  }
}
