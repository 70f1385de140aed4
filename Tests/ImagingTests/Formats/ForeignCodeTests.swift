import Testing
import VitrineRuntime
import VitrineTestSupport

@testable import VitrineImaging

/// What is not Vitrine's may call back wherever it is called or released.
@Suite(.patient)
struct ForeignCodeTests {
  @Test
  func theBytesOfAProfileMayBeFreedByWhoUsesProfiles() {
    let freed = Lock(0)
    // None of them is a profile; that is kept as well.
    for number in 0..<20 {
      let memory = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 1)
      // Just allocated, and freed by nobody but the closure.
      unsafe memory.initializeMemory(as: UInt8.self, repeating: UInt8(number), count: 64)
      let data = unsafe Data(
        bytesNoCopy: memory,
        count: 64,
        deallocator: .custom { memory, _ in
          unsafe memory.deallocate()
          let other = ColorProfile(data: Data([200, UInt8(number)]))
          #expect(ProfileTransform.cached(other, .rgb, to: .sRGB) == nil)
          freed.withLock { $0 += 1 }
        },
      )
      #expect(ProfileTransform.cached(ColorProfile(data: data), .rgb, to: .sRGB) == nil)
    }
    #expect(freed.withLock { $0 } > 0)
  }
}
