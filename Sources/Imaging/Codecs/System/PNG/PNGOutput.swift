import CVitrineCodecs
import VitrineRuntime

/// A PNG file that grows: chunks, and compressed pixels in chunks of bounded size.
@safe
final class PNGOutput {
  private static var nothing: MutableElements<UInt8> {
    unsafe MutableElements(UnsafeMutableRawBufferPointer(start: nil, count: 0))
  }
  /// The largest number of bytes of compressed pixels in a chunk.
  private static let dataLimit = 1 << 20

  // Owned: allocated with malloc, freed in deinit unless `finish` has passed it on. Used by one thread at a time.
  private var memory = nothing
  private(set) var count = 0
  /// The start of the open chunk of pixels.
  private var dataStart: Int?

  init() throws(ImageError) { try append(PNGHeader.signature) }

  deinit { unsafe memory.withUnsafeBufferPointer { unsafe free($0.baseAddress) } }

  /// Makes room for so many more bytes; ``advance(_:)`` says how many were written.
  func reserve(_ more: Int) throws(ImageError) -> MutableElements<UInt8> {
    if more > memory.count - count || memory.count == 0 {
      try resize(max(count + more, memory.count + memory.count / 2, 1 << 14))
    }
    return memory.extracting(count..<count + more)
  }

  private func resize(_ larger: Int) throws(ImageError) {
    // The memory was allocated with malloc, or there is none.
    guard let grown = unsafe memory.withUnsafeBufferPointer({ unsafe realloc($0.baseAddress, larger) }) else {
      throw ImageError(.notEncodable, format: .png, "not enough memory for a PNG file of more than \(count) bytes")
    }
    memory = unsafe MutableElements(UnsafeMutableRawBufferPointer(start: grown, count: larger))
  }

  func advance(_ written: Int) {
    precondition(written <= memory.count - count)
    count += written
  }

  func append(_ more: some Collection<UInt8>) throws(ImageError) {
    let room = try reserve(more.count)
    Array(more).withElements { room.update(from: $0) }
    advance(more.count)
  }

  /// Appends a chunk.
  func chunk(_ type: UInt32, _ body: some Collection<UInt8>) throws(ImageError) {
    let start = try open(type)
    try append(body)
    try close(start)
  }

  /// Prepares room for compressed pixels, in a new chunk if the last one is large.
  func reserveData(_ more: Int) throws(ImageError) -> MutableElements<UInt8> {
    if let dataStart, count - dataStart > Self.dataLimit { try closeData() }
    if dataStart == nil { dataStart = try open(PNGHeader.Chunk.IDAT) }
    return try reserve(more)
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
    guard length < 1 << 31 else {
      throw ImageError(.notEncodable, format: .png, "a chunk of \(length) bytes is too long for PNG")
    }
    for (index, byte) in Self.big(UInt32(truncatingIfNeeded: length)).enumerated() { memory[start + index] = byte }
    // The checksum is of type and body.
    let checksum = unsafe memory.extracting(start + 4..<count).withUnsafeBufferPointer {
      unsafe vitrine_crc32(0, $0.baseAddress, $0.count)
    }
    try append(Self.big(checksum))
  }

  /// Ends the file and passes on its memory.
  func finish() throws(ImageError) -> Data {
    try closeData()
    try chunk(PNGHeader.Chunk.IEND, [])
    // What was reserved and not needed goes back; the old memory stays valid if that fails.
    try? resize(count)
    let whole = memory
    memory = Self.nothing
    return unsafe whole.withUnsafeBufferPointer {
      unsafe $0.baseAddress.map { unsafe Data(bytesNoCopy: $0, count: count, deallocator: .free) } ?? Data()
    }
  }

  static func big(_ value: UInt32) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }
}
