/// Memory for the pixels of a decode, initially zero.
///
/// From 1 MB on it comes from the system, not from the allocator: only written pages take up memory, and they go back
/// at once. An allocator returns them under a lock, for which other threads would wait.
@safe
package final class ZeroedMemory {
  // The bytes are owned: allocated in init, freed in deinit, used by one thread at a time.
  package let bytes: UnsafeMutableRawBufferPointer
  private let isMapped: Bool

  package init(byteCount: Int) {
    #if !os(Windows)
    if byteCount >= 1 << 20,
      let mapped = unsafe mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
      unsafe mapped != MAP_FAILED
    {
      unsafe bytes = UnsafeMutableRawBufferPointer(start: mapped, count: byteCount)
      isMapped = true
      return
    }
    #endif
    unsafe bytes = .allocate(byteCount: byteCount, alignment: 64)
    unsafe bytes.initializeMemory(as: UInt8.self, repeating: 0)
    isMapped = false
  }

  deinit {
    #if !os(Windows)
    if isMapped {
      unsafe munmap(bytes.baseAddress, bytes.count)
      return
    }
    #endif
    unsafe bytes.deallocate()
  }
}
