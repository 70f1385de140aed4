/// Memory for pixels that are kept, not zeroed.
///
/// Blocks of 64 KB and more come from the system, page by page, and return to it at once. An allocator keeps freed
/// memory for itself, and once it has seen large blocks freed, it also takes large ones from its heaps. There they
/// leave gaps between longer-lived allocations: a cache of 128 MB of thumbnails took 35 MB more.
@safe
package final class PageMemory {
  // The bytes are owned: allocated in init, freed in deinit.
  package let bytes: UnsafeMutableRawBufferPointer
  private let mappedByteCount: Int

  /// The minimum size of a mapped block, in bytes.
  ///
  /// A smaller one would waste much of its last page, and a system call.
  private static let leastMapped = 64 << 10
  /// The size from which page faults would take as long as a decode, in bytes.
  private static let leastHuge = 4 << 20

  /// The size of a large page, in bytes.
  private static let hugePage = 2 << 20

  /// Allocates memory that the caller will write completely.
  package convenience init(byteCount: Int) {
    self.init(byteCount: byteCount, mapping: byteCount, isHuge: byteCount >= Self.leastHuge)
  }

  /// Allocates memory for a file of more than a megabyte, in large pages; the last one may be larger than necessary.
  package convenience init(forFileOf byteCount: Int) {
    let rest = byteCount % Self.hugePage
    let isRounded = rest >= Self.hugePage / 4
    self.init(byteCount: byteCount, mapping: isRounded ? byteCount - rest + Self.hugePage : byteCount, isHuge: true)
  }

  private init(byteCount: Int, mapping: Int, isHuge: Bool) {
    #if !os(Windows)
    if byteCount >= Self.leastMapped, !Self.isSanitized {
      let page = Int(getpagesize())
      let count = (mapping + page - 1) / page * page
      if let mapped = unsafe mmap(nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
        unsafe mapped != MAP_FAILED
      {
        #if os(Linux)
        if isHuge { unsafe madvise(mapped, count, CInt(MADV_HUGEPAGE)) }
        #endif
        unsafe bytes = UnsafeMutableRawBufferPointer(start: mapped, count: byteCount)
        mappedByteCount = count
        return
      }
    }
    #endif
    unsafe bytes = .allocate(byteCount: byteCount, alignment: 64)
    mappedByteCount = 0
  }

  deinit {
    #if !os(Windows)
    if mappedByteCount > 0 {
      unsafe munmap(bytes.baseAddress, mappedByteCount)
      return
    }
    #endif
    unsafe bytes.deallocate()
  }

  #if !os(Windows)
  /// A Boolean value that indicates whether the address sanitizer is on, which sees only its own allocations.
  private static let isSanitized = unsafe dlsym(dlopen(nil, RTLD_NOW), "__asan_init") != nil
  #endif
}
