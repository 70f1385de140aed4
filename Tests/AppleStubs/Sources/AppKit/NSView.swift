import CoreGraphics
import Foundation

/// A rectangle on the screen.
@MainActor
open class NSView: NSResponder, _AssociationOwner {
  /// The length of a side that has none by itself.
  public nonisolated static let noIntrinsicMetric: CGFloat = -1

  /// What gives way when the superview changes its size.
  public struct AutoresizingMask: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt

    /// Makes a mask from its bits.
    public init(rawValue: UInt) {
      self.rawValue = rawValue
    }

    /// The space at the left.
    public static let minXMargin = AutoresizingMask(rawValue: 1)
    /// The width.
    public static let width = AutoresizingMask(rawValue: 2)
    /// The space at the right.
    public static let maxXMargin = AutoresizingMask(rawValue: 4)
    /// The space at the low end.
    public static let minYMargin = AutoresizingMask(rawValue: 8)
    /// The height.
    public static let height = AutoresizingMask(rawValue: 16)
    /// The space at the high end.
    public static let maxYMargin = AutoresizingMask(rawValue: 32)
  }

  private var ownLayer: CALayer?
  var children: [NSView] = []
  weak var parent: NSView?
  weak var ownWindow: NSWindow?
  /// What is associated with it.
  public var _associations: [UnsafeRawPointer: Any] = [:]
  /// How often `layout()` was called.
  public private(set) var _layoutCount = 0

  /// The rectangle in the superview.
  open var frame: NSRect {
    didSet {
      guard frame != oldValue else { return }
      ownLayer?.frame = frame
      guard frame.size != oldValue.size else { return }
      needsLayout = true
      for child in children { child.follow(from: oldValue.size, to: frame.size) }
    }
  }
  /// What gives way when the superview changes its size.
  open var autoresizingMask: NSView.AutoresizingMask = []
  /// Whether the layout is out of date.
  open var needsLayout = true { didSet { if needsLayout { _Clock._current._requestUpdate() } } }
  /// Whether the contents are out of date.
  open var needsDisplay = false { didSet { if needsDisplay { _Clock._current._requestUpdate() } } }
  /// How much shows, from 0 to 1.
  open var alphaValue: CGFloat = 1 { didSet { ownLayer?.opacity = Float(alphaValue) } }
  /// Whether it hides.
  open var isHidden = false { didSet { ownLayer?.isHidden = isHidden } }

  /// Makes a view.
  public init(frame frameRect: NSRect) {
    frame = frameRect
    super.init()
  }

  /// Makes a view without a size.
  public override convenience init() {
    self.init(frame: .zero)
  }

  /// Makes an empty view: these stubs read no archives.
  public required init?(coder: NSCoder) {
    frame = .zero
    super.init(coder: coder)
  }

  /// The rectangle in its own coordinates.
  open var bounds: NSRect {
    get { NSRect(origin: .zero, size: frame.size) }
    set { frame.size = newValue.size }
  }

  /// Whether it draws through a layer.
  open var wantsLayer: Bool {
    get { ownLayer != nil }
    set {
      if newValue, ownLayer == nil { layer = makeBackingLayer() }
      if !newValue { layer = nil }
    }
  }

  /// The layer it draws through.
  open var layer: CALayer? {
    get { ownLayer }
    set {
      guard newValue !== ownLayer else { return }
      ownLayer?.removeFromSuperlayer()
      ownLayer = newValue
      guard let newValue else { return }
      newValue._isBackingLayer = true
      newValue.frame = frame
      newValue.opacity = Float(alphaValue)
      newValue.isHidden = isHidden
      newValue.contentsScale = ownWindow?.backingScaleFactor ?? 1
      parent?.ownLayer?.addSublayer(newValue)
      for child in children {
        child.wantsLayer = true
        if let inner = child.layer { newValue.addSublayer(inner) }
      }
      needsDisplay = true
    }
  }

  /// Makes the layer.
  open func makeBackingLayer() -> CALayer { CALayer() }

  /// Whether it fills its layer by `updateLayer()`.
  open var wantsUpdateLayer: Bool { false }

  /// Fills the layer.
  open func updateLayer() {}

  /// Draws the contents.
  open func draw(_ dirtyRect: NSRect) {}

  /// The view around it.
  open var superview: NSView? { parent }

  /// The window around it.
  open var window: NSWindow? { ownWindow }

  /// Adds a view in front of the others.
  open func addSubview(_ view: NSView) {
    insert(view, at: nil)
  }

  /// Hears that it will have another superview.
  open func viewWillMove(toSuperview newSuperview: NSView?) {}
  /// Hears that it has another superview.
  open func viewDidMoveToSuperview() {}
  /// Hears that it will have another window.
  open func viewWillMove(toWindow newWindow: NSWindow?) {}
  /// Hears that it has another window.
  open func viewDidMoveToWindow() {}
  /// Hears that the screen has another scale.
  open func viewDidChangeBackingProperties() {}
  /// Hears that a view was added.
  open func didAddSubview(_ subview: NSView) {}
  /// Hears that a view will be removed.
  open func willRemoveSubview(_ subview: NSView) {}

  /// Places the subviews.
  open func layout() {}

  /// Brings the layout up to date, of this view and of those inside.
  open func layoutSubtreeIfNeeded() {
    if needsLayout {
      needsLayout = false
      _layoutCount += 1
      layout()
    }
    for child in children { child.layoutSubtreeIfNeeded() }
  }

  /// The size it has by itself.
  open var intrinsicContentSize: NSSize {
    NSSize(width: NSView.noIntrinsicMetric, height: NSView.noIntrinsicMetric)
  }

  /// Notes that the size it has by itself has changed.
  open func invalidateIntrinsicContentSize() {
    parent?.needsLayout = true
  }
}
