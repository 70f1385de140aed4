import Testing
import VitrineHTTP
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// One load, seen from both ends.
@Suite(.patient)
struct FakeLoadTests {
  private let loader = FakeLoader()
  private let url = "https://example.org/a.jpg"

  private func begin(
    _ sink: any LoadSink,
    maxResponseBytes: Int = 1000,
  ) async throws -> (load: FakeLoad, handle: any LoadHandle) {
    var request = HTTPRequest(try HTTPURL(url))
    request.maxResponseBytes = maxResponseBytes
    let handle = loader.load(request, into: sink)
    return (try await loader.nextLoad(of: url), handle)
  }

  @Test
  func headPiecesAndEndArriveWhenTheTestSaysSo() async throws {
    let sink = RecordingSink()
    let (load, _) = try await begin(sink)
    #expect(sink.heard.isEmpty)

    load.respond(status: 206, headers: ["Content-Length": "7"])
    #expect(sink.heard == ["head 206"])
    load.send(Data("abc".utf8))
    #expect(sink.heard == ["head 206", "3 bytes"])
    load.send(Data("defg".utf8))
    #expect(load.status.taken == 7)
    #expect(load.status.isEnded == false)
    load.finish()

    #expect(sink.heard == ["head 206", "3 bytes", "4 bytes", "end"])
    #expect(sink.body == Data("abcdefg".utf8))
    #expect(load.status.isEnded)
  }

  @Test
  func aBodyWithoutAHeadHasOneOfStatus200() async throws {
    let sink = RecordingSink()
    let (load, _) = try await begin(sink)
    load.send(Data("abc".utf8))
    load.finish()
    #expect(sink.heard == ["head 200", "3 bytes", "end"])
  }

  @Test
  func anErrorEndsTheLoadWhereverItIs() async throws {
    for pieces in 0...2 {
      let sink = RecordingSink()
      let (load, _) = try await begin(sink)
      if pieces > 0 { load.respond() }
      if pieces > 1 { load.send(Data("abc".utf8)) }
      load.fail(.connectionLost)
      load.send(Data("more".utf8))
      load.finish()
      #expect(sink.heard == Array(["head 200", "3 bytes"].prefix(pieces)) + ["connectionLost"])
      #expect(sink.error?.url == url)
    }
  }

  @Test
  func aPausedSinkGetsNothingUntilItIsResumed() async throws {
    let sink = RecordingSink([.proceed, .pause])
    let (load, handle) = try await begin(sink)
    load.send(Data("abc".utf8))
    load.send(Data("defg".utf8))
    load.finish()

    #expect(sink.heard == ["head 200", "3 bytes"])
    #expect(load.status.isPaused)
    #expect(load.status.pauses == 1)
    #expect(load.status.waiting == 4)

    handle.resume()
    #expect(await sink.end() == nil)
    #expect(sink.heard == ["head 200", "3 bytes", "4 bytes", "end"])
    #expect(load.status.waiting == 0)
    #expect(load.status.isPaused == false)
  }

  @Test
  func aResumeThatComesWhileTheSinkDecidesToPauseIsNotLost() async throws {
    let handle = Lock<(any LoadHandle)?>(nil)
    let sink = RecordingSink([.proceed, .pause]) { handle.withLock { $0 }?.resume() }
    let (load, made) = try await begin(sink)
    handle.withLock { $0 = made }
    load.send(Data("abc".utf8))
    load.finish()
    #expect(sink.heard == ["head 200", "3 bytes", "end"])
    #expect(load.status.pauses == 1)
  }

  @Test
  func resumingWhatIsNotPausedDoesNothing() async throws {
    let sink = RecordingSink([.pause])
    let (load, handle) = try await begin(sink)
    handle.resume()
    load.send(Data("abc".utf8))
    #expect(sink.heard == ["head 200"])
    #expect(load.status.isPaused)
  }

  @Test
  func aSinkThatStopsIsToldThatTheLoadIsCancelledAndNothingElse() async throws {
    let sink = RecordingSink([.proceed, .stop])
    let (load, _) = try await begin(sink)
    load.send(Data("abc".utf8))
    load.send(Data("defg".utf8))
    load.finish()
    #expect(sink.heard == ["head 200", "3 bytes", "cancelled"])
    #expect(load.status.isEnded)
    #expect(load.status.isCancelled == false)
  }

