import CoreGraphics
import Foundation

/// A view that is the root of others, and gives them their traits.
@MainActor
open class UIWindow: UIView, _Root {
  private var isShown = false
  private var traits = UIScreen.main.traitCollection
  /// Whether it takes the keys.
  open private(set) var isKeyWindow = false

  /// Makes a window.
  public override init(frame: CGRect) {
    super.init(frame: frame)
    setUp()
  }

  /// Makes a window the size of the screen.
  public convenience init() {
    self.init(frame: UIScreen.main.bounds)
  }

  /// Makes an empty window: these stubs read no archives.
  public required init?(coder: NSCoder) {
    super.init(coder: coder)
    setUp()
  }

  open override var window: UIWindow? { self }

  /// The controller whose view fills the window.
  open var rootViewController: UIViewController? {
    didSet {
      guard rootViewController !== oldValue else { return }
      if let oldValue, let view = oldValue.viewIfLoaded {
        if isShown { oldValue.beginAppearanceTransition(false, animated: false) }
        view.removeFromSuperview()
        if isShown { oldValue.endAppearanceTransition() }
      }
      if isShown { showRoot() }
    }
  }

  /// Shows the window, and gives it the keys.
  open func makeKeyAndVisible() {
    isKeyWindow = true
    isHidden = false
    guard !isShown else { return }
    isShown = true
    showRoot()
  }

  /// How many pixels make a point in this window.
  public var _displayScale: CGFloat {
    get { traits.displayScale }
    set { _traits = UITraitCollection(traitsFrom: [traits, UITraitCollection(displayScale: newValue)]) }
  }

  /// The traits of everything inside.
  public var _traits: UITraitCollection {
    get { traits }
    set {
      let old = traits
      traits = newValue
      traitsChanged(from: old)
    }
  }

  /// Lays out everything inside, and has it draw what is out of date.
  public func _layoutTree() {
    layoutIfNeeded()
    displayTree()
  }

  private func setUp() {
    ownWindow = self
    isHidden = true
    _RunLoop._add(self)
  }

  private func showRoot() {
    guard let controller = rootViewController, let view = controller.view else { return }
    controller.beginAppearanceTransition(true, animated: false)
    view.frame = bounds
    view.autoresizingMask = [.flexibleWidth, .flexibleHeight]
    addSubview(view)
    controller.endAppearanceTransition()
  }
}
