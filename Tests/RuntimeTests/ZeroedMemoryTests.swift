import Testing
import VitrineRuntime

struct ZeroedMemoryTests {
  @Test(arguments: [0, 1, 4000, 1 << 20, 3_000_001])
  func itIsZeroAndMayBeWrittenToItsEnd(count: Int) {
    // Twice, since an allocator hands out memory that was written before.
    for _ in 0..<2 {
      let memory = ZeroedMemory(byteCount: count)
      let (all, zeros) = unsafe (memory.bytes.count, memory.bytes.allSatisfy { $0 == 0 })

      #expect(all == count)
      #expect(zeros)

      unsafe memory.bytes.initializeMemory(as: UInt8.self, repeating: 0xFF)
    }
  }
}
