import CoreGraphics
import Foundation

/// A rectangle on the screen.
@MainActor
open class UIView: UIResponder, UITraitEnvironment, UITraitChangeObservable, _AssociationOwner {
  /// The length of a side that has none by itself.
  public nonisolated static let noIntrinsicMetric: CGFloat = -1

  /// The class of the layer.
  open class var layerClass: AnyClass { CALayer.self }

  private lazy var ownLayer = makeLayer()
  var children: [UIView] = []
  weak var parent: UIView?
  weak var ownWindow: UIWindow?
  weak var controller: UIViewController?
  var layoutIsDue = true
  var registrations: [_TraitRegistration] = []
  /// What is associated with it.
  public var _associations: [UnsafeRawPointer: Any] = [:]
  /// The constraints it keeps.
  public var _heldConstraints: [NSLayoutConstraint] = []
  /// The transitions it was given, the oldest first.
  public internal(set) var _transitions: [_Transition] = []
  /// How often `layoutSubviews()` was called.
  public private(set) var _layoutCount = 0
  /// How often it was told that its size by itself has changed.
  public private(set) var _intrinsicSizeInvalidationCount = 0

  /// How the contents fit.
  open var contentMode = UIView.ContentMode.scaleToFill {
    didSet {
      layer.contentsGravity = contentMode.gravity
      setNeedsLayout()
    }
  }
  /// Whether it answers to touches.
  open var isUserInteractionEnabled = true
  /// What gives way when the superview changes its size.
  open var autoresizingMask: UIView.AutoresizingMask = []
  /// Whether its subviews change their size along.
  open var autoresizesSubviews = true
  /// Whether the frame, and not constraints, places it.
  open var translatesAutoresizingMaskIntoConstraints = true

  /// Makes a view.
  public init(frame: CGRect) {
    super.init()
    self.frame = frame
  }

  /// Makes a view without a size.
  public override convenience init() {
    self.init(frame: .zero)
  }

  /// Makes an empty view: these stubs read no archives.
  public required init?(coder: NSCoder) {
    super.init()
  }

  /// The layer it draws through.
  open var layer: CALayer { ownLayer }

  /// The rectangle in the superview.
  open var frame: CGRect {
    get { layer.frame }
    set { resize { layer.frame = newValue } }
  }

  /// The rectangle in its own coordinates.
  open var bounds: CGRect {
    get { layer.bounds }
    set { resize { layer.bounds = newValue } }
  }

  /// How much shows, from 0 to 1.
  open var alpha: CGFloat {
    get { CGFloat(layer.opacity) }
    set { layer.opacity = Float(newValue) }
  }

  /// Whether it hides.
  open var isHidden: Bool {
    get { layer.isHidden }
    set { layer.isHidden = newValue }
  }

  /// Whether it cuts off what lies outside.
  open var clipsToBounds: Bool {
    get { layer.masksToBounds }
    set { layer.masksToBounds = newValue }
  }

  /// The view around it.
  open var superview: UIView? { parent }

  /// The window around it.
  open var window: UIWindow? { ownWindow }

  /// Its traits, which come from the window.
  open var traitCollection: UITraitCollection {
    ownWindow?._traits ?? UIScreen.main.traitCollection
  }

  /// Hears that traits have changed.
  open func traitCollectionDidChange(_ previousTraitCollection: UITraitCollection?) {}

  /// Adds a view in front of the others.
  open func addSubview(_ view: UIView) {
    insert(view) { $0.count }
  }

  /// Hears that a view was added.
  open func didAddSubview(_ subview: UIView) {}

  /// Hears that a view will be removed.
  open func willRemoveSubview(_ subview: UIView) {}

  /// Takes the view out of its superview.
  open func removeFromSuperview() {
    detach(to: nil)
  }

  /// Hears that it will have another superview.
  open func willMove(toSuperview newSuperview: UIView?) {}

  /// Hears that it has another superview.
  open func didMoveToSuperview() {}

  /// Hears that it will have another window.
  open func willMove(toWindow newWindow: UIWindow?) {}

  /// Hears that it has another window.
  open func didMoveToWindow() {}

  /// Notes that the layout is out of date.
  open func setNeedsLayout() {
    layoutIsDue = true
    _Clock._current._requestUpdate()
  }

  /// Brings the layout up to date, of this view and of those inside.
  open func layoutIfNeeded() {
    if layoutIsDue {
      layoutIsDue = false
      _layoutCount += 1
      controller?.viewWillLayoutSubviews()
      layoutSubviews()
      controller?.viewDidLayoutSubviews()
    }
    for child in children { child.layoutIfNeeded() }
  }

  /// Places the subviews by their constraints.
  open func layoutSubviews() {
    _LayoutSolver.solve(self, children: children)
  }

  /// Notes that the contents are out of date.
  open func setNeedsDisplay() {
    layer.setNeedsDisplay()
  }

  /// Draws the contents.
  open func draw(_ rect: CGRect) {}

  /// Brings the contents of the layer up to date.
  open func display(_ layer: CALayer) {
    draw(bounds)
  }

  /// The size it has by itself.
  open var intrinsicContentSize: CGSize {
    CGSize(width: UIView.noIntrinsicMetric, height: UIView.noIntrinsicMetric)
  }

  /// Notes that the size it has by itself has changed.
  open func invalidateIntrinsicContentSize() {
    _intrinsicSizeInvalidationCount += 1
    parent?.setNeedsLayout()
  }

  private func makeLayer() -> CALayer {
    let layer = (Self.layerClass as? CALayer.Type)?.init(_of: ()) ?? CALayer()
    layer._isBackingLayer = true
    return layer
  }

  private func resize(_ change: () -> Void) {
    let old = layer.bounds.size
    change()
    let new = layer.bounds.size
    guard new != old else { return }
    setNeedsLayout()
    if contentMode == .redraw { setNeedsDisplay() }
    if autoresizesSubviews { resizeChildren(from: old, to: new) }
  }
}
