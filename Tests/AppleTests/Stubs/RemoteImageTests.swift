import SwiftUI
import Testing
import Vitrine
import VitrineApple
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Shows the phase of an image as a text.
private struct Page: View {
  let request: ImageRequest?
  var isShown = true
  var transaction = Transaction()
  var leaving = ImageSlot.Leaving.cancel

  var body: some View {
    if isShown {
      RemoteImage(request, transaction: transaction) { phase in
        switch phase {
        case .empty: Text("empty")
        case .preview: Text("preview")
        case .success(let image, _): image
        case .failure: Text("failure")
        }
      }
      .whenLeft(leaving)
    } else {
      Text("gone")
    }
  }
}

@MainActor
@Suite(.patient)
struct RemoteImageTests {
  private let setting: Setting
  private var environment = EnvironmentValues()

  init() throws {
    setting = try Setting()
    environment.imagePipeline = setting.pipeline
  }

  private func request(_ url: String) -> ImageRequest { ImageRequest(url: url, size: .pixels(20, 20)) }

  @Test
  func itGoesFromEmptyToTheImage() async {
    let host = _Host(Page(request: request(Setting.cat)), environment: environment)
    #expect(host.texts == ["empty"])
    await host.settle { host.images.count == 1 }
    #expect(host.images.first?.cgImage?.width == 20)
    #expect(host.faults.isEmpty)
  }

  @Test
  func anImageInMemoryIsThereTheFirstTimeThatTheViewIsShown() async throws {
    _ = try await setting.pipeline.image(for: request(Setting.cat))
    let host = _Host(Page(request: request(Setting.cat)), environment: environment)
    #expect(host.renders == 1)
    #expect(host.images.count == 1)
    await host.settle()
    #expect(host.images.count == 1)
    #expect(host.images.first?.animation == nil)
  }

  @Test
  func anotherURLNeverShowsTheImageOfTheFirst() async throws {
    let host = _Host(Page(request: request(Setting.cat)), environment: environment)
    await host.settle { host.images.count == 1 }

    host.update(Page(request: request(Setting.slow)))
    #expect(host.images.isEmpty)
    await host.settle()
    #expect(host.texts == ["empty"])
    try await setting.loader.nextLoad(of: Setting.slow).respond(with: setting.response)
    await host.settle { host.images.count == 1 }

    host.update(Page(request: request(Setting.cat)))
    #expect(host.images.count == 1)
    #expect(host.texts.isEmpty)
  }

  @Test
  func aLateAnswerForAnEarlierURLIsNotShown() async throws {
    let host = _Host(Page(request: request(Setting.slow)), environment: environment)
    await host.settle()
    let late = try await setting.loader.nextLoad(of: Setting.slow)
    host.update(Page(request: request(Setting.slower)))
    await host.settle()
    late.respond(with: setting.response)
    await host.settle()
    #expect(host.texts == ["empty"])
  }

  @Test
  func aFailureIsAPhase() async {
    let host = _Host(Page(request: request(Setting.missing)), environment: environment)
    await host.settle { host.texts == ["failure"] }
    #expect(host.texts == ["failure"])
  }

  @Test
  func noRequestIsEmpty() async {
    let host = _Host(Page(request: nil), environment: environment)
    await host.settle()
    #expect(host.texts == ["empty"])
  }

  @Test
  func aViewThatDisappearsCancelsItsLoadAndOneThatAppearsLoadsAgain() async throws {
    let host = _Host(Page(request: request(Setting.slow)), environment: environment)
    await host.settle()
    let first = try await setting.loader.nextLoad(of: Setting.slow)

    host.update(Page(request: request(Setting.slow), isShown: false))
    await host.settle()
    await first.wait { $0.isCancelled }

    host.update(Page(request: request(Setting.slow)))
    await host.settle()
    try await setting.loader.nextLoad(of: Setting.slow).respond(with: setting.response)
    await host.settle { host.images.count == 1 }
    #expect(host.images.count == 1)
  }

