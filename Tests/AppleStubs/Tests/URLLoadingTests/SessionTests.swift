import Synchronization
import Testing
import UmbrellaForTests

extension URLLoadingTests {
  struct Sessions {
    private static let script: LoopbackServer.Script = { peer in
      while peer.read() != nil { peer.respond(body: "x") }
    }

    /// Returns the number of the process's open sockets.
    private func openSockets() throws -> Int {
      let folder = "/proc/self/fd"
      let names = try FileManager.default.contentsOfDirectory(atPath: folder)
      return names.filter { name in
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)"))?.hasPrefix("socket:") ?? false
      }.count
    }

    /// A session that tells when it is released.
    private final class Watched: URLSession, @unchecked Sendable {
      // Sendable, since nothing in it changes.
      let released: Gate

      init(_ delegate: any URLSessionDelegate, _ released: Gate) {
        self.released = released
        super.init(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
      }

      deinit { released.open() }
    }

    /// Waits until the blocks of the delegate's queue so far are over.
    private func settle(_ session: URLSession) async {
      await withCheckedContinuation { continuation in
        session.delegateQueue.addOperation { continuation.resume() }
      }
    }

    @Test
    func invalidationClosesAllAndReleasesTheDelegate() async throws {
      let before = try openSockets()
      weak var weakRecorder: Recorder?
      let released = Gate()
      do {
        let server = try LoopbackServer(Array(repeating: Self.script, count: 20))
        let recorder = Recorder()
        weakRecorder = recorder
        let session = Watched(recorder, released)
        let url = try server.url()
        let tasks = (0..<10).map { _ in session.dataTask(with: url) }
        for task in tasks { task.resume() }
        for task in tasks { await recorder.end(of: task) }
        await settle(session)
        #expect(try openSockets() > before)
        let waiting = session.dataTask(with: url)
        #expect(await session.allTasks == [waiting])
        session.invalidateAndCancel()
        await recorder.invalid.pass()
        #expect(recorder.events.last == "invalid")
        #expect(waiting.code == .cancelled)
        await settle(session)
        #expect(session.delegate == nil)
        server.stop()
        #expect(try openSockets() == before)
      }
      await released.pass()
      #expect(weakRecorder == nil)
    }

    @Test
    func aReleasedSessionClosesItsConnections() async throws {
      let (closed, released) = (Gate(), Gate())
      let server = try LoopbackServer { peer in
        while peer.read() != nil { peer.respond(body: "x") }
        closed.open()
      }
      do {
        let recorder = Recorder()
        let session = Watched(recorder, released)
        let task = session.dataTask(with: try server.url())
        task.resume()
        await recorder.end(of: task)
      }
      await released.pass()
      await closed.pass()
      server.stop()
    }

    @Test
    func finishingWaitsForTheTasks() async throws {
      let gate = Gate()
      let bench = Bench(
        try LoopbackServer { peer in
          peer.read()
          gate.block()
          peer.respond(body: "x")
          peer.readToEnd()
        }
      )
      let task = try bench.task()
      task.resume()
      bench.session.finishTasksAndInvalidate()
      gate.open()
      await bench.recorder.invalid.pass()
      #expect(bench.recorder.events == ["response 200", "metrics", "complete", "invalid"])
      #expect(task.error == nil)
      bench.server.stop()
    }

    @Test
    func aSessionKeepsItsDelegate() async throws {
      let configuration = URLSessionConfiguration.ephemeral
      weak var recorder: Recorder?
      let session: URLSession
      do {
        let strong = Recorder()
        recorder = strong
        session = URLSession(configuration: configuration, delegate: strong, delegateQueue: nil)
      }
      #expect(recorder != nil)
      #expect(session.delegateQueue.maxConcurrentOperationCount == 1)
      let invalid = recorder?.invalid
      session.finishTasksAndInvalidate()
      await invalid?.pass()
    }

    @Test
    func aDelegateQueueIsUsed() async throws {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      queue.name = "mine"
      let server = try LoopbackServer(Self.script)
      let names = Mutex<Set<String?>>([])
      let recorder = Recorder(
        Recorder.Hooks(
          data: { _, _ in names.withLock { _ = $0.insert(OperationQueue.current?.name) } },
          complete: { _ in names.withLock { _ = $0.insert(OperationQueue.current?.name) } },
        )
      )
      let session = URLSession(configuration: .default, delegate: recorder, delegateQueue: queue)
      let task = session.dataTask(with: try server.url())
      task.resume()
      await recorder.end(of: task)
      session.invalidateAndCancel()
      await recorder.invalid.pass()
      server.stop()
      #expect(names.withLock { $0 } == ["mine"])
    }

    @Test
    func configurationsAreCopied() {
      let configuration = URLSessionConfiguration.ephemeral
      #expect(configuration.urlCache != nil && configuration.httpCookieStorage != nil)
      #expect(configuration.httpMaximumConnectionsPerHost == 6)
      #expect(configuration.timeoutIntervalForRequest == 60)
      #expect(configuration.timeoutIntervalForResource == 604_800)
      let session = URLSession(configuration: configuration)
      configuration.httpMaximumConnectionsPerHost = 1
      configuration.connectionProxyDictionary = [:]
      #expect(configuration.connectionProxyDictionary?.isEmpty == true)
      #expect(session.configuration.connectionProxyDictionary == nil)
      #expect(session.configuration.httpMaximumConnectionsPerHost == 6)
      #expect(URLSessionConfiguration.ephemeral !== URLSessionConfiguration.ephemeral)
      #expect(URLSessionConfiguration.default.urlCache === URLCache.shared)
    }

    /// A delegate without any of the optional methods.
    private final class Silent: NSObject, URLSessionDataDelegate {
      let end = Gate()

      func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        end.open()
      }
    }

    @Test
    func absentMethodsHaveDefaults() async throws {
      let server = try LoopbackServer { peer in
        peer.read()
        peer.respond("302 Found", "Location: /b\r\n")
        peer.read()
        peer.respond("401 Unauthorized", "WWW-Authenticate: Basic realm=\"x\"\r\n", body: "abc")
        peer.readToEnd()
      }
      let delegate = Silent()
      let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
      let task = session.dataTask(with: try server.url())
      task.resume()
      await delegate.end.pass()
      #expect(task.http?.statusCode == 401)
      #expect(task.countOfBytesReceived == 3)
      session.invalidateAndCancel()
      server.stop()
    }
  }
}
