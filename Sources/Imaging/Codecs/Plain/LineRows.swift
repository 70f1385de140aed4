/// Rows that a codec written here makes one at a time, each in a line of checked memory.
final class LineRows: RowSource {
  /// Writes every pixel of one row, RGBA in memory order; rows are asked for from the first to the last.
  typealias Fill = (_ row: Int, _ line: inout [UInt32]) throws(ImageError) -> Void

  let width: Int
  let height: Int
  let hasAlpha: Bool
  let damage: ImageError?
  private let fill: Fill
  private var line: [UInt32]
  private var row = 0
  private var failure: ImageError?

  /// Takes with `damage` what is known to be wrong before a row is read.
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
        // The rows that were read before it are good; what stopped in the middle of a row is not to go on.
        failure = error
        if done > 0 { return done }
        throw error
      }
      let start = done * bytesPerRow
      // The slice is checked, and the line is `4 * width` bytes.
      unsafe line.withUnsafeBytes { source in
        unsafe UnsafeMutableRawBufferPointer(rebasing: rows[start..<start + 4 * width]).copyMemory(from: source)
      }
      row += 1
      done += 1
    }
    return done
  }
}

/// Pixels as the rows of a ``RowSource`` hold them: RGBA in memory order, whatever the machine's.
enum Pixel {
  static let opaqueBlack = UInt32(bigEndian: 0x0000_00FF)

  static func rgba(_ red: UInt8, _ green: UInt8, _ blue: UInt8, _ alpha: UInt8 = 255) -> UInt32 {
    UInt32(bigEndian: UInt32(red) << 24 | UInt32(green) << 16 | UInt32(blue) << 8 | UInt32(alpha))
  }
}
