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

/// A rectangle that shows contents.
///
/// A change to a property animates by itself in a layer that has a superlayer and belongs to no
/// view. The layer of a view animates only inside an animation block.
open class CALayer: NSObject {
  /// What the layer shows, a `CGImage` as a rule.
  open var contents: Any? { didSet { changed("contents", from: oldValue) } }
  /// How the contents fit.
  open var contentsGravity = CALayerContentsGravity.resize
  /// How many pixels of the contents make a point.
  open var contentsScale: CGFloat = 1
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
  /// How much shows, from 0 to 1.
  open var opacity: Float = 1 {
    didSet { if opacity != oldValue { changed("opacity", from: oldValue) } }
  }
  /// Whether it hides.
  open var isHidden = false { didSet { if isHidden != oldValue { changed("hidden", from: oldValue) } } }
  /// Whether it cuts off what lies outside.
  open var masksToBounds = false
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

  /// Makes a layer of a class known only at run time.
  public required convenience init(_of: Void) {
    self.init()
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
}
