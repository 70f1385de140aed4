import Testing
import VitrineAVIF
import VitrineImaging
import VitrineJXL
import VitrineRuntime
import VitrineSandbox
import VitrineTesting

/// Images that a worker decodes on several threads, which its confinement allows.
struct ThreadTests {
  /// Large enough for threads.
  private static let picture = Bitmap.testPattern(width: 1100, height: 1000)
  private static let files: [(name: String, file: Data?)] = {
    var encoders = EncoderRegistry([])
    encoders.add(.avif)
    encoders.add(.jxl)
    return [
      ("avif", try? encoders.encode(picture, as: .avif(speed: 10))),
      ("jxl", try? encoders.encode(picture, as: .jxl(effort: 3))),
    ]
  }()

  @Test(arguments: ["avif", "jxl"])
  func aLoneImageIsTheSameOnSeveralThreads(name: String) throws {
    let file = try #require(Self.files.first { $0.name == name }?.file)
    let sandbox = try Sandbox.built { ($0.processes, $0.startsAhead) = (1, false) }
    let cores = CoreBudget(count: 8)
    var options = DecodeOptions()
    let own = try ownDecoders.decode(file, options, DecodeJob(cores: CoreBudget(count: 1))).bitmap

    // Little more than it needs: stacks and other memory of threads are not the image's.
    for limit in [options.limits.memoryByteCount, 100 << 20, 70 << 20] {
      options.limits.memoryByteCount = limit
      #expect(
        try sandbox.decoders.decode(file, options, DecodeJob(cores: cores)).bitmap.largestDifference(from: own) == 0
      )
    }

    #expect(cores.usedCount == 0)
    #expect(sandbox.counts.crashed == 0)
    #expect(sandbox.counts.started == 1)
  }

  @Test
  func aCancelledImageGivesItsCoresBack() throws {
    let file = try #require(Self.files.first { $0.name == "jxl" }?.file)
    let sandbox = try Sandbox.built { $0.processes = 1 }
    let cores = CoreBudget(count: 4)
    let calls = Watched(0)
    var options = DecodeOptions()
    options.isCancelled = {
      calls.change { $0 += 1 }
      return calls.value > 3
    }

    let error = #expect(throws: ImageError.self) {
      try sandbox.decoders.decode(file, options, DecodeJob(cores: cores))
    }

    #expect(error?.code == .cancelled)
    #expect(cores.usedCount == 0)
  }
}
