import Dispatch
import Testing
import VitrineRuntime

@testable import VitrineHTTP

/// A program's own loader that breaks the rules of its sink.
@Suite
struct CheckedLoaderTests {
  /// A loader that calls its sink as `script` says.
  struct ScriptedLoader: DataLoader {
    let script: @Sendable (HTTPRequest, any LoadSink) -> Void

    func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle {
      script(request, sink)
      return NoLoadHandle()
    }
  }

  enum Rule: CaseIterable {
    case bytesBeforeTheHead, twoHeads, twoEnds, bytesAfterTheEnd, twoThreads, tooManyBytes, nothing, rightOnes
  }

  private static let body = Data("bytes".utf8)

  private static func loader(_ rule: Rule) -> ScriptedLoader {
    ScriptedLoader { request, sink in
      let head = HTTPResponse(status: 200, url: request.url)
      if rule == .nothing { return sink.finish(nil) }
      if rule == .bytesBeforeTheHead { _ = sink.receive(body) }
      _ = sink.receive(head)
      if rule == .twoHeads { _ = sink.receive(head) }
      _ = sink.receive(body)
      if rule == .twoThreads {
        DispatchQueue.concurrentPerform(iterations: 2000) { _ in _ = sink.receive(Data(count: 64)) }
      }
      if rule == .tooManyBytes { for _ in 0..<100 { _ = sink.receive(Data(count: 10_000)) } }
      sink.finish(nil)
      if rule == .twoEnds { sink.finish(HTTPError(.timedOut, url: "", "late")) }
      if rule == .bytesAfterTheEnd {
        _ = sink.receive(head)
        _ = sink.receive(body)
      }
    }
  }

  private func data(_ loader: any DataLoader) async -> Result<Data, HTTPError> {
    do throws(HTTPError) {
      var request = try HTTPRequest("http://picture.invalid/")
      request.maxResponseBytes = 200_000
      return .success(try await loader.data(for: request).1)
    } catch {
      return .failure(error)
    }
  }

  @Test(arguments: Rule.allCases, [0, 1, 2])
  func eachBrokenRuleIsAnErrorOrDoesNoHarm(rule: Rule, wrapping: Int) async throws {
    let loader = Self.loader(rule)
    let wrapped: [any DataLoader] = [loader, RetryingLoader(loader, .never), RateLimitedLoader(loader)]
    let result = await data(wrapped[wrapping])
    switch (rule, result) {
    case (.bytesBeforeTheHead, .failure(let error)):
      #expect(error.code == .protocolError && error.detail.contains("delivered bytes before the response"))
    case (.nothing, .failure(let error)): #expect(error.code == .protocolError)
    case (.tooManyBytes, .failure(let error)): #expect(error.code == .tooLarge && error.status == 200)
    // Bytes that came one at a time by chance are no fault.
    case (.twoThreads, .failure(let error)):
      #expect(error.code == .protocolError && error.detail.contains("made two calls at once"))
    case (.twoThreads, .success(let data)): #expect(data.count == 5 + 2000 * 64)
    // An attempt has one response, even where the whole load may begin anew.
    case (.twoHeads, .failure(let error)) where wrapping == 1: #expect(error.code == .protocolError)
    case (.twoHeads, .success(let data)), (.twoEnds, .success(let data)), (.bytesAfterTheEnd, .success(let data)),
      (.rightOnes, .success(let data)):
      #expect(data == Self.body)
    default: Issue.record("\(rule): \(result)")
    }
  }

  /// A sink that cannot begin anew gets one head.
  private final class Recorder: LoadSink {
    let calls = Lock<[String]>([])
    let onBytes: @Sendable () -> LoadFlow

    init(_ onBytes: @escaping @Sendable () -> LoadFlow = { .proceed }) { self.onBytes = onBytes }

    func begin() { calls.withLock { $0.append("begin") } }
    func receive(_ response: HTTPResponse) -> LoadFlow {
      calls.withLock { $0.append("head") }
      return .proceed
    }
    func receive(_ bytes: RawSpan) -> LoadFlow {
      calls.withLock { $0.append("bytes") }
      return onBytes()
    }
    func finish(_ error: HTTPError?) { calls.withLock { $0.append("end \(error.map { "\($0.code)" } ?? "well")") } }
  }

  @Test
  func aSecondHeadEndsALoadThatCannotBeginAnew() throws {
    let recorder = Recorder()
    let loader = CheckedLoader.checking(Self.loader(.twoHeads))
    _ = loader.load(try HTTPRequest("http://picture.invalid/"), into: recorder)
    #expect(recorder.calls.withLock { $0 } == ["head", "end protocolError"])
  }

  @Test
  func whatEndsWithinACallEndsAfterIt() throws {
    let held = Lock<(any LoadSink)?>(nil)
    let recorder = Recorder {
      held.withLock { $0 }?.finish(HTTPError(.cancelled, url: "", "from within"))
      return .proceed
    }
    let loader = CheckedLoader.checking(
      ScriptedLoader { request, sink in
        held.withLock { $0 = sink }
        sink.begin()
        sink.begin()
        _ = sink.receive(HTTPResponse(status: 200, url: request.url))
        #expect(sink.receive(Self.body) == .proceed)
        #expect(sink.receive(Self.body) == .stop)
        sink.finish(nil)
      }
    )
    _ = loader.load(try HTTPRequest("http://picture.invalid/"), into: recorder)
    #expect(recorder.calls.withLock { $0 } == ["begin", "head", "bytes", "end cancelled"])
  }

  @Test
  func aSinkThatHasRefusedMoreGetsOnlyTheEnd() throws {
    let recorder = Recorder { .stop }
    let loader = CheckedLoader.checking(
      ScriptedLoader { request, sink in
        _ = sink.receive(HTTPResponse(status: 200, url: request.url))
        for _ in 0..<5 { #expect(sink.receive(Self.body) == .stop) }
        sink.finish(nil)
      }
    )
    _ = loader.load(try HTTPRequest("http://picture.invalid/"), into: recorder)
    #expect(recorder.calls.withLock { $0 } == ["head", "bytes", "end well"])
  }

  @Test
  func vitrinesOwnLoadersAreNotWrapped() {
    let own = RetryingLoader(CurlLoader(), .never)
    #expect(CheckedLoader.checking(own) as? RetryingLoader === own)
    #expect(own.loader is CurlLoader)
  }
}
