/// The cells of one component, one byte each, in rows of `width`.
final class SamplePlane {
  let width: Int
  let height: Int
  // Used by one thread at a time.
  private let samples: OwnedElements<UInt8>

  init(width: Int, height: Int) {
    (self.width, self.height) = (width, height)
    samples = OwnedElements(repeating: 128, count: width * height)
  }

  /// Returns a row, valid while this object lives.
  func row(_ index: Int) -> Elements<UInt8> {
    samples.elements.elements.extracting(index * width..<(index + 1) * width)
  }

  /// Returns the cells from a place on, valid while this object lives.
  func cells(column: Int, row: Int) -> Cells {
    Cells(samples: samples.elements, start: row * width + column, stride: width)
  }
}

/// Cells of a ``SamplePlane``, as plain values that must not outlive it.
struct Cells: BitwiseCopyable {
  let samples: MutableElements<UInt8>
  var start: Int
  let stride: Int

  /// The cells `columns` to the right of these.
  @inline(__always)
  func moved(by columns: Int) -> Cells { Cells(samples: samples, start: start &+ columns, stride: stride) }

  @inline(__always)
  func set(_ column: Int, _ row: Int, _ value: UInt8) { samples[start &+ row &* stride &+ column] = value }

  @inline(__always)
  func fill(_ columns: Int, _ rows: Int, _ value: UInt8) {
    for row in 0..<rows {
      for column in 0..<columns { set(column, row, value) }
    }
  }
}

/// Converts rows of cells to RGBA, as many as there is room for.
enum CellColors {
  static func writeGrey(_ grey: Elements<UInt8>, into pixels: MutableElements<UInt8>) {
    let grey = grey.extracting(0..<pixels.count / 4)
    write(into: pixels) { UInt32(grey[$0]) &* 0x01_0101 }
  }

  static func writeRGB(
    _ red: Elements<UInt8>,
    _ green: Elements<UInt8>,
    _ blue: Elements<UInt8>,
    into pixels: MutableElements<UInt8>,
  ) {
    // Of the same length, so that one check serves for all.
    let all = 0..<pixels.count / 4
    let (red, green, blue) = (red.extracting(all), green.extracting(all), blue.extracting(all))
    write(into: pixels) { UInt32(red[$0]) | UInt32(green[$0]) &<< 8 | UInt32(blue[$0]) &<< 16 }
  }

  /// Converts as JFIF says, with libjpeg's constants and rounding.
  static func writeYCC(
    _ luma: Elements<UInt8>,
    _ blueness: Elements<UInt8>,
    _ redness: Elements<UInt8>,
    into pixels: MutableElements<UInt8>,
  ) {
    let all = 0..<pixels.count / 4
    let (luma, blueness, redness) = (luma.extracting(all), blueness.extracting(all), redness.extracting(all))
    write(into: pixels) { index in
      let y = Int32(luma[index])
      let cb = Int32(blueness[index]) &- 128
      let cr = Int32(redness[index]) &- 128
      let red = clamped(y &+ (91_881 &* cr &+ 32_768) &>> 16)
      let green = clamped(y &+ (-22_554 &* cb &- 46_802 &* cr &+ 32_768) &>> 16)
      let blue = clamped(y &+ (116_130 &* cb &+ 32_768) &>> 16)
      return red | green &<< 8 | blue &<< 16
    }
  }

  @inline(__always)
  private static func write(into pixels: MutableElements<UInt8>, _ color: (Int) -> UInt32) {
    unsafe pixels.withUnsafeBufferPointer { pixels in
      guard let start = UnsafeMutableRawPointer(pixels.baseAddress) else { return }
      for index in 0..<pixels.count / 4 {
        let pixel = (color(index) | 0xFF00_0000).littleEndian
        // In bounds: a fourth of the bytes, four bytes each.
        unsafe start.storeBytes(of: pixel, toByteOffset: index &* 4, as: UInt32.self)
      }
    }
  }

  @inline(__always)
  private static func clamped(_ value: Int32) -> UInt32 { UInt32(truncatingIfNeeded: min(max(value, 0), 255)) }
}
