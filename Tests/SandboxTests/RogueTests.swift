import Testing
import VitrineConfinement
import VitrineImaging
import VitrineRuntime
import VitrineSandbox
import VitrineTestSupport
import VitrineTesting

/// Workers whose decoder does what a stranger's file says, and workers that lie.
struct RogueTests {
  /// A file that makes the decoder of the tests do something.
  static func file(_ action: String) -> Data { Data("qoif \(action)".utf8) }

  /// The error of the system that the action met, or 0.
  static func code(_ action: String, in sandbox: Sandbox) throws -> Int32 {
    let bitmap = try sandbox.decoders.decode(file(action)).bitmap
    #expect([bitmap.width, bitmap.height] == [8, 8])
    return Int32(bitmap[0, 0].x)
  }

  private static let layers = (try? ConfinementLayers.present()) ?? []
  static var hasSeccomp: Bool { layers.contains("seccomp") }

  @Test(
    .enabled(if: hasSeccomp),
    arguments: [
      "read /etc/passwd", "read /proc/self/maps", "read /proc/1/environ", "write /tmp/vitrine-rogue",
      "remove /tmp/vitrine-rogue", "newCode", "raiseLimits",
    ],
  )
  func whatIsRefusedCostsNothing(action: String) throws {
    let sandbox = try Sandbox.rogue()

    #expect(try Self.code(action, in: sandbox) == EPERM)
    #expect(try Self.code("nothing", in: sandbox) == 0)
    #expect(sandbox.counts.started == 1)
  }

  @Test(.enabled(if: hasSeccomp), arguments: ["connect", "fork", "exec", "signal", "trace"])
  func whatOnlyAnAttackerDoesEndsTheProcessAndIsNamed(action: String) throws {
    let sandbox = try Sandbox.rogue()

    let error = failure { try sandbox.decoders.decode(Self.file(action)) }

    #expect(error?.code == .decoderFailed)
    #expect(error?.format == .qoi)
    #expect(error?.detail.contains("system call that no decoder makes") == true)
    #expect(try Self.code("nothing", in: sandbox) == 0)
    #expect(sandbox.counts.crashed == 1)
  }

  /// Neither its pixels nor its file: in the input, the output, and all that it had allocated.
  @Test
  func ofAnEarlierImageNothingCanBeRead() throws {
    let sandbox = try Sandbox.rogue { $0.processes = 1 }
    for _ in 0..<3 {
      _ = try Self.code("remember \(String(repeating: "secret", count: 300))", in: sandbox)
      // Longer than the bytes that Foundation copies.
      let found = try Self.code("recall \(String(repeating: "a", count: 30))", in: sandbox)
      #expect(found == 0, "in \(found)")
    }
    #expect(sandbox.counts.started == 1)
  }

  @Test
  func memoryIsLimited() throws {
    let sandbox = try Sandbox.rogue()

    #expect(try Self.code("allocate", in: sandbox) == ENOMEM)
  }

  @Test(arguments: ["spin", "spinOnThreads", "sleep"])
  func whatDoesNotEndIsKilledAfterTheTimeLimitAndRemembered(action: String) throws {
    let sandbox = try Sandbox.rogue { $0.slowShare = 0 }
    // For this file only: others may take their time on a busy machine.
    var options = DecodeOptions()
    options.limits.timeLimit = .milliseconds(700)

    let error = failure { try sandbox.decoders.decode(Self.file(action), options) }

    #expect(error?.code == .outOfTime)
    #expect(error?.limit == .timeLimit)
    #expect(try Self.code("nothing", in: sandbox) == 0)
    #expect(failure { try sandbox.decoders.decode(Self.file(action), options) } == error)
    #expect(sandbox.counts.stopped == 1)
    #expect(sandbox.counts.refused == 1)
    #expect(sandbox.counts.started == 2)
  }

  @Test
  func whatWaitedForTheProcessorIsTriedAgain() throws {
    let sandbox = try Sandbox.rogue()
    var options = DecodeOptions()
    options.limits.timeLimit = .milliseconds(200)
    for _ in 0..<2 {
      #expect(failure { try sandbox.decoders.decode(Self.file("sleep"), options) }?.code == .outOfTime)
    }
    #expect(sandbox.counts.stopped == 2 && sandbox.counts.refused == 0)
  }

