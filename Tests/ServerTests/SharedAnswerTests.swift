import Testing
import Vitrine
import VitrineHTTP
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineServing
@testable import VitrineServingRequests

/// Requests that share the work on one image, and have each their own circumstances.
@Suite(.patient)
struct SharedAnswerTests {
  private let cat = TestServer.source

  /// Sends several requests, and lets the source answer once all have joined.
  private func together(
    _ server: TestServer,
    _ requests: [(target: String, headers: HTTPFields)],
  ) async throws -> [HTTPFields] {
    try await withThrowingTaskGroup(of: (Int, HTTPFields).self) { group in
      for (index, request) in requests.enumerated() {
        group.addTask { (index, try await server.get(request.target, request.headers).response.headers) }
      }
      let load = try await server.loader.nextLoad(of: cat)
      try await until { server.metrics.counts.joined >= requests.count - 1 }
      load.respond(headers: ["Cache-Control": "max-age=3600", "ETag": "\"1\""])
      load.send(TestServer.photograph)
      load.finish()
      var answers: [Int: HTTPFields] = [:]
      for try await (index, headers) in group { answers[index] = headers }
      return requests.indices.compactMap { answers[$0] }
    }
  }

  @Test
  func eachURLHasItsOwnEnd() async throws {
    let server = try TestServer()
    let end = Int(Date().timeIntervalSince1970) + 100
    let targets = [TestServer.target(), TestServer.target("rs:fit:64:64/exp:\(end)")]
    for order in [targets, targets.reversed()] {
      let answers = try await together(server, order.map { ($0, [:]) })
      for (target, answer) in zip(order, answers) {
        let age = answer["Cache-Control"].flatMap { Int($0.split(separator: "=").last ?? "") } ?? -1
        #expect(target.contains("exp") ? age <= 100 : age > 3000, "\(target): \(answer["Cache-Control"] ?? "")")
      }
      await server.server.service.purge(ImageRequest(url: cat))
    }
    await server.server.stop()
  }

  @Test
  func aNegotiatedAnswerVariesAndThatOfANamedFormatDoesNot() async throws {
    let server = try TestServer()
    let requests: [(target: String, headers: HTTPFields)] = [
      (TestServer.target("rs:fit:64:64", of: cat, "@webp"), [:]),
      (TestServer.target("rs:fit:64:64", of: cat, ""), ["Accept": "image/webp"]),
      (TestServer.target("rs:fit:64:64/fn:Y2F0:1/att:1", of: cat, "@webp"), [:]),
      (TestServer.target("rs:fit:64:64/fn:a.b", of: cat, "@webp"), [:]),
    ]
    let answers = try await together(server, requests)
    #expect(answers.allSatisfy { $0["Content-Type"] == "image/webp" })
    #expect(answers[0]["Vary"] == nil && answers[2]["Vary"] == nil)
    #expect(answers[1]["Vary"]?.contains("Accept") == true)
    #expect(answers[0]["Content-Disposition"] == nil && answers[1]["Content-Disposition"] == nil)
    #expect(answers[2]["Content-Disposition"] == "attachment; filename=\"cat.webp\"; filename*=UTF-8''cat.webp")
    #expect(answers[3]["Content-Disposition"]?.hasPrefix("inline; filename=\"a.b.webp\"") == true)
    #expect(server.loader.counts.loads == 1)
    await server.server.stop()
  }

  @Test
  func aPurgeDetachesWhatIsUnderWay() async throws {
    let server = try TestServer()
    let early = Task { try await server.get() }
    let first = try await server.loader.nextLoad(of: cat)
    await server.server.service.purge(ImageRequest(url: cat))
    let late = Task { try await server.get() }
    let second = try await server.loader.nextLoad(of: cat)
    for (load, tag) in [(first, "\"1\""), (second, "\"2\"")] {
      load.respond(headers: ["Cache-Control": "max-age=3600", "ETag": tag])
      load.send(TestServer.photograph)
      load.finish()
    }
    let (before, after) = (try await early.value, try await late.value)
    #expect(before.response.status == 200 && after.response.status == 200)
    // The next one has the later image.
    let next = try await server.get()
    #expect(next.response.headers["ETag"] == after.response.headers["ETag"])
    #expect(server.loader.counts.loads == 2)
    await server.server.stop()
  }

  /// Two names that look the same are two images, also in a table of what is under way.
  @Test
  func namesThatOnlyLookTheSameAreTwoImages() async throws {
    let server = try TestServer()
    let names = ["caf\u{E9}", "cafe\u{301}", "K", "\u{212A}"]
    func target(_ name: String) -> String {
      "/_/rs:fit:64:64/fn:\(Base64URL.encode(name.utf8)):1/att:1/plain/\(cat)@jpg"
    }
    let answers = try await together(server, names.map { (target($0), [:]) })
    let files = answers.compactMap { $0["Content-Disposition"] }
    #expect(files.count == 4)
    for (file, name) in zip(files, names) {
      let encoded = name.utf8.map {
        $0 < 128 ? String(UnicodeScalar($0)) : "%" + String($0, radix: 16, uppercase: true)
      }
      #expect(file.contains("UTF-8''\(encoded.joined()).jpg"), "\(file)")
    }
    await server.server.stop()
  }
}
