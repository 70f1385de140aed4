import CVitrineCaching

<<<<<<< HEAD
/// The freed memory that the allocator still holds.
=======
/// The freed memory that the allocator holds.
>>>>>>> h2b
package enum FreeMemory {
  /// Returns freed memory to the system; blocks for some milliseconds a gigabyte.
  ///
  /// Glibc keeps freed memory below any block that is still in use. Other allocators return it by themselves.
  package static func returnToSystem() { vitrine_return_free_memory() }
}
