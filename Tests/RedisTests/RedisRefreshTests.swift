import Testing
import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting
import VitrineTiers

@testable import VitrineRedis

/// Pictures that have changed at their source, with machines that share a server.
@Suite(.needsRedis, .patient)
struct RedisRefreshTests {
  private static let request = ImageRequest(url: "https://example.invalid/a.png")

  private let redis: RedisProcess
  private let clock = ManualClock()
  private let loader = FakeLoader()
  private let old = TestPicture.png
  private let new: Data

  init() throws {
    redis = try RedisProcess()
    new = try Bitmap.testPattern(width: 48, height: 64).encoded(as: .png)
  }

  /// Makes a machine whose dates are the test's; it waits for other machines until they are done.
  private func makeMachine() throws -> ImagePipeline {
    let remote = try redis.makeCache(clock: clock)
    let cache = TieredDataCache([.local(CountingDataCache()), .remote(remote)], clock: clock)
    return ImagePipeline(.ephemeral) {
      ($0.loader, $0.diskCache, $0.clock, $0.memoryPressure) = (loader, cache, clock, nil)
      $0.coordination = WorkCoordination(cache)
    }
  }

  private func answer(_ load: FakeLoad, _ version: Int) {
    let fields: HTTPFields = ["Cache-Control": "max-age=600", "ETag": "\"\(version)\""]
    load.respond(with: FakeResponse(headers: fields, body: version == 1 ? old : new))
  }

  /// Another machine asked for the picture before it changed, and does not know of the refresh: it has the lease, which
  /// is not waited for, and what it stores late is refused.
  @Test
  func whatAnotherMachineFetchedBeforeARefreshIsNotShared() async throws {
    let (machine, other) = (try makeMachine(), try makeMachine())
    let url = "https://example.invalid/a.png"
    let early = other.dataTask(for: Self.request)
    let before = try await loader.nextLoad(of: url)
    clock.advance(by: .seconds(1))
    await machine.refresh(Self.request)
    clock.advance(by: .seconds(1))
    let late = machine.dataTask(for: Self.request)
    let load = try await loader.nextLoad(of: url)

    clock.advance(by: .seconds(1))
    answer(before, 1)
    #expect(try await early.response.data == old)
    await other.cache.flush()
    answer(load, 2)
    #expect(try await late.response.data == new)
    await machine.cache.flush()

    #expect(try await makeMachine().data(for: Self.request) == new)
    #expect(loader.requests.count == 2)
  }
}
