import QuartzCore
import Testing

@MainActor
@Suite("Transactions")
struct TransactionTests {
  @Test("A change to a layer in a tree animates by itself")
  func implicitAnimation() {
    _Clock.$_current.withValue(_Clock()) {
      let root = CALayer()
      let layer = CALayer()
      layer.opacity = 0
      #expect(layer.animationKeys() == nil)
      root.addSublayer(layer)
      layer.opacity = 1
      #expect(layer.animationKeys() == ["opacity"])
      #expect(layer._presentationOpacity == 0)
      _Clock._current._advance(by: 0.25)
      #expect(layer.animationKeys() == nil)
    }
  }

  @Test("Disabled actions hold for the transaction and those inside")
  func disabledActions() {
    _Clock.$_current.withValue(_Clock()) {
      let root = CALayer()
      let layer = CALayer()
      root.addSublayer(layer)
      CATransaction.begin()
      CATransaction.setDisableActions(true)
      CATransaction.begin()
      layer.opacity = 0
      CATransaction.commit()
      CATransaction.commit()
      #expect(layer.animationKeys() == nil)
      #expect(!CATransaction.disableActions())
    }
  }

  @Test("The completion waits for the animations added after it was set")
  func completion() {
    _Clock.$_current.withValue(_Clock()) {
      let root = CALayer()
      let layer = CALayer()
      root.addSublayer(layer)
      var log: [String] = []
      CATransaction.begin()
      CATransaction.setAnimationDuration(2)
      CATransaction.setCompletionBlock { log.append("done") }
      layer.opacity = 0
      CATransaction.commit()
      _Clock._current._advance(by: 1.9)
      #expect(log.isEmpty)
      _Clock._current._advance(by: 0.1)
      #expect(log == ["done"])
    }
  }

  @Test("Without animations the completion runs at the commit")
  func emptyTransaction() {
    _Clock.$_current.withValue(_Clock()) {
      var log: [String] = []
      CATransaction.begin()
      CATransaction.setCompletionBlock { log.append("first") }
      CATransaction.setCompletionBlock { log.append("second") }
      #expect(log == ["first"])
      CATransaction.commit()
      #expect(log == ["first", "second"])
      CATransaction.setCompletionBlock { log.append("implicit") }
      _RunLoop.turn()
      #expect(log.last == "implicit")
    }
  }

  @Test("A view's layer does not animate by itself")
  func backingLayer() {
    _Clock.$_current.withValue(_Clock()) {
      let layer = CALayer()
      layer._isBackingLayer = true
      layer.opacity = 0
      #expect(layer.animationKeys() == nil)
      var ended: Bool?
      _AnimationContext(duration: 1) { ended = $0 }.run { layer.opacity = 1 }
      #expect(layer.animationKeys() == ["opacity"])
      _RunLoop._advance(by: 1)
      #expect(ended == true)
    }
  }
}
