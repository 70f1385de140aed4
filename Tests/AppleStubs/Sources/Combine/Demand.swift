import Foundation

/// A namespace for types that act as subscribers.
public enum Subscribers {}

extension Subscribers {
  /// A number of items a subscriber asks for.
  ///
  /// A negative demand is not possible: a subtraction stops at zero. A sum that
  /// does not fit becomes unlimited.
  public struct Demand: Equatable, Comparable, Hashable, Codable, CustomStringConvertible, Sendable {
    let raw: UInt

    static let ceiling = UInt(Int.max) + 1

    init(raw: UInt) {
      self.raw = Swift.min(raw, Self.ceiling)
    }

    /// A request for as many values as the publisher can make.
    public static let unlimited = Demand(raw: ceiling)

    /// A request for nothing.
    ///
    /// The same as `max(0)`.
    public static let none = Demand(raw: 0)

    /// Makes a demand of a number of items, which must not be negative.
    public static func max(_ value: Int) -> Demand {
      precondition(value >= 0, "demand cannot be negative")
      return Demand(raw: UInt(value))
    }

    /// The number of items, or nil when unlimited.
    public var max: Int? {
      self == .unlimited ? nil : Int(raw)
    }

    /// The demand as text.
    public var description: String {
      max.map { "max(\($0))" } ?? "unlimited"
    }
  }
}

// Arithmetic. The operand order and the set of overloads are the documented ones.
extension Subscribers.Demand {
  /// Adds two demands.
  public static func + (lhs: Self, rhs: Self) -> Self {
    if lhs == .unlimited || rhs == .unlimited { return .unlimited }
    let (sum, overflow) = lhs.raw.addingReportingOverflow(rhs.raw)
    return overflow ? .unlimited : Self(raw: sum)
  }

  /// Adds a demand to another.
  public static func += (lhs: inout Self, rhs: Self) {
    lhs = lhs + rhs
  }

  /// Adds a number to a demand.
  public static func + (lhs: Self, rhs: Int) -> Self {
    if lhs == .unlimited { return .unlimited }
    return rhs < 0 ? lhs - Self(raw: rhs.magnitude) : lhs + Self(raw: UInt(rhs))
  }

  /// Adds a number to a demand in place.
  public static func += (lhs: inout Self, rhs: Int) {
    lhs = lhs + rhs
  }

  /// Multiplies a demand by a number, which must not be negative.
  public static func * (lhs: Self, rhs: Int) -> Self {
    precondition(rhs >= 0, "demand cannot be negative")
    if lhs == .unlimited { return .unlimited }
    let (product, overflow) = lhs.raw.multipliedReportingOverflow(by: UInt(rhs))
    return overflow ? .unlimited : Self(raw: product)
  }

  /// Multiplies a demand in place.
  public static func *= (lhs: inout Self, rhs: Int) {
    lhs = lhs * rhs
  }

  /// Subtracts a demand: unlimited stays unlimited, and anything else stops at none.
  public static func - (lhs: Self, rhs: Self) -> Self {
    if lhs == .unlimited { return .unlimited }
    return rhs.raw >= lhs.raw ? .none : Self(raw: lhs.raw - rhs.raw)
  }

  /// Subtracts a demand in place.
  public static func -= (lhs: inout Self, rhs: Self) {
    lhs = lhs - rhs
  }

  /// Subtracts a number from a demand.
  public static func - (lhs: Self, rhs: Int) -> Self {
    if lhs == .unlimited { return .unlimited }
    return rhs < 0 ? lhs + Self(raw: rhs.magnitude) : lhs - Self(raw: UInt(rhs))
  }

  /// Subtracts a number in place.
  public static func -= (lhs: inout Self, rhs: Int) {
    lhs = lhs - rhs
  }
}

// Comparison, where unlimited is more than every number.
extension Subscribers.Demand {
  private static func order(_ demand: Self, _ number: Int) -> Int {
    if number < 0 || demand == .unlimited { return 1 }
    let other = UInt(number)
    return demand.raw == other ? 0 : (demand.raw < other ? -1 : 1)
  }

  /// Whether a demand is less than another.
  public static func < (lhs: Self, rhs: Self) -> Bool { lhs.raw < rhs.raw }
  /// Whether a demand is more than a number.
  public static func > (lhs: Self, rhs: Int) -> Bool { order(lhs, rhs) > 0 }
  /// Whether a demand is a number or more.
  public static func >= (lhs: Self, rhs: Int) -> Bool { order(lhs, rhs) >= 0 }
  /// Whether a number is more than a demand.
  public static func > (lhs: Int, rhs: Self) -> Bool { order(rhs, lhs) < 0 }
  /// Whether a number is a demand or more.
  public static func >= (lhs: Int, rhs: Self) -> Bool { order(rhs, lhs) <= 0 }
  /// Whether a demand is less than a number.
  public static func < (lhs: Self, rhs: Int) -> Bool { order(lhs, rhs) < 0 }
  /// Whether a number is less than a demand.
  public static func < (lhs: Int, rhs: Self) -> Bool { order(rhs, lhs) > 0 }
  /// Whether a demand is a number or less.
  public static func <= (lhs: Self, rhs: Int) -> Bool { order(lhs, rhs) <= 0 }
  /// Whether a number is a demand or less.
  public static func <= (lhs: Int, rhs: Self) -> Bool { order(rhs, lhs) >= 0 }
  /// Whether a demand is exactly a number.
  public static func == (lhs: Self, rhs: Int) -> Bool { order(lhs, rhs) == 0 }
  /// Whether a demand is not a number.
  public static func != (lhs: Self, rhs: Int) -> Bool { order(lhs, rhs) != 0 }
  /// Whether a number is exactly a demand.
  public static func == (lhs: Int, rhs: Self) -> Bool { order(rhs, lhs) == 0 }
  /// Whether a number is not a demand.
  public static func != (lhs: Int, rhs: Self) -> Bool { order(rhs, lhs) != 0 }
}
