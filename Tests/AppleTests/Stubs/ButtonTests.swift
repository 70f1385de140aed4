import Testing
import UIKit
import Vitrine
import VitrineApple
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// `UIButton.vitrine`: an image or a background for each state.
@MainActor
@Suite(.patient)
struct ButtonTests {
  private let setting: Setting
  private let button = UIButton(frame: CGRect(x: 0, y: 0, width: 20, height: 15))
  private let history = History()

  init() throws { setting = try Setting() }

  private func watch(_ loader: ImageViewLoader) -> ImageViewLoader {
    loader.pipeline = setting.pipeline
    loader.onChange = { [history] in history.note($0) }
    return loader
  }

  @Test
  func theImageOfTheNormalStateTakesThePlaceOfItsPlaceholder() async {
    watch(button.vitrine).load(Setting.cat, placeholder: .symbol("photo"))
    #expect(button.image(for: .normal)?._facts.symbolName == "photo")

    await history.settled()

    #expect(history.kinds == ["placeholder", "image, fading"])
    #expect(button.image(for: .normal)?.cgImage != nil)
    #expect(button.backgroundImage(for: .normal) == nil)
    #expect(button._transitions.count == 1)
  }

  @Test
  func eachStateHasALoaderOfItsOwn() async {
    watch(button.vitrine(for: .selected)).load(Setting.cat)
    await history.settled()

    #expect(button.vitrine(for: .selected) === button.vitrine(for: .selected))
    #expect(button.vitrine(for: .selected) !== button.vitrine)
    #expect(button.image(for: .normal) == nil)
    #expect(button.image(for: .selected)?.cgImage != nil)
  }

  @Test
  func aBackgroundIsDecodedToCoverTheButtonAndAnImageToFitIt() async {
    let backgrounds = History()
    let background = button.vitrineBackground()
    background.pipeline = setting.pipeline
    background.onChange = { backgrounds.note($0) }
    background.load(Setting.cat)
    watch(button.vitrine).load(Setting.cat)
    await history.settled()
    await backgrounds.settled()

    // 40x30 pixels are shown at the scale of the screen.
    let scale = button.traitCollection.displayScale
    #expect(button.backgroundImage(for: .normal)?.cgImage?.width == min(40, Int(20 * scale)))
    #expect(button.image(for: .normal)?.cgImage?.width == min(40, Int(20 * scale)))
    #expect(background !== button.vitrine)
  }

  @Test
  func aFailureShowsItsPlaceholder() async {
    watch(button.vitrine).load(Setting.missing, failure: .symbol("xmark"))
    await history.settled()
    #expect(button.image(for: .normal)?._facts.symbolName == "xmark")
  }

  @Test
  func aLaterRequestIsTheOnlyOneThatIsShown() async throws {
    watch(button.vitrine).load(Setting.slow)
    let late = try await setting.loader.nextLoad(of: Setting.slow)
    button.vitrine.load(Setting.missing, failure: .symbol("xmark"))
    late.respond(with: setting.response)
    await history.settled()
    #expect(button.image(for: .normal)?._facts.symbolName == "xmark")
  }

  @Test
  func aButtonThatIsGoneEndsItsLoad() async throws {
    var gone: UIButton? = UIButton(frame: CGRect(x: 0, y: 0, width: 20, height: 15))
    weak let left = gone
    gone?.vitrine.pipeline = setting.pipeline
    gone?.vitrine.load(Setting.slow)
    let load = try await setting.loader.nextLoad(of: Setting.slow)
    gone = nil
    #expect(left == nil)
    await load.wait { $0.isCancelled }
  }

  @Test
  func aTemplateHasTheTintOfTheButton() async {
    button.vitrine.showsTemplates = true
    watch(button.vitrine).load(Setting.cat)
    await history.settled()
    #expect(button.image(for: .normal)?.renderingMode == .alwaysTemplate)
  }
}
