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
