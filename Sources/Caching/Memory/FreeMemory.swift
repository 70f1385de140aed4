import CVitrineCaching

/// The freed memory that the allocator still holds.
package enum FreeMemory {
  /// Returns freed memory to the system; blocks for some milliseconds a gigabyte.
  ///
  /// Glibc keeps freed memory below any block that is still in use. Other allocators return it by themselves.
  package static func returnToSystem() { vitrine_return_free_memory() }
}
