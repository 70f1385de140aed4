/// Memory for pixels that are kept, not zeroed.
///
/// From 64 KB on it comes from the system, page by page, and goes back there at once. An allocator keeps what is freed
/// for its own later use, and once it has seen large blocks freed it also takes large ones from its heaps. There they
/// leave gaps between what lives longer: a cache of 128 MB of thumbnails took 35 MB more.
@safe
package final class PageMemory {
  // Owned: allocated in init, freed in deinit.
  package let bytes: UnsafeMutableRawBufferPointer
  private let mappedByteCount: Int

  /// Smaller blocks would waste much of their last page, and the time of a system call.
  private static let leastMapped = 64 << 10
  /// From here on, page faults would take as long as a decode.
  private static let leastHuge = 4 << 20

  /// The size of a large page.
  private static let hugePage = 2 << 20

  /// Allocates memory of which all is written.
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
  /// True under the address sanitizer, which sees only what its own allocator gives.
  private static let isSanitized = unsafe dlsym(dlopen(nil, RTLD_NOW), "__asan_init") != nil
  #endif
}