  @Test
  func aLongerTimeLimitIsAnotherTry() throws {
    // The process must have begun before it is told to stop, or it would stop.
    let sandbox = try Sandbox.rogue { ($0.timeLimit, $0.slowShare) = (.milliseconds(700), 0) }
    var options = DecodeOptions()
    options.limits.timeLimit = .milliseconds(400)

    _ = failure { try sandbox.decoders.decode(Self.file("sleep"), options) }
    _ = failure { try sandbox.decoders.decode(Self.file("sleep"), options) }
    #expect(sandbox.counts.refused == 1)
    _ = failure { try sandbox.decoders.decode(Self.file("sleep")) }

    #expect(sandbox.counts.refused == 1)
    #expect(sandbox.counts.stopped == 2)
  }

  @Test(arguments: [("crash", "SIGSEGV"), ("abort", "SIGABRT"), ("exit", "ended before its answer")])
  func aCrashCostsOneImageAndIsNamed(action: String, cause: String) throws {
    let sandbox = try Sandbox.rogue()

    let error = failure { try sandbox.decoders.decode(Self.file(action)) }

    #expect(error?.code == .decoderFailed)
    #expect(error?.detail.contains(cause) == true, "\(error?.detail ?? "")")
    #expect(try Self.code("nothing", in: sandbox) == 0)
    #expect(failure { try sandbox.decoders.decode(Self.file(action)) } == error)
    #expect(sandbox.counts.refused == 1)
    #expect(sandbox.counts.crashed == 1)
  }

  @Test
  func aCrashIsNotRememberedIfConfiguredSo() throws {
    let sandbox = try Sandbox.rogue { $0.refusalTime = .zero }

    _ = failure { try sandbox.decoders.decode(Self.file("abort")) }
    _ = failure { try sandbox.decoders.decode(Self.file("abort")) }

    #expect(sandbox.counts.crashed == 2)
    #expect(sandbox.counts.refused == 0)
  }

  @Test(arguments: ["sleep", "spin"])
  func whatIsCancelledIsKilledAndNotRemembered(action: String) throws {
    let sandbox = try Sandbox.rogue()
    // The process is ready, so that what is cancelled is the image, which has begun after so many questions.
    #expect(try Self.code("nothing", in: sandbox) == 0)
    let questions = Lock(0)
    var options = DecodeOptions()
    options.isCancelled = {
      questions.withLock {
        $0 += 1
        return $0 > 12
      }
    }

    #expect(failure { try sandbox.decoders.decode(Self.file(action), options) }?.isCancellation == true)
    #expect(sandbox.counts.stopped == 1)
    #expect(try Self.code("nothing", in: sandbox) == 0)
    #expect(sandbox.counts.refused == 0)
  }

  // MARK: Liars

  /// A sandbox whose worker lies; the name of its program says how.
  static func liar(
    _ name: String,
    _ configure: (inout Sandbox.Configuration) -> Void = { _ in },
  ) throws
    -> (sandbox: Sandbox, folder: TemporaryFolder)
  {
    let folder = try TemporaryFolder()
    try FileManager.default.createSymbolicLink(
      atPath: folder.file(name).path,
      withDestinationPath: try #require(BuiltProgram.path("rogue")),
    )
    let sandbox = try Sandbox {
      $0.program = folder.file(name).path
      $0.startsAhead = false
      configure(&$0)
    }
    return (sandbox, folder)
  }

  @Test(arguments: [
    "helloWithMore", "longMessage", "emptyMessage", "unknownMessage", "secondHello", "permitsWithoutEnd",
    "impossibleHeader", "tooMuchSpace", "spaceForALargerOne", "moreAndMoreSpace", "unknownError", "noImage",
    "otherSize", "otherShare", "pixelsElsewhere",
    "pixelsBehindTheEnd", "profileElsewhere", "moreGains", "longer", "shorter",
  ])
  func aWorkerThatLiesCostsOneImageAndIsEnded(name: String) throws {
    let (sandbox, folder) = try Self.liar(name)
    defer { withExtendedLifetime(folder) {} }

    let error = failure { try sandbox.decoders.decode(Self.file("nothing")) }

    #expect(error?.code == .decoderFailed)
    let isKnown = ["impossible", "is not vitrine-codecs", "ended before"].contains {
      error?.detail.contains($0) == true
    }
    #expect(isKnown, "\(error?.detail ?? "")")
    #expect(sandbox.counts.processes == 0)
  }

