import Network
import Testing
import UIKit
import Vitrine
import VitrineApple
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// What the system tells of memory, network and power.
///
/// It is one for the whole program, so the tests run one by one.
@MainActor
@Suite(.serialized, .patient)
struct SystemTests {
  private let setting: Setting

  init() throws {
    setting = try Setting()
    NWPathMonitor._setPath(NWPath())
    ProcessInfo._setLowPowerModeEnabled(false)
  }

  // In a process of its own: the system tells every cache of a program.
  @Test
  func aMemoryWarningEmptiesTheCache() async {
    await #expect(processExitsWith: .success) {
      let setting = try Setting()
      let pipeline = ImagePipeline.testing(setting.parts) { $0.memoryPressure = .system }
      let request = Setting.request(Setting.cat)
      _ = try await pipeline.image(for: request)
      precondition(pipeline.cachedImage(for: request) != nil)

      await UIApplication.shared._receiveMemoryWarning()

      precondition(pipeline.cachedImage(for: request) == nil)
    }
  }

  // The first of two images leaves: half of what is in memory.
  @Test
  func theBackgroundHalvesTheCache() async {
    await #expect(processExitsWith: .success) {
      let setting = try Setting()
      let pipeline = ImagePipeline.testing(setting.parts) { $0.memoryPressure = .system }
      let requests = [Setting.cat, Setting.dog].map { Setting.request($0) }
      for request in requests { _ = try await pipeline.image(for: request) }
      precondition(requests.allSatisfy { pipeline.cachedImage(for: $0) != nil })

      await UIApplication.shared._enterBackground()

      precondition(requests.count { pipeline.cachedImage(for: $0) != nil } == 1)
    }
  }

  @Test
  func withoutANetworkNothingIsAsked() async throws {
    NWPathMonitor._setPath(NWPath(_status: .unsatisfied, _interfaces: []))
    let code = await failure(of: ImageRequest(url: Setting.cat)) { $0 == .offline }
    #expect(code == .offline)
  }

  @Test
  func inLowDataModeOnlyRequestsThatMayAreSent() async throws {
    NWPathMonitor._setPath(NWPath(_isConstrained: true))
    var request = ImageRequest(url: Setting.dog)
    request.allowsExpensiveNetworkAccess = false
    #expect(await failure(of: request) { $0 != nil } == .offline)
    request.allowsExpensiveNetworkAccess = true
    #expect(await failure(of: request) { $0 == nil } == nil)
  }

  /// Loads with new pipelines until the state of the network has reached them, and returns the last error.
  private func failure(
    of request: ImageRequest,
    until isReached: (LoadError.Code?) -> Bool,
  ) async -> LoadError.Code? {
    let pipeline = ImagePipeline.testing {
      $0.loader = setting.loader
      $0.memoryCache = nil
      $0.diskCache = nil
      $0.followNetworkConditions()
    }
    var code: LoadError.Code?
    for _ in 0..<10_000 {
      do throws(LoadError) {
        _ = try await pipeline.image(for: request)
        code = nil
      } catch {
        code = error.code
      }
      if isReached(code) { break }
    }
    return code
  }

  @Test
  func nothingIsPrefetchedWhileTheDeviceSavesPower() {
    let source = ImagePrefetchSource(setting.pipeline) { _ in Setting.request(Setting.cat) }
    #expect(!source.prefetcher.isPaused)
    ProcessInfo._setLowPowerModeEnabled(true)
    #expect(source.prefetcher.isPaused)
    #expect(ImagePrefetchSource(setting.pipeline) { _ in nil }.prefetcher.isPaused)
    ProcessInfo._setLowPowerModeEnabled(false)
    #expect(!source.prefetcher.isPaused)
  }
}
