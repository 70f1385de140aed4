import Foundation
import Synchronization

/// How long each of a client's requests took from the moment at which it was due.
final class Client: Sendable {
  let name: String
  let limit: Duration
  private let latencies = Mutex<[Duration]>([])
  private let failures = Mutex<[String: Int]>([:])

  init(_ name: String, limit: Duration) { (self.name, self.limit) = (name, limit) }

  /// Sends a request every `interval` until `end`, whether or not those before it are answered.
  func run(
    every interval: Duration,
    until end: ContinuousClock.Instant,
    _ request: @escaping @Sendable (Int) async throws -> Void,
  ) {
    Thread.detachNewThread { [self] in
      var due = ContinuousClock.now
      var count = 0
      while due < end {
        let (moment, number) = (due, count)
        Task {
          do { try await request(number) } catch { failures.withLock { $0["\(error)", default: 0] += 1 } }
          let latency = ContinuousClock.now - moment
          latencies.withLock { $0.append(latency) }
        }
        due += interval
        count += 1
        Thread.sleep(forTimeInterval: max(0, (due - .now) / .seconds(1)))
      }
    }
  }

  /// Prints a line, and returns whether the client was served in time.
  func report() -> Bool {
    let sorted = latencies.withLock { $0.sorted() }
    func milliseconds(_ share: Double) -> Double {
      sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))] / .milliseconds(1)
    }
    let failures = failures.withLock { $0 }
    let isServed = milliseconds(0.99) <= limit / .milliseconds(1) && failures.isEmpty && !sorted.isEmpty
    print(
      name.padding(toLength: 22, withPad: " ", startingAt: 0),
      String(
        format: "%6d requests  p50 %7.1f ms  p99 %7.1f ms  most %7.1f ms",
        sorted.count,
        milliseconds(0.5),
        milliseconds(0.99),
        milliseconds(1),
      ),
      isServed ? "" : "  TOO SLOW, or failed (p99 at most \(limit))",
    )
    for (message, count) in failures { print("  \(count) x \(message)") }
    return isServed
  }
}

/// What the process holds.
struct Holdings {
  let threads: Int
  let megabytes: Int

  init(threads: Int, megabytes: Int) { (self.threads, self.megabytes) = (threads, megabytes) }

  init() {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    func number(_ name: String) -> Int {
      let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
      return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }
    (threads, megabytes) = (number("Threads"), number("VmRSS") / 1024)
  }
}