  @Test
  func cancellingDropsWhatWaitsAndEndsTheLoadOnce() async throws {
    let sink = RecordingSink([.proceed, .pause])
    let (load, handle) = try await begin(sink)
    load.send(Data("abc".utf8))
    load.send(Data("defg".utf8))
    handle.cancel()
    #expect(load.status.isCancelled)
    handle.cancel()
    load.send(Data("more".utf8))
    load.finish()

    #expect(await sink.end() == .cancelled)
    await load.wait { $0.isEnded }
    handle.cancel()
    #expect(sink.heard == ["head 200", "3 bytes", "cancelled"])
    #expect(load.status.waiting == 0)
    #expect(loader.counts.cancelled == 1)
  }

  @Test
  func whoeverCancelsMayHoldALockThatTheSinkWants() async throws {
    let lock = Lock(0)
    let sink = RecordingSink([]) { lock.withLock { $0 += 1 } }
    let (_, handle) = try await begin(sink)
    lock.withLock { count in
      count += 1
      handle.cancel()
    }
    #expect(await sink.end() == .cancelled)
  }

  @Test
  func cancellingAfterTheEndChangesNothing() async throws {
    let sink = RecordingSink()
    let (load, handle) = try await begin(sink)
    load.finish()
    handle.cancel()
    #expect(load.status.isCancelled == false)
    #expect(loader.counts.cancelled == 0)
    #expect(sink.heard == ["head 200", "end"])
  }

  @Test
  func prioritiesAreKeptInOrder() async throws {
    let (load, handle) = try await begin(RecordingSink())
    for priority in [Priority.high, .high, .low, .veryHigh] { handle.priority = priority }
    #expect(load.status.priorities == [.normal, .high, .low, .veryHigh])
    #expect(handle.priority == .veryHigh)
  }

  @Test
  func aStateThatIsStillToComeCanBeAwaited() async throws {
    let (load, handle) = try await begin(RecordingSink())
    async let raised: Void = load.wait { $0.priority == .high }
    handle.priority = .high
    await raised
    #expect(load.status.priority == .high)
  }

  @Test
  func waitingEndsWhenItsTaskIsCancelled() async throws {
    let (load, _) = try await begin(RecordingSink())
    let waiting = Task { await load.wait { $0.isEnded } }
    waiting.cancel()
    await waiting.value
    #expect(load.status.isEnded == false)
  }

  @Test
  func aBodyOverTheLimitOfItsRequestIsAnError() async throws {
    let sink = RecordingSink()
    let (load, _) = try await begin(sink, maxResponseBytes: 5)
    load.send(Data("abcde".utf8))
    #expect(sink.heard == ["head 200", "5 bytes"])
    load.send(Data("f".utf8))
    load.finish()
    #expect(sink.heard == ["head 200", "5 bytes", "tooLarge"])
  }

  @Test
  func fromManyThreadsTheSinkIsStillCalledOneAtATimeAndEndedOnce() async throws {
    for round in 0..<100 {
      let sink = RecordingSink([.proceed, .pause, .pause])
      let (load, handle) = try await begin(sink, maxResponseBytes: 10_000)
      load.respond()
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<4 {
          group.addTask {
            for _ in 0..<10 { load.send(Data("abc".utf8)) }
          }
        }
        group.addTask {
          while load.status.pauses < 2, !load.status.isEnded {
            handle.resume()
            await Task.yield()
          }
        }
        if round % 2 == 0 { group.addTask { handle.cancel() } }
      }
      load.finish()
      handle.resume()
      let error = await sink.end()

      #expect(sink.wasCalledTwiceAtOnce == false)
      #expect(sink.heard.filter { ["end", "cancelled"].contains($0) }.count == 1)
      if round % 2 == 0 {
        #expect(error == .cancelled)
      } else {
        #expect(error == nil)
        #expect(sink.body.count == 120)
      }
    }
  }
}
