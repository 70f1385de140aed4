package import VitrineRuntime

/// The pixels of the Quite OK Image format (qoiformat.org): what stands between its header and its end.
///
/// A pixel is a `UInt32` here: red in the lowest byte, alpha in the highest.
package enum QOIStream {
  private static let start: UInt32 = 0xFF00_0000
  private static let opaque: UInt32 = 0xFF00_0000

  /// The size of the pixels at most, in bytes.
  static func maximumByteCount(of bitmap: Bitmap) -> Int {
    bitmap.width * bitmap.height * (bitmap.alpha == .opaque ? 4 : 5) + 1
  }

  @inline(__always)
  private static func slot(_ pixel: UInt32) -> Int {
    let (red, green, blue, alpha) = (pixel & 255, pixel >> 8 & 255, pixel >> 16 & 255, pixel >> 24)
    return Int((red &* 3 &+ green &* 5 &+ blue &* 7 &+ alpha &* 11) & 63)
  }

  /// Appends a bitmap's pixels to `data`, without alpha if the bitmap is opaque.
  ///
  /// Blocks until done.
  ///
  /// - Parameters:
  ///   - bitmap: The bitmap.
  ///   - data: The bytes before.
  ///   - check: Called every 64 rows; throws to stop.
  /// - Throws: The error of `check`.
  package static func append(
    _ bitmap: Bitmap,
    to data: inout Data,
    check: () throws(ImageError) -> Void = {},
  ) throws(ImageError) {
    let begin = data.count
    data.count = begin + maximumByteCount(of: bitmap)
    var result: Result<Int, ImageError> = .success(0)
    unsafe data.withUnsafeMutableBytes { target in
      do throws(ImageError) {
        let room = unsafe MutableElements(target)
        result = .success(try write(bitmap, into: room.extracting(begin..<room.count), check))
      } catch {
        result = .failure(error)
      }
    }
    data.count = begin + (try result.get())
  }

  /// Writes pixels, and returns the number of bytes; `target` has room for ``maximumByteCount(of:)``.
  private static func write(
    _ bitmap: Bitmap,
    into target: MutableElements<UInt8>,
    _ check: () throws(ImageError) -> Void,
  ) throws(ImageError) -> Int {
    precondition(target.count >= maximumByteCount(of: bitmap))
    let added = bitmap.alpha == .opaque ? opaque : 0
    var table = [UInt32](repeating: 0, count: 64)
    var (last, run, count) = (start, 0, 0)
    try bitmap.withElements { (pixels) throws(ImageError) in
      // At most five bytes a pixel, four without alpha, for which there is room. A slot is below 64.
      func put(_ byte: UInt8) {
        target[count] = byte
        count += 1
      }
      for row in 0..<bitmap.height {
        if row % 64 == 0 { try check() }
        for column in 0..<bitmap.width {
          let stored = pixels.load(at: row &* bitmap.bytesPerRow &+ column &* 4, as: UInt32.self)
          let pixel = UInt32(littleEndian: stored) | added
          if pixel == last {
            run += 1
            if run == 62 {
              put(0xFD)
              run = 0
            }
            continue
          }
          if run > 0 {
            put(0xC0 | UInt8(truncatingIfNeeded: run - 1))
            run = 0
          }
          let slot = slot(pixel)
          if table[slot] == pixel {
            put(UInt8(truncatingIfNeeded: slot))
          } else {
            table[slot] = pixel
            count += writeColor(pixel, after: last, into: target, at: count)
          }
          last = pixel
        }
      }
      if run > 0 { put(0xC0 | UInt8(truncatingIfNeeded: run - 1)) }
    }
    return count
  }

  /// Writes a colour that is in no slot, and returns the number of bytes, of which there is room for five.
  @inline(__always)
  private static func writeColor(
    _ pixel: UInt32,
    after last: UInt32,
    into target: MutableElements<UInt8>,
    at index: Int,
  ) -> Int {
    let red = UInt8(truncatingIfNeeded: pixel) &- UInt8(truncatingIfNeeded: last)
    let green = UInt8(truncatingIfNeeded: pixel >> 8) &- UInt8(truncatingIfNeeded: last >> 8)
    let blue = UInt8(truncatingIfNeeded: pixel >> 16) &- UInt8(truncatingIfNeeded: last >> 16)
    if pixel >> 24 != last >> 24 {
      target[index] = 0xFF
      target.store(pixel.littleEndian, at: index + 1)
      return 5
    }
    if red &+ 2 < 4, green &+ 2 < 4, blue &+ 2 < 4 {
      target[index] = 0x40 | (red &+ 2) << 4 | (green &+ 2) << 2 | (blue &+ 2)
      return 1
    }
    if green &+ 32 < 64, red &- green &+ 8 < 16, blue &- green &+ 8 < 16 {
      target[index] = 0x80 | (green &+ 32)
      target[index + 1] = (red &- green &+ 8) << 4 | (blue &- green &+ 8)
      return 2
    }
    target[index] = 0xFE
    for place in 0..<3 { target[index + 1 + place] = UInt8(truncatingIfNeeded: pixel >> (8 * UInt32(place))) }
    return 4
  }

  /// Reads all pixels of a bitmap of four bytes a pixel.
  ///
  /// Blocks until done.
  ///
  /// - Parameters:
  ///   - bytes: What ``append(_:to:check:)`` has written, and nothing else.
  ///   - pixels: The memory of the bitmap.
  /// - Returns: `false` if the bytes are too few or too many for the pixels.
  package static func read(_ bytes: UnsafeRawBufferPointer, into pixels: UnsafeMutableRawBufferPointer) -> Bool {
    unsafe read(Elements(bytes), into: MutableElements(pixels))
  }

  private static func read(_ bytes: Elements<UInt8>, into pixels: MutableElements<UInt8>) -> Bool {
    var table = [UInt32](repeating: 0, count: 64)
    var (last, offset, target) = (start, 0, 0)
    let (count, end) = (bytes.count, pixels.count & ~3)
    // Each place is checked before it is read or written: bytes may be damaged.
    func byte(_ index: Int) -> UInt32 { UInt32(bytes[index]) }
    while target < end {
      guard offset < count else { return false }
      let tag = byte(offset)
      offset &+= 1
      if tag >= 0xC0, tag < 0xFE {
        let run = min(Int(tag & 63) &+ 1, (end &- target) / 4)
        guard run == Int(tag & 63) &+ 1 else { return false }
        for _ in 0..<run {
          pixels.store(last.littleEndian, at: target)
          target &+= 4
        }
        // As in the format: a run leaves the table as it is, but for the very first pixel.
        table[slot(last)] = last
        continue
      }
      switch tag {
      case 0xFE:
        guard offset &+ 3 <= count else { return false }
        last = last & 0xFF00_0000 | byte(offset) | byte(offset &+ 1) << 8 | byte(offset &+ 2) << 16
        offset &+= 3
      case 0xFF:
        guard offset &+ 4 <= count else { return false }
        last = byte(offset) | byte(offset &+ 1) << 8 | byte(offset &+ 2) << 16 | byte(offset &+ 3) << 24
        offset &+= 4
      case 0x80...:
        guard offset < count else { return false }
        let (green, second) = ((tag & 63) &- 32, byte(offset))
        offset &+= 1
        last = moved(last, green &- 8 &+ second >> 4, green, green &- 8 &+ second & 15)
      case 0x40...: last = moved(last, (tag >> 4 & 3) &- 2, (tag >> 2 & 3) &- 2, (tag & 3) &- 2)
      default: last = table[Int(tag)]
      }
      table[slot(last)] = last
      pixels.store(last.littleEndian, at: target)
      target &+= 4
    }
    return offset == count
  }

  @inline(__always)
  private static func moved(_ pixel: UInt32, _ red: UInt32, _ green: UInt32, _ blue: UInt32) -> UInt32 {
    pixel & 0xFF00_0000 | (pixel &+ red) & 0xFF | ((pixel >> 8 &+ green) & 0xFF) << 8
      | ((pixel >> 16 &+ blue) & 0xFF) << 16
  }
}
