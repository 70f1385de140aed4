import Testing
import Vitrine
import VitrineCaching
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting
import VitrineTiers

@testable import VitrineServing

/// Servers that share a tier.
@Suite(.patient)
struct SharedTierTests {
  private let remote = FakeRemoteCache()
  private let loader = FakeLoader()

  private func makeServer() throws -> TestServer {
    try TestServer(loader) {
      var limits = TieredDataCache.RemoteLimits()
      // A busy machine may take its time.
      (limits.headDeadline, limits.bodyDeadline) = (.seconds(60), .seconds(60))
      (limits.headPatience, limits.bodyPatience) = (.seconds(60) ... .seconds(60), .seconds(60) ... .seconds(60))
      $0.sharedTiers = [.remote(remote, name: "shared", limits: limits)]
    }
  }

  @Test
  func whatOneServerHasMadeTheOthersServe() async throws {
    loader.answer(TestServer.source, with: TestServer.photograph, headers: ["Cache-Control": "max-age=60"])
    let first = try makeServer()
    let made = try await first.get()
    #expect(made.response.status == 200)
    await first.server.pipeline.cache.flush()
    let other = try makeServer()
    let served = try await other.get()
    #expect(served.body == made.body)
    #expect(loader.requests.count == 1)
    #expect(other.metrics.count(of: .encode) == 0)
    let metrics = String(decoding: try await other.get("/metrics").body, as: UTF8.self)
    #expect(metrics.contains("vitrine_tier_hits_total{tier=\"shared\"} 1"))
    #expect(metrics.contains("vitrine_tier_breaker_open{tier=\"shared\"} 0"))
    // Pixels stay where they are.
    #expect(remote.keys.count == 2)
  }

  @Test
  func serversThatAreAskedAtOnceFetchOnce() async throws {
    loader.answer(TestServer.source, with: TestServer.photograph, headers: ["Cache-Control": "max-age=60"])
    let servers = [try makeServer(), try makeServer(), try makeServer()]
    let bodies = try await withThrowingTaskGroup(of: Data.self) { group in
      for server in servers {
        for side in [32, 64] {
          group.addTask { try await server.get(TestServer.target("rs:fit:\(side):\(side)")).body }
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(Set(bodies).count == 2)
    #expect(loader.requests.count == 1)
  }

  @Test
  func aPurgeReachesTheSharedTier() async throws {
    loader.answer(TestServer.source, with: TestServer.photograph, headers: ["Cache-Control": "max-age=60"])
    let server = try makeServer()
    _ = try await server.get()
    await server.server.pipeline.cache.flush()
    #expect(!remote.keys.isEmpty)
    await server.server.pipeline.cache.remove(ImageRequest(url: TestServer.source))
    #expect(remote.keys.isEmpty)
  }

  @Test(arguments: [FakeRemoteCache.Condition.failing, .refusing])
  func withoutTheTierAServerServesAllTheSame(condition: FakeRemoteCache.Condition) async throws {
    remote.condition = condition
    loader.answer(TestServer.source, with: TestServer.photograph, headers: ["Cache-Control": "max-age=60"])
    let server = try makeServer()
    for side in 10..<30 {
      #expect(try await server.get(TestServer.target("rs:fit:\(side):\(side)")).response.status == 200)
    }
    let metrics = String(decoding: try await server.get("/metrics").body, as: UTF8.self)
    let isOpen = condition == .failing ? 1 : 0
    #expect(metrics.contains("vitrine_tier_breaker_open{tier=\"shared\"} \(isOpen)"))
  }

  @Test
  func theURLOfTheTierIsASetting() throws {
    let settings = try Settings(environment: ["VITRINE_SHARED": "redis://:topsecret@cache.invalid"])
    #expect(settings.shared == "redis://:topsecret@cache.invalid")
    #expect(!settings.text.contains("topsecret"))
    #expect(!settings.warnings.contains { $0.contains("VITRINE_CACHE_DIR") })
  }

  @Test(arguments: [("127.0.0.1", nil, false), ("0.0.0.0", nil, true), ("*", nil, true), ("::", "token", false)])
  func metricsThatAllCanReadAreSaidToBe(host: String, token: String?, isSaid: Bool) throws {
    var environment = ["VITRINE_BIND": host]
    environment["VITRINE_METRICS_TOKEN"] = token
    let warnings = try Settings(environment: environment).warnings

    #expect(warnings.contains { $0.contains("/metrics") } == isSaid)
  }
}
