import CVitrineCodecs
import VitrineRuntime

/// A compressor of filtered rows into a PNG file's chunks (zlib streams, RFC 1950).
protocol PNGCompressor: AnyObject {
  /// The memory for the next bytes: at least `least`, of which there are at most 8, and ``PNGScanlines/spare`` more
  /// that may be overwritten.
  func room(_ least: Int) throws(ImageError) -> MutableElements<UInt8>
  /// Takes bytes that were written into the room.
  func advance(_ count: Int)
  /// Ends the stream.
  func finish() throws(ImageError)
}

/// zlib's state for one stream.
@safe
final class Deflater {
  // Owned: made in init, destroyed in deinit, used by one thread at a time.
  private let deflater: OpaquePointer

  /// Makes a compressor of zlib's level, from 1 to 9, with a window of 2^`bits` bytes.
  init(level: Int, bits: Int) throws(ImageError) {
    guard let deflater = unsafe vitrine_deflate_create(Int32(level), Int32(bits)) else {
      throw ImageError(.notEncodable, format: .png, "not enough memory for zlib")
    }
    unsafe self.deflater = deflater
  }

  deinit { unsafe vitrine_deflate_destroy(deflater) }

  /// Takes bytes as far as there is room, and returns the numbers of those that it has read and written.
  func deflate(
    _ bytes: Elements<UInt8>,
    into room: MutableElements<UInt8>,
    isLast: Bool,
  ) -> (read: Int, written: Int, hasEnded: Bool) {
    var (left, space) = (bytes.count, room.count)
    let hasEnded = unsafe bytes.withUnsafeBufferPointer { bytes in
      unsafe room.withUnsafeBufferPointer { room in
        // zlib keeps to the two counts.
        unsafe vitrine_deflate(deflater, bytes.baseAddress, &left, room.baseAddress, &space, isLast ? 1 : 0) != 0
      }
    }
    return (bytes.count - left, room.count - space, hasEnded)
  }
}

/// zlib, which finds repetitions in graphics.
final class ZlibCompressor: PNGCompressor {
  private let file: PNGOutput
  private let deflater: Deflater
  private let buffer: OwnedElements<UInt8>
  private let capacity: Int
  private var count = 0

  /// Makes a compressor of zlib's level, from 1 to 9.
  ///
  /// `byteCount` is the number of bytes that will come: a small picture needs only a small window.
  init(_ file: PNGOutput, level: Int, byteCount: Int) throws(ImageError) {
    let bits = (9...14).first { byteCount <= 1 << $0 } ?? 15
    deflater = try Deflater(level: level, bits: bits)
    self.file = file
    capacity = min(max(byteCount, 8), 1 << 16)
    buffer = OwnedElements(repeating: 0, count: capacity + PNGScanlines.spare)
  }

  func room(_ least: Int) throws(ImageError) -> MutableElements<UInt8> {
    if count + least > capacity { try deflate(isLast: false) }
    return buffer.elements.extracting(count..<capacity + PNGScanlines.spare)
  }

  func advance(_ count: Int) { self.count += count }

  func finish() throws(ImageError) { try deflate(isLast: true) }

  private func deflate(isLast: Bool) throws(ImageError) {
    var (start, hasEnded) = (0, false)
    repeat {
      let bytes = buffer.elements.elements.extracting(start..<count)
      let result = try deflater.deflate(bytes, into: file.reserveData(1 << 14), isLast: isLast)
      file.advance(result.written)
      (start, hasEnded) = (start + result.read, result.hasEnded)
    } while start < count || (isLast && !hasEnded)
    count = 0
  }
}
