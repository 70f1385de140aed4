/// The cells of one component, one byte each, in rows of `width`.
@safe
final class SamplePlane {
  let width: Int
  let height: Int
  // Owned: allocated in init, freed in deinit, used by one thread at a time.
  let samples: UnsafeMutablePointer<UInt8>

  init(width: Int, height: Int) {
    (self.width, self.height) = (width, height)
    unsafe samples = .allocate(capacity: width * height)
    unsafe samples.initialize(repeating: 128, count: width * height)
  }

  deinit { unsafe samples.deallocate() }

  /// Returns the start of a row.
  func row(_ index: Int) -> UnsafeMutablePointer<UInt8> {
    precondition(index >= 0 && index < height)
    return unsafe samples + index * width
  }
}

/// Converts rows of cells to RGBA.
enum CellColors {
  static func writeGrey(_ grey: UnsafePointer<UInt8>, into pixels: UnsafeMutableRawPointer, count: Int) {
    for index in 0..<count {
      // The caller's rows are `count` long, here and below.
      unsafe store(UInt32(grey[index]) &* 0x01_0101, into: pixels, at: index)
    }
  }

  static func writeRGB(
    _ red: UnsafePointer<UInt8>,
    _ green: UnsafePointer<UInt8>,
    _ blue: UnsafePointer<UInt8>,
    into pixels: UnsafeMutableRawPointer,
    count: Int,
  ) {
    for index in 0..<count {
      let color = unsafe UInt32(red[index]) | UInt32(green[index]) &<< 8 | UInt32(blue[index]) &<< 16
      unsafe store(color, into: pixels, at: index)
    }
  }

  /// Converts as JFIF says, with libjpeg's constants and rounding.
  static func writeYCC(
    _ luma: UnsafePointer<UInt8>,
    _ blueness: UnsafePointer<UInt8>,
    _ redness: UnsafePointer<UInt8>,
    into pixels: UnsafeMutableRawPointer,
    count: Int,
  ) {
    for index in 0..<count {
      let y = unsafe Int32(luma[index])
      let cb = unsafe Int32(blueness[index]) &- 128
      let cr = unsafe Int32(redness[index]) &- 128
      let red = clamped(y &+ (91_881 &* cr &+ 32_768) &>> 16)
      let green = clamped(y &+ (-22_554 &* cb &- 46_802 &* cr &+ 32_768) &>> 16)
      let blue = clamped(y &+ (116_130 &* cb &+ 32_768) &>> 16)
      unsafe store(red | green &<< 8 | blue &<< 16, into: pixels, at: index)
    }
  }

  @inline(__always)
  private static func store(_ color: UInt32, into pixels: UnsafeMutableRawPointer, at index: Int) {
    unsafe pixels.storeBytes(of: (color | 0xFF00_0000).littleEndian, toByteOffset: index &* 4, as: UInt32.self)
  }

  @inline(__always)
  private static func clamped(_ value: Int32) -> UInt32 { UInt32(truncatingIfNeeded: min(max(value, 0), 255)) }
}
