import Foundation
import Testing
import Vitrine
import VitrineTesting

/// What the articles say that other libraries add to a cache.
@Suite(.timeLimit(.minutes(5)))
struct LibraryScenarios {
  private let setting: Setting
  private let pipeline: ImagePipeline

  init() throws {
    setting = try Setting()
    pipeline = ImagePipeline.testing(setting.parts)
  }

  @Test
  func aProgressiveImageIsShownWhileItArrives() async throws {
    let bytes = try Data(contentsOf: Setting.progressiveFile)
    let task = pipeline.imageTask(for: setting.slow)
    let events = task.events
    let load = try await setting.loader.nextLoad(of: setting.slow)
    load.respond(headers: ["Content-Length": "\(bytes.count)"])
    load.send(bytes.prefix(16_000))
    for await case .preview(let preview) in events {
      load.send(bytes.dropFirst(16_000))
      load.finish()
      #expect(try await task.image.width == preview.bitmap.width)
      return
    }
    Issue.record("no preview")
  }

  @Test
  func anAnimationPlaysItsFrames() async throws {
    setting.loader.answer(setting.cat.absoluteString, with: Setting.animation)
    var request = ImageRequest(url: setting.cat)
    request.animates = true
    let animation = try #require(try await pipeline.imageTask(for: request).response.animation)
    #expect(animation.frameCount == 2)
    let frames = [try await animation.frame(at: 0), try await animation.frame(at: 1)]
    #expect(frames.map { $0[0, 0].x } == [255, 0])
  }

  @Test
  func processorsMakeVariantsThatAreCachedApart() async throws {
    let plain = ImageRequest(url: setting.cat, size: .pixels(100))
    var (blurred, round) = (plain, plain)
    blurred.processors = [.blur(radius: .pixels(4)), .tint(PixelColor(0xFF0000))]
    round.processors = [.resize(.pixels(50)), .roundedCorners(radius: .pixels(8))]
    for request in [plain, blurred, round, blurred] { _ = try await pipeline.image(for: request) }
    #expect([plain, blurred, round].map { pipeline.cachedImage(for: $0)?.image.width } == [100, 100, 50])
    #expect(setting.loader.counts.loads == 1)
  }

  @Test
  func requestsBeyondTheRateWait() async throws {
    let pipeline = ImagePipeline.testing(setting.parts) { $0.rateLimit = RateLimit(requestsPerSecond: 1, burst: 1) }
    _ = try await pipeline.image(for: setting.cat)
    let task = pipeline.imageTask(for: setting.dog)
    await setting.parts.clock.pendingCount(reaches: 1)
    #expect(setting.loader.counts.loads == 1)
    setting.parts.clock.advance(by: .seconds(1))
    #expect(try await task.image.width == 320)
  }

  @Test
  func eachRequestIsSignedBeforeItIsSent() async throws {
    let pipeline = ImagePipeline.testing(setting.parts) {
      $0.willSend = { $0.headers["Authorization"] = "Bearer token" }
    }
    _ = try await pipeline.image(for: setting.cat)
    #expect(setting.loader.requests.map { $0.headers["Authorization"] } == ["Bearer token"])
  }

  @Test
  func aChallengeIsAnsweredWithAPassword() async throws {
    let response = setting.response
    setting.loader.answer(setting.cat.absoluteString) { request in
      request.headers["Authorization"] == nil
        ? FakeResponse(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"cats\""]) : response
    }
    let pipeline = ImagePipeline.testing(setting.parts) {
      $0.challenge = { _ in ["Authorization": "Basic Y2F0OmRvZw=="] }
    }
    #expect(try await pipeline.image(for: setting.cat).width == 320)
  }

  @Test(arguments: [ImageFormat.jpeg, .png, .gif, .webp])
  func theFormatIsToldFromTheBytes(format: ImageFormat) async throws {
    let bytes = try Bitmap.testPattern(width: 32, height: 24).encoded(as: format)
    setting.loader.answer(setting.cat.absoluteString, with: bytes, headers: ["Content-Type": "image/jpeg"])
    let response = try await pipeline.imageTask(for: setting.cat).response
    #expect(response.info.format == format)
    #expect(response.image.width == 32)
  }
}
