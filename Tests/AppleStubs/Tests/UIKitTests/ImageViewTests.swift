import Testing
import UIKit

@MainActor
@Suite("Image views")
struct ImageViewTests {
  @Test("The layer shows the pixels, and the history keeps every picture")
  func image() {
    let first = UIImage(cgImage: picture(4, 2), scale: 2, orientation: .up)
    let view = UIImageView(image: first)
    #expect(view.frame.size == CGSize(width: 2, height: 1))
    #expect(view.layer.contents as? CGImage === first.cgImage)
    #expect(view.layer.contentsScale == 2)
    view.contentMode = .scaleAspectFill
    #expect(view.layer.contentsGravity == .resizeAspectFill)
    view.image = nil
    #expect(view.layer.contents == nil)
    #expect(view._imageHistory == [first, nil])
    #expect(view.intrinsicContentSize.width == UIView.noIntrinsicMetric)
    #expect(!view.isUserInteractionEnabled)
  }

  @Test("A highlighted view shows its other picture")
  func highlight() {
    let plain = UIImage(cgImage: picture(1, 1))
    let other = UIImage(cgImage: picture(2, 2))
    let view = UIImageView(image: plain, highlightedImage: other)
    view.isHighlighted = true
    #expect(view.layer.contents as? CGImage === other.cgImage)
    #expect(view.image === plain)
  }

  @Test("The view's settings reach a symbol below the symbol's own")
  func symbolSettings() {
    let view = UIImageView(
      image: UIImage(systemName: "star", withConfiguration: UIImage.SymbolConfiguration(scale: .small))
    )
    view.preferredSymbolConfiguration = UIImage.SymbolConfiguration(pointSize: 30, weight: .bold, scale: .large)
    #expect(view._effectiveSymbolConfiguration?._values.pointSize == 30)
    #expect(view._effectiveSymbolConfiguration?._values.scale == .small)
  }

  @Test("The brightness comes from the view, or else from the traits")
  func dynamicRange() {
    let view = UIImageView()
    #expect(view.imageDynamicRange == .standard)
    let window = UIWindow()
    window.addSubview(view)
    window._traits = UITraitCollection(traitsFrom: [window._traits, UITraitCollection(imageDynamicRange: .high)])
    #expect(view.imageDynamicRange == .high)
    view.preferredImageDynamicRange = .constrainedHigh
    #expect(view.imageDynamicRange == .constrainedHigh)
  }

  @Test("An effect for an event ends by itself, one without end when it is removed")
  func effects() {
    withOwnClock {
      let view = UIImageView(image: UIImage(systemName: "star"))
      var log: [String] = []
      view.addSymbolEffect(.bounce, options: .speed(2)) { log.append("bounce \($0.isFinished)") }
      view.addSymbolEffect(.pulse, options: .repeating, animated: true) { log.append("pulse \($0.isFinished)") }
      view.addSymbolEffect(.scale.up) { log.append("scale \($0.isFinished)") }
      view.addSymbolEffect(.disappear, animated: false) { log.append("disappear \($0.isFinished)") }
      #expect(view._symbolEffects.active.count == 4)
      _RunLoop.turn()
      #expect(log == ["disappear true"])
      _RunLoop._advance(by: 0.5)
      #expect(log == ["disappear true", "bounce true"])
      _RunLoop._advance(by: 5)
      #expect(log.last == "scale true")
      #expect(view._symbolEffects.active.count == 3)
      view.removeSymbolEffect(ofType: .scale)
      #expect(view._symbolEffects.active.count == 2)
      view.removeAllSymbolEffects()
      #expect(view._symbolEffects.active.isEmpty)
      #expect(log.last == "pulse false")
    }
  }

  @Test("A symbol can take the place of another one")
  func replace() throws {
    try withOwnClock {
      let view = UIImageView(image: UIImage(systemName: "play"))
      let pause = try #require(UIImage(systemName: "pause"))
      var finished: Bool?
      view.setSymbolImage(pause, contentTransition: .replace.downUp) { finished = $0.isFinished }
      #expect(view.image === pause)
      #expect(finished == nil)
      _RunLoop._advance(by: 1)
      #expect(finished == true)
    }
  }
}
