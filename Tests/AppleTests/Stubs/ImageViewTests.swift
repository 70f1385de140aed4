import Testing
import UIKit
import Vitrine
import VitrineApple
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// `UIImageView.vitrine`, as a row of a table uses it.
@MainActor
@Suite(.patient)
struct ImageViewTests {
  private let setting: Setting
  private let view = UIImageView(frame: CGRect(x: 0, y: 0, width: 20, height: 15))
  private let history = History()

  init() throws {
    setting = try Setting()
    view.vitrine.pipeline = setting.pipeline
    view.vitrine.onChange = { [history] in history.note($0) }
  }

  @Test
  func anImageOfAURLTakesThePlaceOfItsPlaceholderAndFadesIn() async throws {
    view.vitrine.load(Setting.cat, placeholder: .color(.init(0xE0E0E0)))
    let placeholder = try #require(view.image)

    await history.settled()

    #expect(history.kinds == ["placeholder", "image, fading"])
    #expect(view.image !== placeholder)
    #expect(view._transitions.count == 1)
    #expect(view._transitions.first?.options._isCrossDissolve == true)
  }

  @Test
  func anImageInMemoryIsShownWithinTheCallWithoutAPlaceholderOrAFade() async throws {
    _ = try await setting.pipeline.image(for: Setting.request(Setting.cat))

    view.vitrine.load(Setting.request(Setting.cat), placeholder: .symbol("photo"))

    #expect(history.kinds == ["image"])
    #expect(view._imageHistory.count == 1)
    #expect(view.image?.cgImage?.width == 20)
    #expect(view._transitions.isEmpty)
  }

  @Test
  func aFailureShowsItsImageFromTheCatalogue() async throws {
    let pixels = try #require(Bitmap.testPattern(width: 8, height: 8).cgImage)
    UIImage._register(UIImage(cgImage: pixels), named: "broken-heart")

    view.vitrine.load(Setting.missing, placeholder: .symbol("photo"), failure: .resource("broken-heart"))
    #expect(view.image?._facts.symbolName == "photo")
    await history.settled()

    #expect(view.image?._facts.assetName == "broken-heart")
  }

  @Test
  func textThatIsNoURLFailsWithinTheCall() {
    view.vitrine.load("not a URL", failure: .symbol("xmark"))
    #expect(history.kinds.last == "failure")
    #expect(view.image?._facts.symbolName == "xmark")
  }

  @Test
  func theViewStaysAsItIsIfAskedToUntilTheImageComes() async throws {
    view.vitrine.load(Setting.cat)
    await history.settled()
    let cat = view.image

    view.vitrine.load(Setting.slow, placeholder: .keepCurrent)
    #expect(view.image === cat)
    try await setting.loader.nextLoad(of: Setting.slow).respond(with: setting.response)
    await history.settled()

    #expect(view.image !== cat)
    #expect(view._imageHistory.contains(nil) == false)
  }

  @Test
  func anOmittedPlaceholderClearsTheView() async throws {
    view.vitrine.load(Setting.cat)
    await history.settled()
    view.vitrine.load(Setting.slow)
    #expect(view.image == nil)
  }

  @Test
  func cancellingKeepsWhatIsShownAndStopsTheLoad() async throws {
    view.vitrine.load(Setting.slow, placeholder: .symbol("photo"))
    let load = try await setting.loader.nextLoad(of: Setting.slow)

    view.vitrine.cancel()
    await load.wait { $0.isCancelled }

    #expect(view.image?._facts.symbolName == "photo")
  }

  @Test
  func aRequestWithoutASizeIsDecodedAtThePixelsOfTheView() async throws {
    let window = UIWindow(frame: CGRect(x: 0, y: 0, width: 100, height: 100))
    window._displayScale = 1
    view.contentMode = .scaleAspectFill
    window.addSubview(view)
    view.vitrine.load(Setting.cat)
    await history.settled()
    #expect(view.image?.cgImage.map { [$0.width, $0.height] } == [20, 15] as [Int])
  }

  @Test
  func aViewWithoutASizeWaitsForItsLayout() async throws {
    let late = UIImageView(frame: .zero)
    late.contentMode = .scaleAspectFit
    late.vitrine.pipeline = setting.pipeline
    late.vitrine.onChange = { [history] in history.note($0) }
    late.vitrine.load(Setting.cat)
    #expect(setting.loader.counts.loads == 0)

    late.frame = CGRect(x: 0, y: 0, width: 10, height: 10)
    late.layoutIfNeeded()
    await history.settled()

    // The display has two pixels a point.
    #expect(late.image?.cgImage?.width == 20)
  }

  @Test
  func aViewThatIsAsLargeAsItsImageTakesOneNoLargerThanItsWindow() async throws {
    let window = UIWindow(frame: CGRect(x: 0, y: 0, width: 16, height: 100))
    window._displayScale = 1
    let loose = UIImageView(frame: .zero)
    loose.vitrine.pipeline = setting.pipeline
    loose.vitrine.onChange = { [history] in history.note($0) }
    loose.vitrine.load(Setting.cat)
    window.addSubview(loose)
    window.layoutIfNeeded()
    await history.settled()
    #expect(loose.image?.cgImage.map { [$0.width, $0.height] } == [16, 12] as [Int])
  }

  @Test
  func neitherTheLoadNorTheLoaderKeepsTheViewAlive() async throws {
    weak var released: UIImageView?
    weak var loader: ImageViewLoader?
    let load: FakeLoad
    do {
      let view = UIImageView(frame: CGRect(x: 0, y: 0, width: 20, height: 15))
      view.vitrine.pipeline = setting.pipeline
      view.vitrine.load(Setting.slow, placeholder: .symbol("photo"))
      (released, loader) = (view, view.vitrine)
      load = try await setting.loader.nextLoad(of: Setting.slow)
      #expect(released != nil)
    }
    await load.wait { $0.isCancelled }
    #expect(released == nil)
    #expect(loader == nil)
  }
}
