import Symbols
import Testing

@Suite("Symbol effects")
struct SymbolTests {
  private func name(_ effect: some SymbolEffect) -> String { effect.configuration._name }

  @Test("Each effect has its name")
  func names() {
    let names = [
      name(.bounce), name(.pulse), name(.variableColor), name(.scale), name(.appear), name(.disappear),
      name(.replace), name(.automatic), name(.breathe), name(.rotate), name(.wiggle), name(.drawOn), name(.drawOff),
    ]
    #expect(Set(names).count == 13)
    #expect(name(.replace.magic(fallback: .replace)) == "magicReplace")
  }

  @Test("Choices make another effect")
  func choices() {
    let plain = .bounce as BounceSymbolEffect
    #expect(plain.up.byLayer != plain)
    #expect(plain.up.byLayer == plain.byLayer.up)
    #expect(plain.up.configuration._choices == ["direction": "up"])
    #expect(plain.up.down == plain.down)
  }

  @Test("Options add up")
  func options() {
    let options = SymbolEffectOptions.speed(2).repeat(3)
    #expect(options._speed == 2)
    #expect(options._repeatCount == 3)
    #expect(SymbolEffectOptions.default._repeats == nil)
    #expect(SymbolEffectOptions.repeating == .repeat(.continuous))
    #expect(SymbolEffectOptions.repeat(.periodic(2, delay: 1))._repeatDelay == 1)
    #expect(SymbolEffectOptions.repeating.nonRepeating == .nonRepeating)
  }
}
