import Foundation

/// An edge of a rectangle.
public enum Edge: Int8, CaseIterable, Sendable {
  /// The edges.
  case top, leading, bottom, trailing

  /// A set of edges.
  public struct Set: OptionSet, Sendable {
    /// The bits.
    public let rawValue: Int8

    /// Makes a set of bits.
    public init(rawValue: Int8) {
      self.rawValue = rawValue
    }

    /// The top edge.
    public static let top = Set(rawValue: 1)
    /// The leading edge.
    public static let leading = Set(rawValue: 2)
    /// The bottom edge.
    public static let bottom = Set(rawValue: 4)
    /// The trailing edge.
    public static let trailing = Set(rawValue: 8)
    /// All edges.
    public static let all: Set = [.top, .leading, .bottom, .trailing]
    /// The leading and the trailing edge.
    public static let horizontal: Set = [.leading, .trailing]
    /// The top and the bottom edge.
    public static let vertical: Set = [.top, .bottom]
  }
}

/// The distances from the edges of a rectangle.
public struct EdgeInsets: Equatable, Sendable {
  /// The distance from the top.
  public var top: CGFloat
  /// The distance from the leading edge.
  public var leading: CGFloat
  /// The distance from the bottom.
  public var bottom: CGFloat
  /// The distance from the trailing edge.
  public var trailing: CGFloat

  /// Makes insets.
  public init(top: CGFloat, leading: CGFloat, bottom: CGFloat, trailing: CGFloat) {
    self.top = top
    self.leading = leading
    self.bottom = bottom
    self.trailing = trailing
  }

  /// Makes insets of zero.
  public init() {
    self.init(top: 0, leading: 0, bottom: 0, trailing: 0)
  }
}

/// A horizontal or vertical direction.
public enum Axis: Int8, CaseIterable, Sendable {
  /// The directions.
  case horizontal, vertical

  /// A set of directions.
  public struct Set: OptionSet, Sendable {
    /// The bits.
    public let rawValue: Int8

    /// Makes a set of bits.
    public init(rawValue: Int8) {
      self.rawValue = rawValue
    }

    /// The horizontal direction.
    public static let horizontal = Set(rawValue: 1)
    /// The vertical direction.
    public static let vertical = Set(rawValue: 2)
  }
}

/// A place across a view.
public struct HorizontalAlignment: Equatable, Sendable {
  private let raw: Int

  private init(_ raw: Int) {
    self.raw = raw
  }

  /// The leading edge.
  public static let leading = HorizontalAlignment(0)
  /// The center.
  public static let center = HorizontalAlignment(1)
  /// The trailing edge.
  public static let trailing = HorizontalAlignment(2)
}

/// A place along a view.
public struct VerticalAlignment: Equatable, Sendable {
  private let raw: Int

  private init(_ raw: Int) {
    self.raw = raw
  }

  /// The top.
  public static let top = VerticalAlignment(0)
  /// The center.
  public static let center = VerticalAlignment(1)
  /// The bottom.
  public static let bottom = VerticalAlignment(2)
}

/// A place in a view.
public struct Alignment: Equatable, Sendable {
  /// The place across.
  public var horizontal: HorizontalAlignment
  /// The place along.
  public var vertical: VerticalAlignment

  /// Makes a place.
  public init(horizontal: HorizontalAlignment, vertical: VerticalAlignment) {
    self.horizontal = horizontal
    self.vertical = vertical
  }

  /// The center.
  public static let center = Alignment(horizontal: .center, vertical: .center)
  /// The leading edge.
  public static let leading = Alignment(horizontal: .leading, vertical: .center)
  /// The trailing edge.
  public static let trailing = Alignment(horizontal: .trailing, vertical: .center)
  /// The top.
  public static let top = Alignment(horizontal: .center, vertical: .top)
  /// The bottom.
  public static let bottom = Alignment(horizontal: .center, vertical: .bottom)
  /// The top leading corner.
  public static let topLeading = Alignment(horizontal: .leading, vertical: .top)
  /// The top trailing corner.
  public static let topTrailing = Alignment(horizontal: .trailing, vertical: .top)
  /// The bottom leading corner.
  public static let bottomLeading = Alignment(horizontal: .leading, vertical: .bottom)
  /// The bottom trailing corner.
  public static let bottomTrailing = Alignment(horizontal: .trailing, vertical: .bottom)
}

/// A point in a view, from zero to one.
public struct UnitPoint: Hashable, Sendable {
  /// The place across.
  public var x: CGFloat
  /// The place along.
  public var y: CGFloat

  /// Makes a point.
  public init(x: CGFloat, y: CGFloat) {
    self.x = x
    self.y = y
  }

  /// The center.
  public static let center = UnitPoint(x: 0.5, y: 0.5)
}

/// How content fits into the space that is there.
public enum ContentMode: Hashable, CaseIterable, Sendable {
  /// All of the content is seen.
  case fit
  /// All of the space is used.
  case fill
}
