import CVitrineSandbox
import Synchronization
package import VitrineImaging
import VitrineRuntime

/// Memory that a program shares with its worker.
///
/// The program makes and seals it, so that the worker cannot resize it: an access never fails. What it contains may
/// change at any moment, so the program copies before it looks.
// @unchecked: the members never change. What is in the memory is copied as bytes, whoever writes meanwhile.
@safe
package final class SharedMapping: @unchecked Sendable {
  /// The maximum number of bytes, on the wire and here.
  package static let limit = 1 << 40

  // Owned: mapped in init, unmapped in deinit.
  private let bytes: UnsafeMutableRawBufferPointer

  /// The bytes, valid while this object lives.
  package var elements: MutableElements<UInt8> { unsafe MutableElements(bytes) }
  /// The number of bytes.
  package var byteCount: Int { unsafe bytes.count }

  /// Makes memory of at least `byteCount` bytes, zero at first; `nil` if the system refuses.
  ///
  /// `share` is called with its descriptor, which is closed afterwards.
  package init?(byteCount: Int, share: (Int32) -> Void) {
    let descriptor = vitrine_make_shared_memory(byteCount)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    guard let bytes = unsafe Self.map(descriptor, byteCount, PROT_READ | PROT_WRITE) else { return nil }
    unsafe self.bytes = bytes
    share(descriptor)
  }

  /// Maps the memory behind a descriptor; `nil` if it does not have `byteCount` bytes.
  package init?(_ descriptor: Int32, byteCount: Int, isWritable: Bool) {
    var status = stat()
    // The kernel writes only into `status`.
    guard unsafe fstat(descriptor, &status) == 0, status.st_size >= byteCount,
      let bytes = unsafe Self.map(descriptor, byteCount, isWritable ? PROT_READ | PROT_WRITE : PROT_READ)
    else { return nil }
    unsafe self.bytes = bytes
  }

  deinit { unsafe munmap(bytes.baseAddress, bytes.count) }

  /// Gives back the memory of the pages of a mapped file that have been read; they are read again when they are needed.
  package func forget() { _ = unsafe madvise(bytes.baseAddress, bytes.count, MADV_DONTNEED) }

  /// Overwrites bytes with zeros; those outside do not count.
  package func clear(_ range: Range<Int>) { elements.extracting(range.clamped(to: 0..<byteCount)).clear() }

  /// The first bytes as a flag that both ends access at once.
  package var flag: Bool {
    get { unsafe word.pointee.load(ordering: .relaxed) != 0 }
    set { unsafe word.pointee.store(newValue ? 1 : 0, ordering: .relaxed) }
  }

  private var word: UnsafeMutablePointer<Atomic<UInt32>> {
    // At the start of a page, and as long as the mapping lives; it is used as nothing else.
    unsafe UnsafeMutableRawPointer(bytes.baseAddress.unsafelyUnwrapped).assumingMemoryBound(to: Atomic<UInt32>.self)
  }

  private static func map(_ descriptor: Int32, _ count: Int, _ protection: Int32) -> UnsafeMutableRawBufferPointer? {
    guard let start = unsafe mmap(nil, count, protection, MAP_SHARED, descriptor, 0), unsafe start != MAP_FAILED else {
      return nil
    }
    return unsafe UnsafeMutableRawBufferPointer(start: start, count: count)
  }
}