  /// What is larger than any memory does not overflow the program's own numbers.
  @Test(arguments: [
    ("allSpace", ImageError.Code.decoderFailed, "impossible length"), ("hugeHeader", .overLimit, "over the limit"),
    ("largeHeader", .decoderFailed, "no memory"),
  ])
  func aWorkerThatLiesWhereNothingIsLimitedCostsOneImage(name: String, code: ImageError.Code, reason: String) throws {
    let (sandbox, folder) = try Self.liar(name) { $0.grace = .seconds(3600) }
    defer { withExtendedLifetime(folder) {} }

    let error = failure { try sandbox.decoders.decode(Self.file("nothing"), .unlimited) }

    #expect(error?.code == code)
    #expect(error?.detail.contains(reason) == true, "\(error?.detail ?? "")")
  }

  @Test
  func aWorkerOfAnotherVersionIsNamed() throws {
    let (sandbox, folder) = try Self.liar("otherVersion")
    defer { withExtendedLifetime(folder) {} }

    let error = failure { try sandbox.decoders.decode(Self.file("nothing")) }

    #expect(error?.code == .decoderFailed)
    #expect(error?.detail.contains("is of another version of Vitrine (77 in place of \(Hello.version))") == true)
  }

  @Test
  func aWorkerThatIsNeverReadyIsGivenUp() throws {
    let (sandbox, folder) = try Self.liar("noHello")
    defer { withExtendedLifetime(folder) {} }
    let questions = Lock(0)
    var options = DecodeOptions()
    options.isCancelled = {
      questions.withLock {
        $0 += 1
        return $0 > 3
      }
    }

    #expect(failure { try sandbox.decoders.decode(Self.file("nothing"), options) }?.isCancellation == true)
    #expect(sandbox.counts.processes == 0)
  }

  @Test
  func aHeaderOverTheLimitIsRefusedByTheProgramItself() throws {
    // However late the process replies to the refusal, it is not killed.
    let (sandbox, folder) = try Self.liar("hugeHeader") { $0.grace = .seconds(3600) }
    defer { withExtendedLifetime(folder) {} }

    let error = failure { try sandbox.decoders.decode(Self.file("nothing")) }

    #expect(error?.code == .overLimit)
    #expect(sandbox.counts.processes == 1)
  }

  @Test
  func aWorkerThatGoesOnAfterARefusalIsKilled() throws {
    let (sandbox, folder) = try Self.liar("deafToRefusal")
    defer { withExtendedLifetime(folder) {} }

    #expect(failure { try sandbox.decoders.decode(Self.file("nothing")) }?.code == .overLimit)
    #expect(sandbox.counts.stopped == 1)
  }

  @Test
  func whatAWorkerSaysHasNoControlCharacters() throws {
    let (sandbox, folder) = try Self.liar("errorWithControls")
    defer { withExtendedLifetime(folder) {} }

    let error = failure { try sandbox.decoders.decode(Self.file("nothing")) }

    #expect(error?.detail == "\u{FFFD}[2Jcleared\u{FFFD}\u{FFFD}\u{FFFD}")
  }

  /// The memory stays as long as it was, and what the program has copied stays as it was.
  @Test(arguments: ["truncates", "grows", "unseals", "honest"])
  func sharedMemoryIsNotResized(name: String) throws {
    let (sandbox, folder) = try Self.liar(name)
    defer { withExtendedLifetime(folder) {} }

    for _ in 0..<3 {
      let bitmap = try sandbox.decoders.decode(Self.file("nothing")).bitmap
      #expect(bitmap[7, 7] == SIMD4(repeating: 128))
    }
  }

  @Test
  func pixelsDoNotChangeAfterTheAnswer() throws {
    let (sandbox, folder) = try Self.liar("rewrites")
    defer { withExtendedLifetime(folder) {} }

    let bitmap = try sandbox.decoders.decode(Self.file("nothing")).bitmap
    let before = unsafe bitmap.withUnsafeBytes { unsafe Data($0) }
    // The worker answers this only after it has rewritten the memory.
    _ = try? sandbox.decoders.decode(Self.file("nothing"))

    #expect(unsafe bitmap.withUnsafeBytes { unsafe Data($0) } == before)
  }
}

/// The layers of this system.
enum ConfinementLayers {
  static func present() throws -> Set<String> {
    let sandbox = try Sandbox.built { $0.startsAhead = false }
    _ = try sandbox.decoders.decode(Fixture.data("rgb.qoi"))
    return Set(Sandbox.Layer.allCases.map(\.rawValue)).subtracting(sandbox.missingLayers.map(\.rawValue))
  }
}
