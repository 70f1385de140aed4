import Synchronization
import Testing
import UmbrellaForTests

extension URLLoadingTests {
  struct Controls {
    @Test
    func aSuspendedTaskLetsTheServerFeelIt() async throws {
      let (flooded, resumed) = (Gate(), Gate())
      let total = Mutex(0)
      let bench = Bench(
        try LoopbackServer { peer in
          peer.read()
          peer.send("HTTP/1.1 200 OK\r\n\r\nx")
          flooded.block()
          let count = peer.flood()
          total.withLock { $0 = count }
          resumed.open()
        },
        Recorder.Hooks(
          data: { task, _ in
            guard task.countOfBytesReceived == 1 else { return }
            task.suspend()
            flooded.open()
          }
        ),
      )
      let task = try bench.task()
      task.resume()
      await resumed.pass()
      #expect(task.state == .suspended)
      #expect(task.countOfBytesReceived == 1, "nothing is read")
      task.resume()
      await bench.recorder.end(of: task)
      #expect(task.error == nil)
      #expect(task.countOfBytesReceived == Int64(total.withLock { $0 }) + 1)
      await bench.end()
    }

    @Test
    func aPauseHasNoIdleTimeOut() async throws {
      let paused = Gate()
      let bench = Bench(
        try LoopbackServer { peer in
          peer.read()
          peer.respond(body: "abc")
        },
        Recorder.Hooks(
          response: { task in
            task.suspend()
            paused.open()
            return .allow
          }
        ),
      )
      let task = try bench.task()
      task.resume()
      await paused.pass()
      _URLLoading._advance(by: 1000, port: bench.server.port)
      #expect(task.countOfBytesReceived == 0)
      task.resume()
      await bench.recorder.end(of: task)
      #expect(task.error == nil)
      #expect(bench.recorder.body(task) == "abc")
      await bench.end()
    }

    @Test
    func eachSuspensionNeedsAResume() async throws {
      let gate = Gate()
      let bench = Bench(
        try LoopbackServer { peer in
          peer.read()
          gate.block()
          peer.respond()
        }
      )
      let task = try bench.task()
      task.suspend()
      task.resume()
      #expect(task.state == .suspended)
      task.resume()
      #expect(task.state == .running)
      gate.open()
      await bench.recorder.end(of: task)
      task.suspend()
      task.resume()
      task.cancel()
      #expect(task.state == .completed)
      #expect(task.error == nil)
      await bench.end()
    }

    @Test
    func aTaskThatNeverRanCanBeCancelled() async throws {
      let bench = Bench(try LoopbackServer())
      let task = try bench.task()
      task.cancel()
      #expect(task.state == .canceling || task.state == .completed)
      await bench.recorder.end(of: task)
      #expect(task.code == .cancelled)
      #expect(bench.recorder.metrics(task)?.transactionMetrics.isEmpty == true)
      await bench.end()
    }

    @Test
    func cancellingEndsTheWaitForTheServer() async throws {
      let (first, second) = (Gate(), Gate())
      let bench = Bench(
        try LoopbackServer { peer in
          peer.read()
          first.open()
          second.block()
          peer.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab")
          peer.readToEnd()
        } _: { peer in
          peer.read()
          peer.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab")
          peer.readToEnd()
        },
        Recorder.Hooks(data: { task, _ in task.cancel() }),
      )
      let task = try bench.task()
      task.resume()
      await first.pass()
      task.cancel()
      await bench.recorder.end(of: task)
      #expect(task.code == .cancelled)
      second.open()
      let other = try await bench.load()
      #expect(other.code == .cancelled)
      #expect(bench.recorder.body(other) == "ab")
      #expect(bench.recorder.completions(task) == 1)
      #expect(bench.recorder.completions(other) == 1)
      await bench.end()
    }

    @Test
    func cancellingEndsTheWaitForTheDelegate() async throws {
      let asked = Gate()
      let bench = Bench(
        try LoopbackServer { peer in
          peer.read()
          peer.respond(body: "abc")
          peer.readToEnd()
        },
        Recorder.Hooks(
          response: { _ in
            asked.open()
            // Never answers.
            return nil
          }
        ),
      )
      let task = try bench.task()
      task.resume()
      await asked.pass()
      task.cancel()
      await bench.recorder.end(of: task)
      #expect(task.code == .cancelled)
      #expect(bench.recorder.body(task) == "")
      await bench.end()
    }

    @Test
    func theDelegateMayRefuseAResponse() async throws {
      let bench = Bench(
        try LoopbackServer { peer in
          peer.read()
          peer.respond(body: "abc")
          peer.readToEnd()
        },
        Recorder.Hooks(response: { _ in .cancel }),
      )
      let task = try await bench.load()
      #expect(task.code == .cancelled)
      #expect(bench.recorder.events == ["response 200", "metrics", "complete"])
      await bench.end()
    }

    @Test
    func callsFromManyThreadsCompleteEachTaskOnce() async throws {
      let script: LoopbackServer.Script = { peer in
        while peer.read() != nil { peer.respond(body: String(repeating: "x", count: 100_000)) }
      }
      let bench = Bench(try LoopbackServer(Array(repeating: script, count: 400)))
      let tasks = try (0..<200).map { _ in try bench.task() }
      await withTaskGroup { group in
        for (index, task) in tasks.enumerated() {
          group.addTask { task.resume() }
          group.addTask {
            task.suspend()
            task.resume()
          }
          if index % 2 == 0 { group.addTask { task.cancel() } }
        }
      }
      for task in tasks { await bench.recorder.end(of: task) }
      for (index, task) in tasks.enumerated() {
        #expect(bench.recorder.completions(task) == 1)
        #expect(task.error == nil || task.code == .cancelled)
        if task.error == nil { #expect(task.countOfBytesReceived == 100_000) }
        if index % 2 == 1 { #expect(task.error == nil) }
      }
      await bench.end()
    }
  }
}
