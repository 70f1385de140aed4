import Foundation

/// A color or another way to fill a shape.
public protocol ShapeStyle: Sendable {}

/// A color.
nonisolated public struct Color: View, ShapeStyle, Hashable, Sendable, CustomStringConvertible {
  /// A basic view has no body.
  public typealias Body = Never

  /// What the color is, in words.
  public let description: String

  private init(name: String) {
    description = name
  }

  /// Gray.
  public static let gray = Color(name: "gray")
}

extension Color: Primitive {
  @MainActor
  func render(_ pass: Pass, _ node: Node, _ context: Context) {}
}
