import Foundation

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

/// A place across a view.
public struct HorizontalAlignment: Equatable, Sendable {
  private let raw: Int

  private init(_ raw: Int) {
    self.raw = raw
  }

  /// The center.
  public static let center = HorizontalAlignment(1)
}

/// A place along a view.
public struct VerticalAlignment: Equatable, Sendable {
  private let raw: Int

  private init(_ raw: Int) {
    self.raw = raw
  }

  /// The center.
  public static let center = VerticalAlignment(1)
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
}

/// How content fits into the space that is there.
public enum ContentMode: Hashable, CaseIterable, Sendable {
  /// All of the content is seen.
  case fit
  /// All of the space is used.
  case fill
}
