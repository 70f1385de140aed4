import QuartzCore
import Testing

final class MarkedLayer: CALayer {
  override class func defaultAction(forKey event: String) -> (any CAAction)? { nil }
}

final class Listener: NSObject, CAAnimationDelegate {
  var log: [String] = []

  func animationDidStart(_ anim: CAAnimation) {
    log.append("start")
  }

  func animationDidStop(_ anim: CAAnimation, finished flag: Bool) {
    log.append("stop \(flag)")
  }
}

@MainActor
@Suite("Layers and animations")
struct LayerTests {
  @Test("The frame comes from the bounds, the position and the anchor point")
  func geometry() {
    let layer = CALayer()
    layer.frame = CGRect(x: 10, y: 20, width: 100, height: 50)
    #expect(layer.bounds == CGRect(x: 0, y: 0, width: 100, height: 50))
    #expect(layer.position == CGPoint(x: 60, y: 45))
    layer.position = CGPoint(x: 50, y: 25)
    #expect(layer.frame.origin == .zero)
  }

  @Test("Sublayers keep their order and know their superlayer")
  func tree() {
    let root = CALayer()
    let layers = (0..<3).map { _ in CALayer() }
    root.addSublayer(layers[0])
    root.addSublayer(layers[1])
    root.insertSublayer(layers[2], at: 0)
    #expect(root.sublayers == [layers[2], layers[0], layers[1]])
    root.insertSublayer(layers[1], below: layers[2])
    #expect(root.sublayers?.first === layers[1])
    layers[1].removeFromSuperlayer()
    #expect(layers[1].superlayer == nil)
    #expect(root.sublayers?.count == 2)
  }

  @Test("An animation ends on the clock, and is removed on completion")
  func animation() {
    _Clock.$_current.withValue(_Clock()) {
      let layer = CALayer()
      let listener = Listener()
      let fade = CABasicAnimation(keyPath: "opacity")
      fade.fromValue = 0
      fade.duration = 2
      fade.delegate = listener
      layer.add(fade, forKey: "fade")
      #expect(layer.animationKeys() == ["fade"])
      #expect(layer.animation(forKey: "fade") !== fade)
      #expect(layer._presentationOpacity == 0)
      _Clock._current._advance(by: 0.5)
      #expect(layer._presentationOpacity == 0.25)
      #expect(layer.presentation()?.opacity == 0.25)
      #expect(layer.opacity == 1)
      _Clock._current._advance(by: 1.5)
      #expect(layer.animationKeys() == nil)
      #expect(listener.log == ["start", "stop true"])
    }
  }

  @Test("A removed animation ends unfinished, and so does a replaced one")
  func removal() {
    _Clock.$_current.withValue(_Clock()) {
      let layer = CALayer()
      let listener = Listener()
      let transition = CATransition()
      transition.delegate = listener
      layer.add(transition, forKey: "any")
      #expect(layer.animationKeys() == [kCATransition])
      #expect(layer.animation(forKey: kCATransition)?.duration == 0.25)
      layer.add(transition, forKey: nil)
      #expect(listener.log == ["stop false"])
      layer.removeAllAnimations()
      #expect(listener.log == ["stop false", "stop false"])
    }
  }

  @Test("One that is not removed on completion goes on showing its end")
  func fillMode() {
    _Clock.$_current.withValue(_Clock()) {
      let layer = CALayer()
      let fade = CABasicAnimation(keyPath: "opacity")
      fade.toValue = 0.5
      fade.duration = 1
      fade.isRemovedOnCompletion = false
      fade.fillMode = .forwards
      layer.add(fade, forKey: "fade")
      _Clock._current._advance(by: 3)
      #expect(layer.animation(forKey: "fade") != nil)
      #expect(layer._presentationOpacity == 0.5)
    }
  }

  @Test("Discrete key frames show one value after another, without end")
  func keyframes() {
    _Clock.$_current.withValue(_Clock()) {
      let layer = CALayer()
      let frames = CAKeyframeAnimation(keyPath: "contents")
      frames.values = ["a", "b", "c"]
      frames.keyTimes = [0, 0.5, 0.75, 1]
      frames.calculationMode = .discrete
      frames.duration = 4
      frames.repeatCount = .infinity
      layer.add(frames, forKey: "frames")
      var seen: [String] = []
      for _ in 0..<8 {
        seen.append(layer._presentationContents as? String ?? "-")
        _Clock._current._advance(by: 1)
      }
      #expect(seen == ["a", "a", "b", "c", "a", "a", "b", "c"])
    }
  }

  @Test("A pace follows its curve")
  func pace() {
    let linear = CAMediaTimingFunction(name: .linear)
    let slow = CAMediaTimingFunction(name: .easeIn)
    #expect(abs(linear._value(at: 0.3) - 0.3) < 0.000_1)
    #expect(slow._value(at: 0.3) < 0.3)
    #expect(abs(CAMediaTimingFunction(name: .easeInEaseOut)._value(at: 0.5) - 0.5) < 0.000_1)
    #expect(slow == CAMediaTimingFunction(controlPoints: 0.42, 0, 1, 1))
  }

  @Test("A subclass can be copied for the presentation")
  func subclass() {
    let layer = MarkedLayer()
    layer.opacity = 0.5
    #expect(layer.presentation()?.opacity == 0.5)
    #expect(type(of: layer).init(_of: ()).opacity == 1)
  }
}
