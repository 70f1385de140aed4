import Synchronization
import Testing
import UmbrellaForTests

extension URLLoadingTests {
  struct Endings {
    @Test(
      arguments: [
        ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", URLError.Code.networkConnectionLost),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc", .networkConnectionLost),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", .networkConnectionLost),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nabc\r\n", .cannotParseResponse),
        ("HTTP/1.1 200 OK\r\nContent-Le", .networkConnectionLost),
        ("HTT", .networkConnectionLost),
        ("", .networkConnectionLost),
        ("garbage", .cannotParseResponse),
        ("HTTP/1.1 abc\r\n\r\n", .cannotParseResponse),
        ("HTTP/1.1 200 OK\r\nno colon\r\n\r\n", .cannotParseResponse),
        ("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", .badServerResponse),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", .badServerResponse),
        ("HTTP/1.1 101 Switching Protocols\r\n\r\n", .badServerResponse),
      ]
    )
    func brokenResponsesFail(_ response: String, _ code: URLError.Code) async throws {
      let bench = Bench(
        try LoopbackServer { peer in
          peer.read()
          peer.send(response)
        }
      )
      let task = try await bench.load()
      #expect(task.code == code)
      #expect((task.error as? URLError)?.failingURL == task.originalRequest?.url)
      #expect(bench.recorder.events.suffix(2) == ["metrics", "complete"])
      await bench.end()
    }

    @Test(
      arguments: [
        ("http://name.invalid/", URLError.Code.cannotFindHost), ("https://127.0.0.1:1/", .secureConnectionFailed),
        ("ftp://127.0.0.1/", .unsupportedURL), ("http:///path", .badURL), ("relative", .unsupportedURL),
      ]
    )
    func urlsThatCannotBeLoadedFail(_ text: String, _ code: URLError.Code) async throws {
      let bench = Bench(try LoopbackServer())
      let url = try #require(URL(string: text))
      let task = bench.session.dataTask(with: url)
      task.resume()
      await bench.recorder.end(of: task)
      #expect(task.code == code)
      await bench.end()
    }

    @Test
    func aRefusedConnectionFails() async throws {
      let server = try LoopbackServer()
      let bench = Bench(server)
      server.stop()
      let task = try await bench.load()
      #expect(task.code == .cannotConnectToHost)
      let cause = (task.error as? URLError)?.userInfo[NSUnderlyingErrorKey] as? NSError
      #expect(cause?.code == Int(ECONNREFUSED))
      bench.session.invalidateAndCancel()
      await bench.recorder.invalid.pass()
    }

    @Test
    func aGetWithABodyFails() async throws {
      let bench = Bench(try LoopbackServer())
      #expect(try await bench.load { $0.httpBody = Data("x".utf8) }.code == .dataLengthExceedsMaximum)
      await bench.end()
    }

    @Test
    func aSilentServerTimesOut() async throws {
      let gate = Gate()
      let script: LoopbackServer.Script = { peer in
        peer.read()
        gate.open()
        peer.readToEnd()
      }
      let bench = Bench(try LoopbackServer(script))
      let task = try bench.task { $0.timeoutInterval = 1000 }
      task.resume()
      await gate.pass()
      _URLLoading._advance(by: 900, port: bench.server.port)
      #expect(task.state == .running)
      _URLLoading._advance(by: 101, port: bench.server.port)
      await bench.recorder.end(of: task)
      #expect(task.code == .timedOut)
      await bench.end()
    }

    @Test
    func progressPutsTheTimeOutOff() async throws {
      let (more, received) = (Gate(), Gate())
      let bench = Bench(
        try LoopbackServer { peer in
          peer.read()
          peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na")
          more.block()
          peer.send("b")
        },
        Recorder.Hooks(data: { _, _ in received.open() }),
      ) { $0.timeoutIntervalForRequest = 1000 }
      let task = try bench.task()
      task.resume()
      await received.pass()
      _URLLoading._advance(by: 900, port: bench.server.port)
      more.open()
      await bench.recorder.end(of: task)
      #expect(task.error == nil)
      #expect(bench.recorder.body(task) == "ab")
      await bench.end()
    }

    @Test
    func aResourceHasATimeOutOfItsOwn() async throws {
      let gate = Gate()
      let bench = Bench(
        try LoopbackServer { peer in
          peer.read()
          gate.open()
          peer.readToEnd()
        }
      ) { configuration in
        configuration.timeoutIntervalForRequest = 1_000_000
        configuration.timeoutIntervalForResource = 5000
      }
      let task = try bench.task()
      task.resume()
      await gate.pass()
      _URLLoading._advance(by: 5001, port: bench.server.port)
      await bench.recorder.end(of: task)
      #expect(task.code == .timedOut)
      await bench.end()
    }
  }
}
