import CoreGraphics
import Foundation

/// How contents fit their layer.
public struct CALayerContentsGravity: Hashable, Equatable, RawRepresentable, Sendable {
  /// The name Core Animation knows it by.
  public let rawValue: String

  /// Makes a gravity from its name.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// In the middle.
  public static let center = CALayerContentsGravity(rawValue: "center")
  /// At the top.
  public static let top = CALayerContentsGravity(rawValue: "top")
  /// At the bottom.
  public static let bottom = CALayerContentsGravity(rawValue: "bottom")
  /// At the left.
  public static let left = CALayerContentsGravity(rawValue: "left")
  /// At the right.
  public static let right = CALayerContentsGravity(rawValue: "right")
  /// At the top left.
  public static let topLeft = CALayerContentsGravity(rawValue: "topLeft")
  /// At the top right.
  public static let topRight = CALayerContentsGravity(rawValue: "topRight")
  /// At the bottom left.
  public static let bottomLeft = CALayerContentsGravity(rawValue: "bottomLeft")
  /// At the bottom right.
  public static let bottomRight = CALayerContentsGravity(rawValue: "bottomRight")
  /// Stretched.
  public static let resize = CALayerContentsGravity(rawValue: "resize")
  /// As large as fits.
  public static let resizeAspect = CALayerContentsGravity(rawValue: "resizeAspect")
  /// As small as fills.
  public static let resizeAspectFill = CALayerContentsGravity(rawValue: "resizeAspectFill")
}

/// How contents are sampled when they are scaled.
public struct CALayerContentsFilter: Hashable, Equatable, RawRepresentable, Sendable {
  /// The name Core Animation knows it by.
  public let rawValue: String

  /// Makes a filter from its name.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// Smoothly.
  public static let linear = CALayerContentsFilter(rawValue: "linear")
  /// With hard pixels.
  public static let nearest = CALayerContentsFilter(rawValue: "nearest")
  /// Smoothly, through smaller copies.
  public static let trilinear = CALayerContentsFilter(rawValue: "trilinear")
}

/// The depth of a layer's backing store.
public struct CALayerContentsFormat: Hashable, Equatable, RawRepresentable, Sendable {
  /// The name Core Animation knows it by.
  public let rawValue: String

  /// Makes a format from its name.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// Eight bits a channel.
  public static let RGBA8Uint = CALayerContentsFormat(rawValue: "RGBA8")
  /// Sixteen bits a channel.
  public static let RGBA16Float = CALayerContentsFormat(rawValue: "RGBAh")
  /// Grey, eight bits.
  public static let gray8Uint = CALayerContentsFormat(rawValue: "Gray8")
}

/// A rectangle that shows contents.
///
/// A change to a property animates by itself in a layer that has a superlayer and belongs to no
/// view. The layer of a view animates only inside an animation block.
open class CALayer: NSObject {
  /// What the layer shows, a `CGImage` as a rule.
  open var contents: Any? { didSet { changed("contents", from: oldValue) } }
  /// The part of the contents that shows, where 1 is all.
  open var contentsRect = CGRect(x: 0, y: 0, width: 1, height: 1)
  /// How the contents fit.
  open var contentsGravity = CALayerContentsGravity.resize
  /// How many pixels of the contents make a point.
  open var contentsScale: CGFloat = 1
  /// The part of the contents that stretches.
  open var contentsCenter = CGRect(x: 0, y: 0, width: 1, height: 1)
  /// The depth of the backing store.
  open var contentsFormat = CALayerContentsFormat.RGBA8Uint
  /// Whether contents brighter than white may show so.
  open var wantsExtendedDynamicRangeContent = false
  /// How contents are made smaller.
  open var minificationFilter = CALayerContentsFilter.linear
  /// How contents are made larger.
  open var magnificationFilter = CALayerContentsFilter.linear
  /// The size, and the corner of the coordinates inside.
  open var bounds = CGRect.zero {
    didSet {
      guard bounds != oldValue else { return }
      if bounds.size != oldValue.size { setNeedsLayout() }
      changed("bounds", from: oldValue)
    }
  }
  /// Where the anchor point lies in the superlayer.
  open var position = CGPoint.zero {
    didSet { if position != oldValue { changed("position", from: oldValue) } }
  }
  /// The point of the layer that `position` places, where 1 is the far edge.
  open var anchorPoint = CGPoint(x: 0.5, y: 0.5)
  /// The height above its siblings.
  open var zPosition: CGFloat = 0
  /// How much shows, from 0 to 1.
  open var opacity: Float = 1 {
    didSet { if opacity != oldValue { changed("opacity", from: oldValue) } }
  }
  /// Whether it hides.
  open var isHidden = false { didSet { if isHidden != oldValue { changed("hidden", from: oldValue) } } }
  /// Whether it promises to have no holes.
  open var isOpaque = false
  /// The colour behind the contents.
  open var backgroundColor: CGColor? { didSet { changed("backgroundColor", from: oldValue) } }
  /// The radius of the corners.
  open var cornerRadius: CGFloat = 0 {
    didSet { if cornerRadius != oldValue { changed("cornerRadius", from: oldValue) } }
  }
  /// Whether it cuts off what lies outside.
  open var masksToBounds = false
  /// The layer whose opacity cuts this one.
  open var mask: CALayer?
  /// Whether it keeps a flat copy of itself.
  open var shouldRasterize = false
  /// Whether the vertical axis inside points the other way.
  open var isGeometryFlipped = false
  /// A name.
  open var name: String?
  /// Actions of this layer's own.
  open var actions: [String: any CAAction]?
  /// The layer around this one.
  open internal(set) weak var superlayer: CALayer?
  /// Whether a view draws through this layer.
  public var _isBackingLayer = false
  /// How often `display()` ran.
  public internal(set) var _displayCount = 0

