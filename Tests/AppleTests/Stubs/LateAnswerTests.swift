import AppKit
import SwiftUI
import Testing
import UIKit
import Vitrine
import VitrineApple
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Answers that are on their way to the main thread while a view is bound to something else.
@MainActor
@Suite(.patient)
struct LateAnswerTests {
  private let setting: Setting
  private let slow = ImageRequest(url: Setting.slow, size: .pixels(20, 20))

  init() throws { setting = try Setting() }

  /// Answers the load of an image, and holds the main thread until the answer has been sent there.
  private func answer(_ load: FakeLoad, of request: ImageRequest? = nil, status: Int = 200) {
    let sent = DispatchSemaphore(value: 0)
    // It joins the load of the view, and is told after it.
    setting.pipeline.loadImage(for: request ?? slow) { _ in sent.signal() }
    load.respond(with: status == 200 ? setting.response : FakeResponse(status: status))
    sent.wait()
  }

  /// Lets everything run that was sent to the main actor before.
  private func drain() async {
    for _ in 0..<50 { await Task { @MainActor in }.value }
  }

  private func makeView() async throws -> (UIImageView, FakeLoad) {
    let view = UIImageView(frame: CGRect(x: 0, y: 0, width: 20, height: 20))
    view.vitrine.pipeline = setting.pipeline
    view.vitrine.load(slow, placeholder: .symbol("photo"))
    return (view, try await setting.loader.nextLoad(of: Setting.slow))
  }

  @Test
  func aViewWithAnotherImageDoesNotShowIt() async throws {
    let (view, load) = try await makeView()
    answer(load)
    view.vitrine.load(Setting.slower, placeholder: .symbol("hourglass"))
    await drain()
    #expect(view.image?._facts.symbolName == "hourglass")
    #expect(view._imageHistory.count == 2)
  }

  @Test
  func aViewThatWasClearedStaysEmpty() async throws {
    let (view, load) = try await makeView()
    answer(load)
    view.vitrine.clear()
    await drain()
    #expect(view.image == nil)
  }

  @Test
  func aViewThatCancelledKeepsItsPlaceholder() async throws {
    let (view, load) = try await makeView()
    answer(load)
    view.vitrine.cancel()
    await drain()
    #expect(view.image?._facts.symbolName == "photo")
  }

  @Test
  func aFailureIsNotThatOfAnotherRequest() async throws {
    let (view, load) = try await makeView()
    answer(load, status: 404)
    view.vitrine.load(Setting.slower, placeholder: .symbol("hourglass"), failure: .symbol("xmark"))
    await drain()
    #expect(view.image?._facts.symbolName == "hourglass")
  }

  @Test
  func aViewOfAppKitWithAnotherImageDoesNotShowIt() async throws {
    let view = NSImageView(frame: CGRect(x: 0, y: 0, width: 20, height: 20))
    view.vitrine.pipeline = setting.pipeline
    view.vitrine.load(slow)
    answer(try await setting.loader.nextLoad(of: Setting.slow))
    view.vitrine.load(Setting.slower, placeholder: .symbol("hourglass"))
    await drain()
    #expect(view.image?._symbolName == "hourglass")
  }

  @Test
  func aCellThatIsUsedAgainDoesNotShowIt() async throws {
    let window = UIWindow(frame: CGRect(x: 0, y: 0, width: 100, height: 100))
    let cell = UICollectionViewCell(frame: CGRect(x: 0, y: 0, width: 10, height: 10))
    window.addSubview(cell)
    var moving = slow
    moving.animates = true
    cell.contentConfiguration = RemoteImageConfiguration(moving, pipeline: setting.pipeline)
    let view = try #require(cell.contentView as? RemoteImageView)
    window.layoutIfNeeded()
    answer(try await setting.loader.nextLoad(of: Setting.slow), of: moving)
    cell.contentConfiguration = RemoteImageConfiguration(
      ImageRequest(url: Setting.slower),
      placeholder: .symbol("hourglass"),
      pipeline: setting.pipeline,
    )
    await drain()
    #expect(view.imageView.image == nil)
  }
}

/// The same of a view of SwiftUI.
@MainActor
@Suite(.patient)
struct LateAnswerInSwiftUITests {
  @Test
  func anotherURLDoesNotShowIt() async throws {
    let setting = try Setting()
    var environment = EnvironmentValues()
    environment.imagePipeline = setting.pipeline
    func view(_ url: String) -> RemoteImage<SwiftUI.Text> {
      RemoteImage(ImageRequest(url: url)) { Text($0.image == nil ? "none" : "image") }
    }
    let host = _Host(view(Setting.slow), environment: environment)
    await host.settle()
    let load = try await setting.loader.nextLoad(of: Setting.slow)

    Self.answer(load, setting)
    host.update(view(Setting.slower))
    await host.settle()

    #expect(host.texts == ["none"])
  }

  private static func answer(_ load: FakeLoad, _ setting: Setting) {
    let sent = DispatchSemaphore(value: 0)
    setting.pipeline.loadImage(for: ImageRequest(url: Setting.slow)) { _ in sent.signal() }
    load.respond(with: setting.response)
    sent.wait()
  }
}
