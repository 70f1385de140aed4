/// Rows that one of our own codecs makes one at a time, each in a line of bounds-checked memory.
final class LineRows: RowSource {
  /// Writes every pixel of one row, RGBA in memory order.
  ///
  /// It is called for the rows in order.
  typealias Fill = (_ row: Int, _ line: inout [UInt32]) throws(ImageError) -> Void

  let width: Int
  let height: Int
  let hasAlpha: Bool
  let damage: ImageError?
  private let fill: Fill
  private var line: [UInt32]
  private var row = 0
  private var failure: ImageError?

  /// `damage` is what is known to be wrong before a row is read.
  init(width: Int, height: Int, hasAlpha: Bool, damage: ImageError? = nil, fill: @escaping Fill) {
    (self.width, self.height, self.hasAlpha) = (width, height, hasAlpha)
    (self.damage, self.fill) = (damage, fill)
    line = [UInt32](repeating: 0, count: width)
  }

  func read(into rows: UnsafeMutableRawBufferPointer, bytesPerRow: Int, count: Int) throws(ImageError) -> Int {
    var done = 0
    while done < count, row < height {
      if let failure { throw failure }
      do throws(ImageError) {
        try fill(row, &line)
      } catch {
        // The rows read so far are valid. A fill that failed within a row must not continue.
        failure = error
        if done > 0 { return done }
        throw error
      }
      let start = done * bytesPerRow
      unsafe line.withUnsafeBytes {
        unsafe MutableElements(rows).extracting(start..<start + 4 * width).update(from: Elements($0))
      }
      row += 1
      done += 1
    }
    return done
  }
}

/// Pixels as a ``RowSource`` delivers them: RGBA in memory order, on every machine.
enum Pixel {
  static let opaqueBlack = UInt32(bigEndian: 0x0000_00FF)

  static func rgba(_ red: UInt8, _ green: UInt8, _ blue: UInt8, _ alpha: UInt8 = 255) -> UInt32 {
    UInt32(bigEndian: UInt32(red) << 24 | UInt32(green) << 16 | UInt32(blue) << 8 | UInt32(alpha))
  }
}
