import Testing
import VitrineImaging
import VitrineRuntime
import VitrineSandbox
import VitrineTestSupport
import VitrineTesting

/// Workers that somebody kills, for a moment; `make check NAME=sandbox-faults` does it for longer.
struct KillTests {
  private static func file() throws -> Data { try Fixture.data("baseline-420.jpg") }

  /// Kills a worker and waits until it is gone, without taking its status from the sandbox.
  private static func kill(_ process: pid_t) {
    Glibc.kill(process, SIGKILL)
    var status = unsafe siginfo_t()
    // The kernel writes only into `status`.
    _ = unsafe waitid(P_PID, id_t(process), &status, WEXITED | WNOWAIT)
  }

  @Test
  func aWorkerThatIsKilledWhileIdleCostsNoImage() throws {
    let sandbox = try Sandbox.built { ($0.processes, $0.startsAhead) = (1, false) }
    for _ in 0..<3 {
      _ = try sandbox.decoders.decode(Self.file())
      for process in sandbox.processIdentifiers { Self.kill(process) }
    }
    _ = try sandbox.decoders.decode(Self.file())

    #expect(sandbox.counts.images == 4)
    #expect(sandbox.counts.started == 4)
    #expect(sandbox.counts.crashed == 0)
  }

  @Test
  func aWorkerThatIsKilledWhileItDecodesCostsThatImageAndItsFileIsNotRemembered() throws {
    let sandbox = try Sandbox.rogue()
    var options = DecodeOptions()
    // Called while the sandbox waits for the answer.
    options.isCancelled = {
      for process in sandbox.processIdentifiers { Self.kill(process) }
      return false
    }

    let error = failure { try sandbox.decoders.decode(RogueTests.file("sleep"), options) }

    #expect(error?.code == .decoderFailed)
    #expect(error?.detail.contains("was killed from outside (SIGKILL)") == true, "\(error?.detail ?? "")")
    #expect(try RogueTests.code("nothing", in: sandbox) == 0)
    #expect(sandbox.counts.refused == 0)
  }

  @Test
  func manyKillsUnderLoadLoseOnlyTheImagesAtHand() async throws {
    let file = try Self.file()
    let expected = Outcome.of { () throws(ImageError) in try ownDecoders.decode(file) }
    let sandbox = try Sandbox.built { $0.processes = 3 }
    let decoders = sandbox.decoders
    let kills = Lock(0)

    let results = await withTaskGroup { group in
      for index in 0..<200 {
        group.addTask { () -> Outcome in
          if index % 10 == 5, let victim = sandbox.processIdentifiers.randomElement() {
            kills.withLock { $0 += 1 }
            Self.kill(victim)
          }
          do throws(ImageError) {
            let image = try await decoders.byDecoding(file)
            return Outcome.of { () throws(ImageError) in image }
          } catch {
            return Outcome(error: error)
          }
        }
      }
      var results: [Outcome] = []
      for await result in group { results.append(result) }
      return results
    }

    let lost = results.filter { $0.error != nil }
    #expect(results.filter { $0 == expected }.count + lost.count == 200)
    #expect(lost.allSatisfy { $0.error?.code == .decoderFailed })
    #expect(lost.count <= kills.withLock { $0 })
  }

  /// A process that has ended and that nobody waited for is still there for `waitid`.
  @Test
  func nothingIsLeftOfASandboxThatIsReleased() throws {
    var sandbox: Sandbox? = try Sandbox.built { ($0.processes, $0.startsAhead) = (2, false) }
    _ = try sandbox?.decoders.decode(Self.file())
    let processes = sandbox?.processIdentifiers ?? []
    #expect(processes.count == 1)

    sandbox = nil

    for process in processes {
      var status = unsafe siginfo_t()
      // The kernel writes only into `status`.
      #expect(unsafe waitid(P_PID, id_t(process), &status, WEXITED | WNOHANG | WNOWAIT) == -1)
      #expect(errno == ECHILD)
    }
  }
}
