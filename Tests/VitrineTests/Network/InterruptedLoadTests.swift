import Testing
import Vitrine
import VitrineHTTP
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Loads that break off in their middle, by what the server then answers, by what identifies the file, and by its size.
///
/// Each ends within the call, with the bytes of one version or with an error.
@Suite(.patient)
struct InterruptedLoadTests {
  /// What is answered to the request for the rest.
  enum Answer: CaseIterable {
    case rest, whole, changedWhole, partThatOverlaps, partOfAnotherVersion, partBeyondTheEnd, totalThatIsNoNumber
    case unsatisfiable, gone, unavailableOnce
  }

  enum Validator: CaseIterable { case strongTag, weakTag, date, none }

  private static let sizes = [200, 2000, 20_000, 200_000]

  private struct Result: Equatable, CustomStringConvertible {
    /// `nil` for an error.
    var version: Int?
    var requests: Int

    var description: String { "version \(version.map { "\($0)" } ?? "none") after \(requests) requests" }
  }

  @Test(arguments: Answer.allCases, Validator.allCases)
  func eachEndsWithOneVersionWithinTheCall(answer: Answer, validator: Validator) async throws {
    // Without a strong validator nothing is asked for but the whole.
    let isResumed = validator == .strongTag || validator == .date
    let expected =
      switch answer {
      case _ where !isResumed: Result(version: 2, requests: 2)
      case .rest, .whole: Result(version: 1, requests: 2)
      case .changedWhole: Result(version: 2, requests: 2)
      case .unavailableOnce: Result(version: 1, requests: 3)
      case .gone: Result(version: nil, requests: 2)
      case .partThatOverlaps, .partOfAnotherVersion, .partBeyondTheEnd, .totalThatIsNoNumber, .unsatisfiable:
        Result(version: 2, requests: 3)
      }
    for size in Self.sizes + (validator == .strongTag ? [20_000_000] : []) {
      #expect(try await load(size, answer, validator) == expected, "of \(size) bytes")
    }
  }

  /// Plays one load, and returns which version came, byte for byte.
  private func load(_ size: Int, _ answer: Answer, _ validator: Validator) async throws -> Result {
    let versions = [
      Data(repeating: 1, count: size / 2) + Data(repeating: 2, count: size - size / 2),
      Data(repeating: 3, count: size / 2) + Data(repeating: 4, count: size - size / 2 - 1),
    ]
    let server = try LoopbackServer()
    let count = Lock(0)
    server.route("/a") { exchange in
      let number = count.withLock { count in
        count += 1
        return count
      }
      let part = exchange.request["Range"].map { $0.dropFirst("bytes=".count).dropLast() }.flatMap { Int($0) }
      guard number > 1 else {
        exchange.sendHead(200, Self.fields(validator, 1) + ["Content-Length": "\(size)"])
        exchange.send(versions[0].prefix(size / 2))
        return
      }
      guard let part, number == 2 || answer == .unavailableOnce else {
        return Self.send(versions[1], 200, Self.fields(validator, 2), exchange)
      }
      let (first, last) = (Self.fields(validator, 1), Self.fields(validator, 2))
      func send(_ start: Int, _ range: String, _ fields: HTTPFields) {
        Self.send(versions[0].dropFirst(start), 206, fields + ["Content-Range": range], exchange)
      }
      switch answer {
      case .unavailableOnce where number == 2: Self.send(Data(), 503, [:], exchange)
      case .rest, .unavailableOnce: send(part, "bytes \(part)-\(size - 1)/\(size)", first)
      case .whole: Self.send(versions[0], 200, first, exchange)
      case .changedWhole: Self.send(versions[1], 200, last, exchange)
      case .partThatOverlaps: send(part - 1, "bytes \(part - 1)-\(size - 1)/\(size)", first)
      case .partOfAnotherVersion: send(part, "bytes \(part)-\(size - 1)/\(size)", last)
      case .partBeyondTheEnd: send(part, "bytes \(part)-\(size)/\(size)", first)
      case .totalThatIsNoNumber: send(part, "bytes \(part)-\(size - 1)/*x", first)
      case .unsatisfiable: Self.send(Data(), 416, ["Content-Range": "bytes */\(size)"], exchange)
      case .gone: Self.send(Data(), 404, [:], exchange)
      }
    }
    let pipeline = ImagePipeline.testing {
      $0.diskCache = nil
      $0.loader = PatientLoader()
      $0.clock = .system
      $0.retryPolicy = RetryPolicy { $0.number < 4 && $0.error.isWorthRetrying ? .zero : nil }
    }
    let data = try? await pipeline.data(for: ImageRequest(url: server.url("/a")))
    let version = data.map { data in versions.firstIndex(of: data).map { $0 + 1 } ?? 0 }
    return Result(version: version, requests: server.counts.requests)
  }

  private static func fields(_ validator: Validator, _ version: Int) -> HTTPFields {
    let validators: HTTPFields =
      switch validator {
      case .strongTag: ["ETag": "\"\(version)\""]
      case .weakTag: ["ETag": "W/\"\(version)\""]
      case .date: ["Last-Modified": "Sun, 06 Nov 1994 0\(version):00:00 GMT"]
      case .none: [:]
      }
    return ["Date": "Sun, 06 Nov 1994 12:00:00 GMT"] + validators
  }

  private static func send(
    _ body: Data,
    _ status: Int,
    _ fields: HTTPFields,
    _ exchange: LoopbackExchange,
  ) {
    exchange.sendHead(status, fields + ["Content-Length": "\(body.count)"])
    exchange.send(body)
    exchange.complete()
  }
}
