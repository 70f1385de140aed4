/// The memory of a bitmap's pixels, which is written once.
// @unchecked: written only before the initialiser that made it returns, read only after.
@safe
final class PixelStorage: @unchecked Sendable {
  let buffer: UnsafeMutableRawBufferPointer
  private let isOwned: Bool

  /// Allocates uninitialised memory.
  init(count: Int) {
    // Not zeroed, because its maker writes every byte. 64 is a cache line, and enough for any vector instruction.
    unsafe buffer = .allocate(byteCount: count, alignment: 64)
    isOwned = true
  }

  /// Uses memory that stays for the life of the bitmap.
  init(borrowing memory: UnsafeMutableRawBufferPointer) {
    unsafe buffer = memory
    isOwned = false
  }

  deinit {
    if isOwned { unsafe buffer.deallocate() }
  }
}
