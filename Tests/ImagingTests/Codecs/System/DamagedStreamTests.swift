import Testing
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineImaging

/// Compressed pixels with one mistake, behind which the stream goes on as before.
struct DamagedStreamTests {
  /// What is wrong with a block (RFC 1951).
  enum Mistake: String, CaseIterable, CustomTestStringConvertible {
    /// 3.2.6: a length that does not exist.
    case length
    /// 3.2.6: a distance that does not exist.
    case distance
    /// 3.2.5: a distance to before the first byte.
    case beforeFirst
    /// 3.2.3: a block of the reserved type.
    case blockType
    /// 3.2.4: a block whose length is told twice, differently.
    case storedLength

    var testDescription: String { rawValue }
  }

  /// The bits of a stream of one block of the fixed code.
  private struct Stream {
    private(set) var bits: [Bool] = []

    init() {
      append("110")
      append("00110000")  // the byte 0
    }

    /// Appends bits in the order of the stream.
    mutating func append(_ text: String) { bits += text.map { $0 == "1" } }

    /// Appends so many copies of the last byte, in runs of 258.
    mutating func appendRuns(_ count: Int) { for _ in 0..<count { append("1100010100000") } }

    mutating func append(_ mistake: Mistake) {
      switch mistake {
      case .length: append("11000110")
      case .distance: append("0000001" + "11110")
      case .beforeFirst: append("0000001" + "11101" + "1111111111111")
      case .blockType: append("0000000" + "111")
      case .storedLength:
        append("0000000" + "000")
        while bits.count % 8 != 0 { append("0") }
        append(String(repeating: "10", count: 16))
      }
    }

    /// A zlib stream (RFC 1950).
    var bytes: [UInt8] {
      var bytes: [UInt8] = [0x78, 0x01]
      for start in stride(from: 0, to: bits.count, by: 8) {
        bytes.append(bits[start..<min(start + 8, bits.count)].reversed().reduce(0) { $0 << 1 | ($1 ? 1 : 0) })
      }
      return bytes
    }
  }

  private static let width = 999
  private static let height = 1200

  /// Reads rows one by one until an error, as more than one caller may go on behind one.
  private static func rowCount(of file: [UInt8]) throws -> Int {
    // The array outlives the reader.
    try unsafe file.withUnsafeBytes { bytes in
      let reader = try PNGReader(unsafe ByteReader(bytes), format: .png)
      let line = OwnedElements<UInt8>(repeating: 0, count: 4 * width)
      var (row, errors) = (0, 0)
      while row < height, errors < 3 {
        let got = try? reader.read(into: line.elements, bytesPerRow: 4 * width, width: width, count: 1, row: row)
        if let got { row += got } else { errors += 1 }
      }
      return row
    }
  }

  @Test(arguments: Mistake.allCases, [0, 5, 100, 300, 1000, 3000])
  func noRowComesFromBehindTheMistake(mistake: Mistake, runs: Int) throws {
    // From 32,768 bytes on, the distance exists.
    if mistake == .beforeFirst, runs > 100 { return }
    var stream = Stream()
    stream.appendRuns(runs)
    stream.append(mistake)
    stream.appendRuns((Self.width + 1) * Self.height / 258)
    let bytes = stream.bytes
    let header: [UInt8] = .big32(Self.width) + .big32(Self.height) + [8, 0, 0, 0, 0]

    for length in [bytes.count, 1000, 100] {
      var file = SniffingTests.png + PNGFile.chunk("IHDR", header)
      for start in stride(from: 0, to: bytes.count, by: length) {
        file += PNGFile.chunk("IDAT", Array(bytes[start..<min(start + length, bytes.count)]))
      }
      let rows = try Self.rowCount(of: file + PNGFile.chunk("IEND", []))

      #expect(rows <= (1 + 258 * runs) / (Self.width + 1), "in chunks of \(length)")
    }
  }
}
