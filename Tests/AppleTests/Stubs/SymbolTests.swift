import AppKit
import Symbols
import Testing
import UIKit
import Vitrine
import VitrineApple
import VitrineTestSupport
import VitrineTesting

/// Symbols that stand for an image, with their configuration.
@MainActor
@Suite(.patient)
struct SymbolTests {
  private let setting: Setting

  init() throws { setting = try Setting() }

  private func shown(_ symbol: Symbol) -> UIImageView {
    let view = UIImageView(frame: CGRect(x: 0, y: 0, width: 20, height: 20))
    view.vitrine.pipeline = setting.pipeline
    view.vitrine.load(Setting.slow, placeholder: .symbol(symbol))
    return view
  }

  @Test
  func aWholeConfigurationReachesTheView() {
    let configurations: [UIImage.SymbolConfiguration] = [
      .init(pointSize: 40, weight: .bold, scale: .large),
      .init(textStyle: .title1),
      .init(hierarchicalColor: .systemBlue),
      .init(paletteColors: [.systemBlue, .systemRed]),
      .preferringMulticolor(),
      .init(pointSize: 20).applying(UIImage.SymbolConfiguration(hierarchicalColor: .systemBlue)),
    ]
    for configuration in configurations {
      let view = shown(Symbol("photo", configuration: configuration))
      #expect(view.image?._facts.symbolName == "photo")
      #expect(view._effectiveSymbolConfiguration == configuration)
    }
  }

  @Test
  func aVariableValueReachesTheView() {
    #expect(shown(Symbol("wifi", variableValue: 0.5)).image?._facts.variableValue == 0.5)
  }

  @Test
  func thePreferredConfigurationOfTheViewAppliesBeneathTheSymbols() {
    let view = shown(Symbol("photo", configuration: UIImage.SymbolConfiguration(weight: .bold)))
    view.preferredSymbolConfiguration = UIImage.SymbolConfiguration(pointSize: 44)
    #expect(view._effectiveSymbolConfiguration?._values.pointSize == 44)
    #expect(view._effectiveSymbolConfiguration?._values.weight == .bold)
  }

  @Test
  func effectsPlayUntilTheImageComes() async throws {
    let history = History()
    let view = shown(Symbol("photo", effects: [Symbol.Effect(.pulse), Symbol.Effect(.drawOn)]))
    view.vitrine.onChange = { history.note($0) }
    #expect(view._symbolEffects.active.map(\.configuration._name) == ["pulse", "drawOn"])
    try await setting.loader.nextLoad(of: Setting.slow).respond(with: setting.response)
    await history.settled()
    #expect(view._symbolEffects.active.isEmpty)
  }

  @Test
  func aSymbolIsDrawnOffWhileItsImageIsAwaited() async throws {
    let view = shown(Symbol("photo", effects: [Symbol.Effect(.drawOff.byLayer, options: .nonRepeating)]))
    let played = try #require(view._symbolEffects.history.first)
    #expect(played.effect.configuration._name == "drawOff")
    #expect(played.effect.configuration == DrawOffSymbolEffect.drawOff.byLayer.configuration)
    #expect(played.options == .nonRepeating)
    view.vitrine.clear()
    #expect(view._symbolEffects.active.isEmpty)
  }

  @Test
  func symbolsDifferByTheirEffects() {
    let symbols = [
      Symbol("photo"), Symbol("photo", effects: [Symbol.Effect(.drawOn)]),
      Symbol("photo", effects: [Symbol.Effect(.drawOff)]),
      Symbol("photo", effects: [Symbol.Effect(.drawOff.byLayer)]),
      Symbol("photo", effects: [Symbol.Effect(.drawOff, options: .nonRepeating)]),
    ]
    #expect(Set(symbols).count == symbols.count)
    #expect(symbols[2] == Symbol("photo", effects: [Symbol.Effect(.drawOff)]))
  }

  @Test
  func effectsOfAppKitPlayUntilTheFailureAndThenItsOwn() async throws {
    let history = History()
    let view = NSImageView(frame: CGRect(x: 0, y: 0, width: 20, height: 20))
    view.vitrine.pipeline = setting.pipeline
    view.vitrine.onChange = { history.note($0) }
    let loading = Symbol("photo", effects: [Symbol.Effect(.pulse), Symbol.Effect(.drawOn)])
    let failure = Symbol("xmark", effects: [Symbol.Effect(.drawOff)])
    view.vitrine.load(Setting.missing, placeholder: .symbol(loading), failure: .symbol(failure))
    #expect(view._symbolEffects.active.map(\.configuration._name) == ["pulse", "drawOn"])
    await history.settled()
    #expect(view._symbolEffects.active.map(\.configuration._name) == ["drawOff"])
    view.vitrine.load(Setting.cat)
    await history.settled()
    #expect(view._symbolEffects.active.isEmpty)
  }

  @Test
  func aSymbolOfAppKitHasItsConfigurationToo() {
    let view = NSImageView(frame: CGRect(x: 0, y: 0, width: 20, height: 20))
    view.vitrine.pipeline = setting.pipeline
    let configuration = NSImage.SymbolConfiguration(pointSize: 30, weight: .bold)
    view.vitrine.load("not a URL", failure: .symbol(Symbol("xmark", configuration: configuration)))
    #expect(view.image?._symbolName == "xmark")
    #expect(view.image?.symbolConfiguration == configuration)
  }
}