  @Test(arguments: [
    (ImageSlot.Leaving.lower, Priority.low), (.keepGoing, .normal),
  ])
  func aLoadGoesOnAfterItsViewIfItIsToldTo(leaving: ImageSlot.Leaving, priority: Priority) async throws {
    let page = Page(request: request(Setting.slow), leaving: leaving)
    let host = _Host(page, environment: environment)
    await host.settle()
    let load = try await setting.loader.nextLoad(of: Setting.slow)

    host.update(Page(request: request(Setting.slow), isShown: false, leaving: leaving))
    await host.settle()
    #expect(load.status.priority == priority)
    #expect(!load.status.isCancelled)

    host.update(page)
    await host.settle()
    #expect(load.status.priority == .normal)
    host.update(Page(request: request(Setting.slow), isShown: false, leaving: leaving))
    await host.settle()
    let end = setting.pipeline.imageTask(for: request(Setting.slow))
    load.respond(with: setting.response)
    _ = try await end.image

    host.update(page)
    #expect(host.images.count == 1)
    #expect(setting.loader.counts.loads == 1)
  }

  @Test
  func theLoadOfAnEarlierRequestGoesOnToo() async throws {
    let host = _Host(Page(request: request(Setting.slow), leaving: .lower), environment: environment)
    await host.settle()
    let load = try await setting.loader.nextLoad(of: Setting.slow)
    host.update(Page(request: request(Setting.slower), leaving: .lower))
    await host.settle()
    _ = try await setting.loader.nextLoad(of: Setting.slower)
    #expect(load.status.priority == .low)
    #expect(!load.status.isCancelled)
  }

  @Test
  func onlyAnImageThatWasNotInMemoryHasTheTransaction() async throws {
    let page = Page(request: request(Setting.cat), transaction: Transaction(animation: .default))
    let host = _Host(page, environment: environment)
    await host.settle { host.images.count == 1 }
    #expect(host.images.first?.animation == .default)

    let again = _Host(page, environment: environment)
    await again.settle()
    #expect(again.images.first?.animation == nil)
  }

  @Test
  func theStyleIsAppliedToTheImageOnly() async {
    let request = request(Setting.cat)
    let view = RemoteImage(request) {
      $0.resizable()
    } placeholder: {
      Text("waiting")
    } failure: { _ in
      Text("failed")
    }
    let host = _Host(view, environment: environment)
    #expect(host.texts == ["waiting"])
    await host.settle { host.images.count == 1 }
    #expect(host.images.first?.isResizable == true)
  }

  @Test
  func anotherPipelineShowsNothingOfTheFormer() async {
    let host = _Host(Page(request: request(Setting.cat)), environment: environment)
    await host.settle { host.images.count == 1 }
    let parts = PipelineParts()
    parts.loader.answer(Setting.cat, FakeResponse(status: 404))
    var other = EnvironmentValues()
    other.imagePipeline = ImagePipeline.testing(parts)
    host.environment = other
    host.flush()
    #expect(host.images.isEmpty)
    await host.settle { host.texts == ["failure"] }
    #expect(host.texts == ["failure"])
    #expect(host.images.isEmpty)
  }
}

extension ClockTests {
  @MainActor
  @Suite(.patient)
  struct RemoteImageMotionTests {
    /// A file that plays once shows its last frame from then on.
    @Test
    func anAnimationThatHasEndedStops() async throws {
      let setting = try Setting()
      let url = "https://images.invalid/moving.gif"
      setting.loader.answer(url, with: MovingGIF.file(frameCount: 3))
      var request = ImageRequest(url: url, size: .pixels(4, 4))
      request.animates = true
      let animation = try #require(try await setting.pipeline.imageTask(for: request).response.animation)
      #expect(animation.info.loopCount == 1)
      var environment = EnvironmentValues()
      environment.imagePipeline = setting.pipeline
      let host = _Host(Page(request: request), environment: environment)
      await host.settle { host.images.count == 1 }
      // A player waits for frames that are late.
      for index in 1...2 { _ = try await animation.frame(at: index) }

      func color() throws -> SIMD4<UInt8>? { try host.images.first?.cgImage.map { try Bitmap($0)[0, 0] } }
      for _ in 0..<10_000 where try color() != MovingGIF.color(2) {
        host._advance(by: 0.05)
        await host.settle()
      }
      for _ in 0..<20 {
        host._advance(by: 0.05)
        await host.settle()
        #expect(try color() == MovingGIF.color(2))
      }
    }
  }
}
