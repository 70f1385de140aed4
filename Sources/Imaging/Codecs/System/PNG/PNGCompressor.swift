import CVitrineCodecs
import VitrineRuntime

/// A compressor of filtered rows into a PNG file's chunks (zlib streams, RFC 1950).
protocol PNGCompressor: AnyObject {
  /// The memory for the next bytes: at least `least`, of which there are at most 8, and 32 more that may be
  /// overwritten.
  func room(_ least: Int) throws(ImageError) -> UnsafeMutableBufferPointer<UInt8>
  /// Takes bytes that were written into the room.
  func advance(_ count: Int)
  /// Ends the stream.
  func finish() throws(ImageError)
}

/// zlib, which finds repetitions in graphics.
@safe
final class ZlibCompressor: PNGCompressor {
  private let file: PNGOutput
  // Owned: made in init, destroyed in deinit, used by one thread at a time.
  private let deflater: OpaquePointer
  private let buffer: UnsafeMutablePointer<UInt8>
  private let capacity: Int
  private var count = 0

  /// Makes a compressor of zlib's level, from 1 to 9.
  ///
  /// `byteCount` is the number of bytes that will come: a small picture needs only a small window.
  init(_ file: PNGOutput, level: Int, byteCount: Int) throws(ImageError) {
    let bits = (9...14).first { byteCount <= 1 << $0 } ?? 15
    guard let deflater = unsafe vitrine_deflate_create(Int32(level), Int32(bits)) else {
      throw ImageError(.notEncodable, format: .png, "not enough memory for zlib")
    }
    self.file = file
    unsafe self.deflater = deflater
    capacity = min(max(byteCount, 8), 1 << 16)
    unsafe buffer = .allocate(capacity: capacity + 32)
  }

  deinit {
    unsafe vitrine_deflate_destroy(deflater)
    unsafe buffer.deallocate()
  }

  func room(_ least: Int) throws(ImageError) -> UnsafeMutableBufferPointer<UInt8> {
    if count + least > capacity { try deflate(isLast: false) }
    return unsafe UnsafeMutableBufferPointer(start: buffer + count, count: capacity - count)
  }

  func advance(_ count: Int) { self.count += count }

  func finish() throws(ImageError) { try deflate(isLast: true) }

  private func deflate(isLast: Bool) throws(ImageError) {
    var (left, hasEnded) = (count, false)
    repeat {
      let space = 1 << 14
      var room = space
      // `left` bytes of the buffer, into `space` bytes of the file.
      let output = try unsafe file.reserveData(space)
      hasEnded = unsafe vitrine_deflate(deflater, buffer + count - left, &left, output, &room, isLast ? 1 : 0) != 0
      file.advance(space - room)
    } while left > 0 || (isLast && !hasEnded)
    count = 0
  }
}
