import Testing
import UIKit

final class RecordingView: UIView {
  var log: [String] = []

  override class var layerClass: AnyClass { RecordingLayer.self }

  override func willMove(toWindow newWindow: UIWindow?) {
    log.append("will \(newWindow != nil)")
  }

  override func didMoveToWindow() {
    log.append("did \(window != nil)")
  }

  override func traitCollectionDidChange(_ previousTraitCollection: UITraitCollection?) {
    log.append("scale \(traitCollection.displayScale)")
  }

  override func draw(_ rect: CGRect) {
    log.append("draw")
  }
}

final class RecordingLayer: CALayer {}

final class RecordingController: UIViewController {
  var log: [String] = []

  override func loadView() {
    log.append("load")
    view = RecordingView(frame: .zero)
  }

  override func viewDidLoad() { log.append("didLoad") }
  override func viewWillAppear(_ animated: Bool) { log.append("willAppear") }
  override func viewDidAppear(_ animated: Bool) { log.append("didAppear") }
  override func viewWillDisappear(_ animated: Bool) { log.append("willDisappear") }
  override func viewDidDisappear(_ animated: Bool) { log.append("didDisappear") }
}

@MainActor
@Suite("Views")
struct ViewTests {
  @Test("Views and their layers move together")
  func tree() {
    let root = UIView()
    let views = (0..<3).map { _ in UIView() }
    root.addSubview(views[0])
    root.addSubview(views[1])
    root.insertSubview(views[2], belowSubview: views[1])
    #expect(root.subviews == [views[0], views[2], views[1]])
    #expect(root.layer.sublayers == root.subviews.map(\.layer))
    root.insertSubview(views[1], at: 0)
    #expect(root.subviews == [views[1], views[0], views[2]])
    #expect(root.layer.sublayers == root.subviews.map(\.layer))
    views[0].removeFromSuperview()
    #expect(views[0].superview == nil)
    #expect(root.layer.sublayers?.count == 2)
  }

  @Test("A view hears of its window, and draws through the layer of its choice")
  func window() {
    let window = UIWindow(frame: CGRect(x: 0, y: 0, width: 100, height: 100))
    let outer = UIView()
    let view = RecordingView()
    #expect(view.layer is RecordingLayer)
    outer.addSubview(view)
    #expect(view.log.isEmpty)
    window.addSubview(outer)
    #expect(view.window === window)
    outer.removeFromSuperview()
    #expect(view.log == ["will true", "did true", "will false", "did false"])
    #expect(view.window == nil)
  }

  @Test("The window's scale reaches those who watch it")
  func traits() {
    let window = UIWindow()
    let view = RecordingView()
    window.addSubview(view)
    view.log = []
    var scales: [CGFloat] = []
    let registration = view.registerForTraitChanges([UITraitDisplayScale.self]) { (view: RecordingView, old) in
      scales += [old.displayScale, view.traitCollection.displayScale]
    }
    window._displayScale = 3
    #expect(scales == [2, 3])
    #expect(view.log == ["scale 3.0"])
    window._traits = UITraitCollection(traitsFrom: [window._traits, UITraitCollection(userInterfaceStyle: .dark)])
    #expect(scales == [2, 3])
    view.unregisterForTraitChanges(registration)
    window._displayScale = 1
    #expect(scales == [2, 3])
  }

  @Test("Constraints place a view at the next turn")
  func layout() {
    withOwnClock {
      let window = UIWindow(frame: CGRect(x: 0, y: 0, width: 200, height: 100))
      let pinned = UIView()
      let centred = UIImageView(image: UIImage(cgImage: picture(20, 10)))
      for view in [pinned, centred] {
        view.translatesAutoresizingMaskIntoConstraints = false
        window.addSubview(view)
      }
      NSLayoutConstraint.activate([
        pinned.leadingAnchor.constraint(equalTo: window.safeAreaLayoutGuide.leadingAnchor, constant: 5),
        pinned.trailingAnchor.constraint(equalTo: window.trailingAnchor, constant: -5),
        pinned.topAnchor.constraint(equalTo: window.topAnchor),
        pinned.heightAnchor.constraint(equalTo: pinned.widthAnchor, multiplier: 0.5, constant: -45),
        centred.centerXAnchor.constraint(equalTo: window.centerXAnchor),
        centred.topAnchor.constraint(equalTo: pinned.bottomAnchor, constant: 2),
      ])
      _RunLoop.turn()
      #expect(pinned.frame == CGRect(x: 5, y: 0, width: 190, height: 50))
      #expect(centred.frame == CGRect(x: 90, y: 52, width: 20, height: 10))
      window.frame.size.width = 100
      centred.image = UIImage(cgImage: picture(40, 10))
      _RunLoop.turn()
      #expect(pinned.frame.width == 90)
      #expect(centred.frame.width == 40)
    }
  }

  @Test("Layout and drawing happen once a turn")
  func turn() {
    withOwnClock {
      let window = UIWindow()
      let view = RecordingView()
      window.addSubview(view)
      view.log = []
      _RunLoop.turn()
      let count = view._layoutCount
      view.setNeedsLayout()
      view.setNeedsLayout()
      view.setNeedsDisplay()
      #expect(view._layoutCount == count)
      _RunLoop.turn()
      _RunLoop.turn()
      #expect(view._layoutCount == count + 1)
      #expect(view.log == ["draw"])
    }
  }

  @Test("A flexible width follows the superview")
  func autoresizing() {
    let outer = UIView(frame: CGRect(x: 0, y: 0, width: 100, height: 100))
    let inner = UIView(frame: CGRect(x: 10, y: 10, width: 80, height: 20))
    inner.autoresizingMask = [.flexibleWidth, .flexibleTopMargin]
    outer.addSubview(inner)
    outer.frame.size = CGSize(width: 150, height: 120)
    #expect(inner.frame == CGRect(x: 10, y: 30, width: 130, height: 20))
  }

  @Test("The tint comes from the superview")
  func tint() {
    let outer = UIView()
    let inner = UIView()
    outer.addSubview(inner)
    #expect(inner.tintColor == .systemBlue)
    outer.tintColor = .systemRed
    #expect(inner.tintColor == .systemRed)
  }

  @Test("A controller makes its view when the window shows it")
  func controller() {
    let window = UIWindow(frame: CGRect(x: 0, y: 0, width: 10, height: 10))
    let controller = RecordingController()
    window.rootViewController = controller
    #expect(!controller.isViewLoaded)
    window.makeKeyAndVisible()
    #expect(controller.log == ["load", "didLoad", "willAppear", "didAppear"])
    #expect(controller.view.window === window)
    #expect(controller.view.next === controller)
    controller.log = []
    window.rootViewController = nil
    #expect(controller.log == ["willDisappear", "didDisappear"])
    #expect(controller.view.window == nil)
  }
}
