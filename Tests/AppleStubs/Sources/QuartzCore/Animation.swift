import Foundation

/// Something that runs when a layer's property changes.
public protocol CAAction {
  /// Runs it.
  func run(forKey event: String, object anObject: Any, arguments dict: [AnyHashable: Any]?)
}

extension NSNull: CAAction {
  /// Does nothing, which stops the search for an action.
  public func run(forKey event: String, object anObject: Any, arguments dict: [AnyHashable: Any]?) {}
}

/// Hears when an animation begins and ends.
public protocol CAAnimationDelegate: NSObjectProtocol {
  /// The animation began.
  func animationDidStart(_ anim: CAAnimation)
  /// The animation ended, by itself or because it was removed.
  func animationDidStop(_ anim: CAAnimation, finished flag: Bool)
}

extension CAAnimationDelegate {
  /// Does nothing: the method is optional.
  public func animationDidStart(_ anim: CAAnimation) {}
  /// Does nothing: the method is optional.
  public func animationDidStop(_ anim: CAAnimation, finished flag: Bool) {}
}

/// The base of all animations.
open class CAAnimation: NSObject, NSCopying, CAMediaTiming, CAAction {
  /// When it begins, where zero means at once.
  open var beginTime: CFTimeInterval = 0
  /// How long one run takes, where zero means as long as the transaction says.
  open var duration: CFTimeInterval = 0
  /// How fast time passes.
  open var speed: Float = 1
  /// Where in the run it begins.
  open var timeOffset: CFTimeInterval = 0
  /// How often it runs, where zero means once.
  open var repeatCount: Float = 0
  /// For how long it repeats.
  open var repeatDuration: CFTimeInterval = 0
  /// Whether each run goes back again.
  open var autoreverses = false
  /// What shows before and after.
  open var fillMode = CAMediaTimingFillMode.removed
  /// The pace.
  open var timingFunction: CAMediaTimingFunction?
  /// Who hears of the beginning and the end, held strongly.
  open var delegate: (any CAAnimationDelegate)?
  /// Whether the layer forgets the animation once it has ended.
  open var isRemovedOnCompletion = true

  /// The animation block that waits for this animation, if any.
  public var _context: _AnimationContext?

  /// Makes an animation of nothing.
  public override required init() {}

  /// Makes a copy.
  open override func copy() -> Any {
    copy(with: nil)
  }

  /// Makes a copy.
  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = Self()
    _copyValues(to: copy)
    return copy
  }

  /// Copies the settings to another animation of the same class.
  open func _copyValues(to copy: CAAnimation) {
    copy._context = _context
    copy.beginTime = beginTime
    copy.duration = duration
    copy.speed = speed
    copy.timeOffset = timeOffset
    copy.repeatCount = repeatCount
    copy.repeatDuration = repeatDuration
    copy.autoreverses = autoreverses
    copy.fillMode = fillMode
    copy.timingFunction = timingFunction
    copy.delegate = delegate
    copy.isRemovedOnCompletion = isRemovedOnCompletion
  }

  /// Adds a copy of itself to a layer.
  open func run(forKey event: String, object anObject: Any, arguments dict: [AnyHashable: Any]?) {
    (anObject as? CALayer)?.add(self, forKey: event)
  }

  /// How long it takes with all its repeats, in the time of its layer.
  var activeDuration: TimeInterval {
    guard speed > 0 else { return .infinity }
    if repeatDuration > 0 { return repeatDuration / Double(speed) }
    let runs = repeatCount == 0 ? 1 : Double(repeatCount)
    return duration * runs * (autoreverses ? 2 : 1) / Double(speed)
  }

  /// How far a run is at a time, from 0 to 1, or nothing where it shows nothing.
  func progress(at time: TimeInterval) -> Double? {
    var local = (time - beginTime) * Double(speed) + timeOffset
    if local < 0 {
      return fillMode == .backwards || fillMode == .both ? 0 : nil
    }
    let total = activeDuration * Double(speed)
    if local >= total {
      guard !isRemovedOnCompletion, fillMode == .forwards || fillMode == .both else { return nil }
      return autoreverses ? 0 : 1
    }
    guard duration > 0 else { return nil }
    let isBackwards = autoreverses && (local / duration).truncatingRemainder(dividingBy: 2) >= 1
    local = local.truncatingRemainder(dividingBy: duration) / duration
    let fraction = isBackwards ? 1 - local : local
    return timingFunction?._value(at: fraction) ?? fraction
  }
}

/// An animation between two states of a layer.
open class CATransition: CAAnimation {
  /// The kind.
  open var type = CATransitionType.fade
  /// The direction.
  open var subtype: CATransitionSubtype?
  /// Where in the transition it begins, from 0 to 1.
  open var startProgress: Float = 0
  /// Where in the transition it ends, from 0 to 1.
  open var endProgress: Float = 1

  open override func _copyValues(to copy: CAAnimation) {
    super._copyValues(to: copy)
    guard let copy = copy as? CATransition else { return }
    copy.type = type
    copy.subtype = subtype
    copy.startProgress = startProgress
    copy.endProgress = endProgress
  }
}

/// The kind of a transition.
public struct CATransitionType: Hashable, Equatable, RawRepresentable, Sendable {
  /// The name Core Animation knows it by.
  public let rawValue: String

  /// Makes a kind from its name.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// The new state fades in.
  public static let fade = CATransitionType(rawValue: "fade")
  /// The new state pushes the old one away.
  public static let push = CATransitionType(rawValue: "push")
}

/// The direction of a transition.
public struct CATransitionSubtype: Hashable, Equatable, RawRepresentable, Sendable {
  /// The name Core Animation knows it by.
  public let rawValue: String

  /// Makes a direction from its name.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }
}

/// The key of every transition of a layer.
public let kCATransition = "transition"
