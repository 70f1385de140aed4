import Foundation

/// An animation of one property.
open class CAPropertyAnimation: CAAnimation {
  /// The path to the property.
  open var keyPath: String?
  /// Whether its value is added to the one below.
  open var isAdditive = false
  /// Whether each repeat goes on from the one before.
  open var isCumulative = false

  /// Makes an animation of a property.
  public convenience init(keyPath path: String?) {
    self.init()
    keyPath = path
  }

  open override func _copyValues(to copy: CAAnimation) {
    super._copyValues(to: copy)
    guard let copy = copy as? CAPropertyAnimation else { return }
    copy.keyPath = keyPath
    copy.isAdditive = isAdditive
    copy.isCumulative = isCumulative
  }

  /// The value at a time, or nothing where the layer's own value shows.
  func value(at time: TimeInterval, model: Any?) -> Any?? {
    nil
  }
}

/// An animation from one value to another.
open class CABasicAnimation: CAPropertyAnimation {
  /// The value it begins with.
  open var fromValue: Any?
  /// The value it ends with.
  open var toValue: Any?
  /// The difference between the two.
  open var byValue: Any?

  open override func _copyValues(to copy: CAAnimation) {
    super._copyValues(to: copy)
    guard let copy = copy as? CABasicAnimation else { return }
    copy.fromValue = fromValue
    copy.toValue = toValue
    copy.byValue = byValue
  }

  override func value(at time: TimeInterval, model: Any?) -> Any?? {
    guard let progress = progress(at: time) else { return nil }
    let start = fromValue ?? model
    let end = toValue ?? model
    if let low = _number(start), let high = byValue.flatMap(_number).map({ low + $0 }) ?? _number(end) {
      return .some(low + (high - low) * progress)
    }
    return .some(progress < 0.5 ? start : end)
  }
}

/// How a keyframe animation goes from value to value.
public struct CAAnimationCalculationMode: Hashable, Equatable, RawRepresentable, Sendable {
  /// The name Core Animation knows it by.
  public let rawValue: String

  /// Makes a mode from its name.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// In a straight line.
  public static let linear = CAAnimationCalculationMode(rawValue: "linear")
  /// In jumps.
  public static let discrete = CAAnimationCalculationMode(rawValue: "discrete")
  /// At a steady speed.
  public static let paced = CAAnimationCalculationMode(rawValue: "paced")
  /// In a curve.
  public static let cubic = CAAnimationCalculationMode(rawValue: "cubic")
  /// In a curve, at a steady speed.
  public static let cubicPaced = CAAnimationCalculationMode(rawValue: "cubicPaced")
}

/// An animation through several values.
open class CAKeyframeAnimation: CAPropertyAnimation {
  /// The values.
  open var values: [Any]?
  /// When each is reached, from 0 to 1.
  ///
  /// A discrete animation has one time more than values, and the last one is 1.
  open var keyTimes: [NSNumber]?
  /// The pace between each two values.
  open var timingFunctions: [CAMediaTimingFunction]?
  /// How it goes from value to value.
  open var calculationMode = CAAnimationCalculationMode.linear

  open override func _copyValues(to copy: CAAnimation) {
    super._copyValues(to: copy)
    guard let copy = copy as? CAKeyframeAnimation else { return }
    copy.values = values
    copy.keyTimes = keyTimes
    copy.timingFunctions = timingFunctions
    copy.calculationMode = calculationMode
  }

  override func value(at time: TimeInterval, model: Any?) -> Any?? {
    guard let progress = progress(at: time), let values, !values.isEmpty else { return nil }
    let isDiscrete = calculationMode == .discrete
    let spans = Double(isDiscrete ? values.count : max(1, values.count - 1))
    let times = keyTimes?.map(\.doubleValue) ?? values.indices.map { Double($0) / spans }
    let index = min(times.lastIndex { $0 <= progress } ?? 0, values.count - 1)
    guard !isDiscrete, index + 1 < min(values.count, times.count),
      let low = _number(values[index]), let high = _number(values[index + 1])
    else { return .some(values[index]) }
    let span = times[index + 1] - times[index]
    let part = span > 0 ? (progress - times[index]) / span : 1
    return .some(low + (high - low) * part)
  }
}

/// The number in a value, if it is one.
func _number(_ value: Any?) -> Double? {
  switch value {
  case let value as Double: value
  case let value as Float: Double(value)
  case let value as CGFloat: Double(value)
  case let value as Int: Double(value)
  case let value as NSNumber: value.doubleValue
  default: nil
  }
}
