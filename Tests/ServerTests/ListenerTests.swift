import Testing
import Vitrine
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineServing

struct ListenerTests {
  /// Answers at once.
  private struct Answering: RequestAnswering {
    func react(to request: borrowing ReceivedRequest, _ exchange: Exchange) -> Reaction { .answer(.text(200, "ok")) }
    func ended(_ exchange: Exchange, _ outcome: ExchangeOutcome) {}
  }

  private func listener(threads: Int, connections: Int = 100) throws -> (Listener, port: Int) {
    var limits = Listener.Limits()
    (limits.threads, limits.connections) = (threads, connections)
    let listener = try #require(Listener(limits, clock: ManualClock(), Answering()))
    let socket = try ListeningSocket.open(host: "127.0.0.1", port: 0).get()
    #expect(listener.start(socket.descriptor))
    return (listener, socket.port)
  }

  private func id(in answer: String) throws -> Substring {
    let line = try #require(answer.split(separator: "\r\n").first { $0.hasPrefix("X-Request-ID: ") })
    return line.dropFirst("X-Request-ID: ".count)
  }

  @Test
  func connectionsAreDealtOutEvenly() async throws {
    let (listener, port) = try listener(threads: 4)
    var connections: [RawConnection] = []
    for count in 1...12 {
      let connection = try RawConnection(to: port)
      connection.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(await connection.read().hasPrefix("HTTP/1.1 200"))
      connections.append(connection)
      let counts = listener.connectionCounts
      #expect(counts.reduce(0, +) == count)
      #expect((counts.max() ?? 0) - (counts.min() ?? 0) <= 1)
    }
    withExtendedLifetime(connections) {}
    listener.stop()
  }

  @Test
  func aThreadWhoseConnectionsEndGetsTheNextOnes() async throws {
    let (listener, port) = try listener(threads: 2)
    let kept = try RawConnection(to: port)
    kept.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    _ = await kept.read()
    let thread = try #require(listener.connectionCounts.firstIndex(of: 1))
    for _ in 0..<5 {
      let short = try RawConnection(to: port)
      short.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
      #expect(await short.readAll().hasPrefix("HTTP/1.1 200"))
      try await until { listener.connectionCounts.reduce(0, +) == 1 }
      #expect(listener.connectionCounts[thread] == 1)
    }
    withExtendedLifetime(kept) {}
    listener.stop()
  }

  @Test
  func idsOfRequestsDifferWhateverTheThread() async throws {
    let (listener, port) = try listener(threads: 3)
    var ids: Set<Substring> = []
    for _ in 0..<6 {
      let connection = try RawConnection(to: port)
      for _ in 0..<10 {
        connection.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        ids.insert(try id(in: await connection.read()))
      }
    }
    #expect(ids.count == 60)
    listener.stop()
  }

  @Test
  func theDateIsThatOfTheClock() async throws {
    let clock = ManualClock()
    let listener = try #require(Listener(Listener.Limits(), clock: clock, Answering()))
    let socket = try ListeningSocket.open(host: "127.0.0.1", port: 0).get()
    #expect(listener.start(socket.descriptor))
    let connection = try RawConnection(to: socket.port)
    for _ in 0..<3 {
      connection.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(await connection.read().contains("\r\nDate: \(HTTPTime.http(clock.now))\r\n"))
      clock.advance(by: .milliseconds(700))
    }
    listener.stop()
  }

  @Test
  func aDrainedListenerRefusesConnectionsAndAnswersThoseThatAreOpen() async throws {
    let (listener, port) = try listener(threads: 2)
    let open = try RawConnection(to: port)
    open.send("GET / HTTP/1.1\r\nHost: a\r\n")
    try await until { listener.connectionCounts.reduce(0, +) == 1 }
    listener.drain()
    #expect(throws: POSIXError.self) { try RawConnection(to: port) }
    listener.stop()
    withExtendedLifetime(open) {}
  }

  @Test
  func aConnectionThatComesAtTheEndIsClosed() async throws {
    for _ in 0..<20 {
      let (listener, port) = try listener(threads: 2)
      let connection = try RawConnection(to: port)
      listener.stop()
      connection.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      _ = await connection.readAll()
    }
  }

  @Test
  func aLogWhoseReaderHasStoppedIsNotWaitedForForEver() throws {
    var ends = [CInt](repeating: -1, count: 2)
    // The array has room for both ends.
    #expect(unsafe pipe(&ends) == 0)
    let (reader, writer) = (ends[0], ends[1])
    _ = fcntl(writer, F_SETFL, O_NONBLOCK)
    let page = [UInt8](repeating: 0, count: 4096)
    var filled = 0
    while case let count = unsafe write(writer, page, page.count), count > 0 { filled += count }
    _ = fcntl(writer, F_SETFL, 0)
    let log = try #require(AccessLog(file: writer))
    log.add("a line")
    log.end(within: .zero)
    // Once it reads on, the line is there.
    var (read, bytes) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
    while read.count < filled + 7 {
      let count = unsafe Glibc.read(reader, &bytes, bytes.count)
      read += bytes.prefix(count)
    }
    log.end()
    #expect(String(decoding: read.suffix(7), as: UTF8.self) == "a line\n")
    close(reader)
    close(writer)
  }

  @Test
  func numbersAreThoseOfAllThreads() {
    let metrics = ServerMetrics(threads: 3)
    for thread in 0..<6 {
      metrics.change(of: thread) { counts in
        counts.byStatus[200, default: 0] += 1
        counts.byStatus[400 + thread, default: 0] += 1
        counts.requests.add(.milliseconds(3))
        counts.stages["decode", default: Histogram()].add(.milliseconds(30))
        counts.bytes += 10
      }
    }
    let counts = metrics.counts
    #expect(counts.byStatus == [200: 6, 400: 1, 401: 1, 402: 1, 403: 1, 404: 1, 405: 1])
    #expect((counts.requests.count, counts.bytes, metrics.count(of: .decode)) == (6, 60, 6))
    #expect(counts.requests.buckets.reduce(0, +) == 6)
  }
}
