import Testing
import VitrineCaching
import VitrineRuntime

/// The same numbers in every run.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// Starts threads, and returns when all have ended their work.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
  let ended = Monitor(0)
  for number in 0..<count {
    let isStarted = startThread(named: "test") {
      body(number)
      ended.withLock { $0 += 1 }
      ended.broadcast()
    }
    precondition(isStarted)
  }
  ended.wait { $0 == count ? .leave(()) : .wait }
}

func key(_ number: Int) -> CacheKey {
  CacheKey { $0.append("https://example.com/\(number).jpg") }
}
