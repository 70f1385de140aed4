import Testing
import UIKit

@MainActor
@Suite("Animations of views")
struct AnimationTests {
  @Test("The completion comes when the animations have ended")
  func animate() {
    withOwnClock {
      let view = UIView()
      var log: [Bool] = []
      UIView.animate(withDuration: 1) {
        view.alpha = 0
      } completion: {
        log.append($0)
      }
      #expect(view.alpha == 0)
      #expect(view.layer._presentationOpacity == 1)
      _RunLoop._advance(by: 0.5)
      #expect(abs(view.layer._presentationOpacity - 0.5) < 0.001)
      #expect(log.isEmpty)
      _RunLoop._advance(by: 0.5)
      #expect(log == [true])
    }
  }

  @Test("A delay holds the first state")
  func delay() {
    withOwnClock {
      let view = UIView()
      var ended = false
      UIView.animate(withDuration: 1, delay: 1, options: .curveLinear) {
        view.alpha = 0
      } completion: { _ in
        ended = true
      }
      _RunLoop._advance(by: 0.5)
      #expect(view.layer._presentationOpacity == 1)
      _RunLoop._advance(by: 0.75)
      #expect(view.layer._presentationOpacity == 0.75)
      #expect(!ended)
      _RunLoop._advance(by: 0.75)
      #expect(ended)
    }
  }

  @Test("Without changes or length the completion comes at the next turn")
  func nothing() {
    withOwnClock {
      let view = UIView()
      var count = 0
      UIView.animate(withDuration: 1, animations: {}, completion: { _ in count += 1 })
      UIView.animate(withDuration: 0, animations: { view.alpha = 0 }, completion: { _ in count += 1 })
      #expect(count == 0)
      _RunLoop.turn()
      #expect(count == 2)
    }
  }

  @Test("A crossfade is recorded, and the changes are there at once")
  func transition() {
    withOwnClock {
      let window = UIWindow()
      let view = UIImageView()
      window.addSubview(view)
      var log: [Bool] = []
      let image = UIImage(cgImage: picture(2, 2))
      UIView.transition(with: view, duration: 0.3, options: [.transitionCrossDissolve, .allowUserInteraction]) {
        view.image = image
        view.alpha = 0.5
      } completion: {
        log.append($0)
      }
      #expect(view.image === image)
      #expect(view._transitions.count == 1)
      #expect(view._transitions[0].options._isCrossDissolve)
      #expect(view.layer.animationKeys() == [kCATransition])
      _RunLoop._advance(by: 0.3)
      #expect(log == [true])
      #expect(view._transitions[0].finished == true)
    }
  }

  @Test("A second transition and the loss of the window cut it off")
  func cut() {
    withOwnClock {
      let window = UIWindow()
      let view = UIView()
      window.addSubview(view)
      var log: [String] = []
      UIView.transition(with: view, duration: 1, options: .transitionCrossDissolve, animations: nil) {
        log.append("first \($0)")
      }
      _RunLoop.turn()
      UIView.transition(with: view, duration: 1, options: .transitionCrossDissolve, animations: nil) {
        log.append("second \($0)")
      }
      #expect(log == ["first false"])
      _RunLoop.turn()
      view.removeFromSuperview()
      #expect(log == ["first false", "second false"])
    }
  }

  @Test("Nothing animates where animations are off")
  func off() {
    withOwnClock {
      let view = UIView()
      var ended = false
      UIView.performWithoutAnimation {
        UIView.animate(withDuration: 1, animations: { view.alpha = 0 }, completion: { _ in ended = true })
      }
      #expect(ended)
      #expect(view.layer.animationKeys() == nil)
      #expect(UIView.areAnimationsEnabled)
    }
  }

  @Test("An update link ticks with the turns while its view is in a window")
  func updateLink() {
    withOwnClock {
      let window = UIWindow()
      let view = UIView()
      let link = UIUpdateLink(view: view)
      var times: [TimeInterval] = []
      var phases: [String] = []
      link.requiresContinuousUpdates = true
      link.addAction(to: .afterCATransactionCommit) { _, _ in phases.append("after") }
      link.addAction { _, info in
        phases.append("before")
        times.append(info.modelTime)
        #expect(info.estimatedPresentationTime > info.modelTime)
      }
      link.isEnabled = true
      _RunLoop._advance(by: 1)
      #expect(times.isEmpty)
      window.addSubview(view)
      _RunLoop._advance(by: 0.1)
      _RunLoop._advance(by: 0.2, frames: 2)
      #expect(times.count == 3)
      #expect(phases.prefix(2) == ["before", "after"])
      link.isEnabled = false
      _RunLoop._advance(by: 1)
      #expect(times.count == 3)
    }
  }

  @Test("A link may want fewer updates, or only those that happen anyway")
  func slowUpdateLink() {
    withOwnClock {
      let window = UIWindow()
      let link = UIUpdateLink(view: window)
      link.isEnabled = true
      _RunLoop.turn()
      let count = link._tickCount
      _RunLoop._advance(by: 1)
      #expect(link._tickCount == count)
      window.setNeedsDisplay()
      _RunLoop._advance(by: 1)
      #expect(link._tickCount == count + 1)
      link.requiresContinuousUpdates = true
      link.preferredFrameRateRange = CAFrameRateRange(minimum: 5, maximum: 20, preferred: 10)
      _RunLoop._advance(by: 1, frames: 60)
      #expect((count + 10...count + 12).contains(link._tickCount))
    }
  }
}