  var children: [CALayer] = []
  var records: [_AnimationRecord] = []
  private var layoutIsDue = false
  private var displayIsDue = false

  /// Makes a layer.
  public override init() {
    super.init()
  }

  /// Makes a copy for the presentation tree.
  public init(layer: Any) {
    super.init()
    guard let layer = layer as? CALayer else { return }
    CATransaction.begin()
    CATransaction.setDisableActions(true)
    copyValues(from: layer)
    CATransaction.commit()
  }

  /// Makes nothing: these stubs read no archives.
  public required init?(coder: NSCoder) {
    nil
  }

  /// Makes a layer of a class known only at run time.
  public required convenience init(_of: Void) {
    self.init()
  }

  /// Makes a presentation copy of a class known only at run time.
  public required convenience init(_presenting layer: CALayer) {
    self.init(layer: layer)
  }

  /// The rectangle it takes in the superlayer.
  open var frame: CGRect {
    get {
      CGRect(
        x: position.x - anchorPoint.x * bounds.width,
        y: position.y - anchorPoint.y * bounds.height,
        width: bounds.width,
        height: bounds.height,
      )
    }
    set {
      bounds = CGRect(origin: bounds.origin, size: newValue.size)
      position = CGPoint(
        x: newValue.minX + anchorPoint.x * newValue.width,
        y: newValue.minY + anchorPoint.y * newValue.height,
      )
    }
  }

  /// Notes that the layout is out of date.
  open func setNeedsLayout() {
    layoutIsDue = true
    _Clock._current._requestUpdate()
  }

  /// Whether the layout is out of date.
  open func needsLayout() -> Bool { layoutIsDue }

  /// Brings the layout up to date, of this layer and of those inside.
  open func layoutIfNeeded() {
    if layoutIsDue {
      layoutIsDue = false
      layoutSublayers()
    }
    for child in children { child.layoutIfNeeded() }
  }

  /// Places the sublayers.
  open func layoutSublayers() {}

  /// Notes that the contents are out of date.
  open func setNeedsDisplay() {
    displayIsDue = true
    _Clock._current._requestUpdate()
  }

  /// Whether the contents are out of date.
  open func needsDisplay() -> Bool { displayIsDue }

  /// Brings the contents up to date.
  open func displayIfNeeded() {
    guard displayIsDue else { return }
    displayIsDue = false
    display()
  }

  /// Makes the contents.
  open func display() {
    _displayCount += 1
  }

  /// The size it would like.
  open func preferredFrameSize() -> CGSize { bounds.size }

  /// The action of a change to a property.
  open func action(forKey event: String) -> (any CAAction)? {
    if _isBackingLayer {
      return _Clock._current._animationContext?.makeAnimation(forKey: event) ?? NSNull()
    }
    if let action = actions?[event] { return action }
    return Self.defaultAction(forKey: event)
  }

  /// The action where nobody has another one.
  open class func defaultAction(forKey event: String) -> (any CAAction)? {
    CABasicAnimation(keyPath: event)
  }

  private func copyValues(from other: CALayer) {
    contents = other.contents
    contentsRect = other.contentsRect
    contentsGravity = other.contentsGravity
    contentsScale = other.contentsScale
    anchorPoint = other.anchorPoint
    bounds = other.bounds
    position = other.position
    zPosition = other.zPosition
    opacity = other.opacity
    isHidden = other.isHidden
    backgroundColor = other.backgroundColor
    cornerRadius = other.cornerRadius
    masksToBounds = other.masksToBounds
    name = other.name
  }
}
