import VitrineRuntime

/// The memory of a bitmap's pixels.
// @unchecked: written only before the initialiser that made it returns, or while one bitmap alone refers to it
// (`Bitmap.withElementsForWriting`); read only otherwise.
@safe
package final class PixelStorage: @unchecked Sendable {
  let buffer: UnsafeMutableRawBufferPointer
  /// The bytes, valid while the storage lives.
  var elements: MutableElements<UInt8> { unsafe MutableElements(buffer) }
  private let memory: PageMemory?
  /// A Boolean value that indicates whether the memory ends with the storage.
  var isOwner: Bool { memory != nil }

  /// Allocates uninitialised memory, aligned to 64 bytes.
  init(count: Int) {
    // Not zeroed, because its maker writes every byte. 64 is a cache line, and enough for any vector instruction.
    let memory = PageMemory(byteCount: count)
    unsafe buffer = memory.bytes
    self.memory = memory
  }

  /// Uses memory that stays for the life of the bitmap.
  init(borrowing memory: UnsafeMutableRawBufferPointer) {
    unsafe buffer = memory
    self.memory = nil
  }
}
