import Foundation

/// What an animation shows before it begins and after it ends.
public struct CAMediaTimingFillMode: Hashable, Equatable, RawRepresentable, Sendable {
  /// The name Core Animation knows it by.
  public let rawValue: String

  /// Makes a mode from its name.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// The last value stays.
  public static let forwards = CAMediaTimingFillMode(rawValue: "forwards")
  /// The first value shows early.
  public static let backwards = CAMediaTimingFillMode(rawValue: "backwards")
  /// The first value shows early, and the last one stays.
  public static let both = CAMediaTimingFillMode(rawValue: "both")
  /// Neither.
  public static let removed = CAMediaTimingFillMode(rawValue: "removed")
}

/// The timing that animations have.
public protocol CAMediaTiming {
}

/// The name of a pace.
public struct CAMediaTimingFunctionName: Hashable, Equatable, RawRepresentable, Sendable {
  /// The name Core Animation knows it by.
  public let rawValue: String

  /// Makes a name.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// The same pace throughout.
  public static let linear = CAMediaTimingFunctionName(rawValue: "linear")
  /// Slow at first.
  public static let easeIn = CAMediaTimingFunctionName(rawValue: "easeIn")
  /// Slow at last.
  public static let easeOut = CAMediaTimingFunctionName(rawValue: "easeOut")
  /// Slow at both ends.
  public static let easeInEaseOut = CAMediaTimingFunctionName(rawValue: "easeInEaseOut")
  /// The pace the system uses.
  public static let `default` = CAMediaTimingFunctionName(rawValue: "default")
}

/// The pace of an animation, as a cubic Bézier curve.
open class CAMediaTimingFunction: NSObject {
  private let first: (x: Double, y: Double)
  private let second: (x: Double, y: Double)

  /// Makes one of the named paces.
  public convenience init(name: CAMediaTimingFunctionName) {
    switch name {
    case .easeIn: self.init(controlPoints: 0.42, 0, 1, 1)
    case .easeOut: self.init(controlPoints: 0, 0, 0.58, 1)
    case .easeInEaseOut: self.init(controlPoints: 0.42, 0, 0.58, 1)
    case .default: self.init(controlPoints: 0.25, 0.1, 0.25, 1)
    default: self.init(controlPoints: 0, 0, 1, 1)
    }
  }

  /// Makes a pace from the two control points of its curve.
  public init(controlPoints c1x: Float, _ c1y: Float, _ c2x: Float, _ c2y: Float) {
    first = (Double(c1x), Double(c1y))
    second = (Double(c2x), Double(c2y))
  }

  /// The point of the curve at a fraction of the time.
  public func _value(at fraction: Double) -> Double {
    guard fraction > 0, fraction < 1 else { return min(1, max(0, fraction)) }
    var low = 0.0
    var high = 1.0
    for _ in 0..<50 {
      let middle = (low + high) / 2
      if curve(middle, first.x, second.x) < fraction { low = middle } else { high = middle }
    }
    return curve((low + high) / 2, first.y, second.y)
  }

  private func curve(_ step: Double, _ one: Double, _ two: Double) -> Double {
    let rest = 1 - step
    return 3 * rest * rest * step * one + 3 * rest * step * step * two + step * step * step
  }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CAMediaTimingFunction else { return false }
    return first == other.first && second == other.second
  }

  open override var hash: Int {
    var hasher = Hasher()
    for number in [first.x, first.y, second.x, second.y] { hasher.combine(number) }
    return hasher.finalize()
  }
}

/// How many frames a second something wants.
public struct CAFrameRateRange: Equatable, Sendable {
  /// The fewest frames a second.
  public var minimum: Float
  /// The most frames a second.
  public var maximum: Float
  /// The rate it likes best.
  public var preferred: Float?

  /// Makes a range.
  public init(minimum: Float, maximum: Float, preferred: Float? = nil) {
    self.minimum = minimum
    self.maximum = maximum
    self.preferred = preferred
  }

  /// Makes the range of somebody who does not mind.
  public init() {
    self.init(minimum: 0, maximum: 0, preferred: 0)
  }

  /// The range of somebody who does not mind.
  public static let `default` = CAFrameRateRange()
}
