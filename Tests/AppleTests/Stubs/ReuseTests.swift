import Testing
import UIKit
import Vitrine
import VitrineApple
import VitrineTestSupport
import VitrineTesting

/// One view that is bound to several images, whose answers come in every order.
@MainActor
@Suite(.patient)
struct ReuseTests {
  private let setting: Setting
  private let history = History()
  private let names = ["one", "two", "three"].map { "https://images.invalid/\($0).png" }
  /// The widths of the pictures, by which they are told apart.
  private let widths = [10, 20, 30]

  init() throws { setting = try Setting() }

  private func response(_ width: Int) throws -> FakeResponse {
    let body = try Bitmap.testPattern(width: width, height: width).encoded(as: .png)
    return FakeResponse(headers: ["Cache-Control": "max-age=3600"], body: body)
  }

  private func request(_ index: Int) -> ImageRequest { ImageRequest(url: names[index], size: .pixels(100, 100)) }

  @Test(arguments: [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]])
  func aReusedViewEndsWithItsLastImageInEveryOrderOfAnswers(order: [Int]) async throws {
    let view = UIImageView(frame: CGRect(x: 0, y: 0, width: 20, height: 20))
    view.vitrine.pipeline = setting.pipeline
    // Otherwise late answers would not come at all.
    view.vitrine.slot.whenLeft = .keepGoing
    view.vitrine.onChange = { [history] in history.note($0) }
    var loads: [FakeLoad] = []
    for index in 0..<3 {
      view.vitrine.load(request(index), placeholder: .symbol("photo"))
      loads.append(try await setting.loader.nextLoad(of: names[index]))
    }

    for index in order {
      let late = setting.pipeline.imageTask(for: request(index))
      loads[index].respond(with: try response(widths[index]))
      _ = try await late.image
    }
    // The one image that is shown, whichever answer came last; whoever awaits an image learns of it before a view does.
    await history.settled()
    await Self.mainQueueDrains()

    let shown = view._imageHistory.compactMap { $0?.cgImage?.width }
    #expect(shown == [30])
    #expect(view.image?.cgImage?.width == 30)
  }

  /// Everything that was sent to the main actor before has run.
  private static func mainQueueDrains() async {
    for _ in 0..<50 { await Task { @MainActor in }.value }
  }
}
