import CVitrineCodecs
import VitrineRuntime

/// A PNG file that grows: chunks, and compressed pixels in chunks of bounded size.
@safe
final class PNGOutput {
  /// The largest number of bytes of compressed pixels in a chunk.
  private static let dataLimit = 1 << 20

  // Owned: allocated with malloc, freed in deinit unless `finish` has passed it on. Used by one thread at a time.
  private var bytes: UnsafeMutablePointer<UInt8>?
  private(set) var count = 0
  private var capacity = 0
  /// The start of the open chunk of pixels.
  private var dataStart: Int?

  init() throws(ImageError) { try append(PNGHeader.signature) }

  deinit { unsafe free(bytes) }

  /// Makes room for so many more bytes, and returns its start; ``advance(_:)`` says how many were written.
  func reserve(_ more: Int) throws(ImageError) -> UnsafeMutablePointer<UInt8> {
    if unsafe more > capacity - count || bytes == nil {
      let larger = max(count + more, capacity + capacity / 2, 1 << 14)
      // `bytes` was allocated with malloc, or is nil.
      guard let grown = unsafe realloc(bytes, larger) else {
        throw ImageError(.notEncodable, format: .png, "not enough memory for a PNG file of more than \(count) bytes")
      }
      unsafe bytes = grown.assumingMemoryBound(to: UInt8.self)
      capacity = larger
    }
    guard let start = unsafe bytes else { preconditionFailure("memory was allocated above") }
    return unsafe start + count
  }

  func advance(_ written: Int) {
    precondition(written <= capacity - count)
    count += written
  }

  func append(_ more: some Collection<UInt8>) throws(ImageError) {
    // As much room as there are bytes.
    let room = try unsafe UnsafeMutableBufferPointer(start: reserve(more.count), count: more.count)
    _ = unsafe room.initialize(from: more)
    advance(more.count)
  }

  /// Appends a chunk.
  func chunk(_ type: UInt32, _ body: some Collection<UInt8>) throws(ImageError) {
    let start = try open(type)
    try append(body)
    try close(start)
  }

  /// Prepares room for compressed pixels, in a new chunk if the last one is large.
  func reserveData(_ more: Int) throws(ImageError) -> UnsafeMutablePointer<UInt8> {
    if let dataStart, count - dataStart > Self.dataLimit { try closeData() }
    if dataStart == nil { dataStart = try open(PNGHeader.Chunk.IDAT) }
    return try unsafe reserve(more)
  }

  private func closeData() throws(ImageError) {
    if let dataStart { try close(dataStart) }
    dataStart = nil
  }

  private func open(_ type: UInt32) throws(ImageError) -> Int {
    let start = count
    try append(Self.big(0) + Self.big(type))
    return start
  }

  /// Writes the length and the checksum of the chunk that begins at `start`.
  private func close(_ start: Int) throws(ImageError) {
    let length = count - start - 8
    guard let bytes = unsafe bytes, length < 1 << 31 else {
      throw ImageError(.notEncodable, format: .png, "a chunk of \(length) bytes is too long for PNG")
    }
    for (index, byte) in Self.big(UInt32(truncatingIfNeeded: length)).enumerated() {
      // The first four bytes of the chunk.
      unsafe bytes[start + index] = byte
    }
    // The checksum is of type and body.
    try append(Self.big(unsafe vitrine_crc32(0, bytes + start + 4, length + 4)))
  }

  /// Ends the file and passes on its memory.
  func finish() throws(ImageError) -> Data {
    try closeData()
    try chunk(PNGHeader.Chunk.IEND, [])
    guard let whole = unsafe bytes else { return Data() }
    // What was reserved and not needed goes back; the old memory stays valid if that fails.
    let start = unsafe realloc(whole, count) ?? UnsafeMutableRawPointer(whole)
    unsafe bytes = nil
    return unsafe Data(bytesNoCopy: start, count: count, deallocator: .free)
  }

  static func big(_ value: UInt32) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }
}
