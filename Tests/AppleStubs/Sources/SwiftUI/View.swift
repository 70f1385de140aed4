@_exported import CoreGraphics
@_exported import Observation

/// A part of a user interface.
@MainActor
@preconcurrency
public protocol View {
  /// The kind of view that the body is.
  associatedtype Body: View

  /// What the view shows.
  @ViewBuilder
  @MainActor
  @preconcurrency
  var body: Body { get }
}

extension Never: View {
  /// A view that cannot be made has no body.
  public typealias Body = Never
}

extension View where Body == Never {
  /// Not for use: a basic view has no body.
  public var body: Never {
    preconditionFailure("body() should not be called on \(Self.self).")
  }
}

/// Builds views out of statements.
@resultBuilder
public struct ViewBuilder {
  /// Passes one expression on.
  public static func buildExpression<Content>(_ content: Content) -> Content where Content: View {
    content
  }

  /// Builds an empty view of no statement.
  public static func buildBlock() -> EmptyView {
    EmptyView()
  }

  /// Passes a single view on.
  public static func buildBlock<Content>(_ content: Content) -> Content where Content: View {
    content
  }

  /// Puts views together.
  public static func buildBlock<each Content>(_ content: repeat each Content) -> TupleView<(repeat each Content)>
  where repeat each Content: View {
    var views: [any View] = []
    repeat views.append(each content)
    return TupleView(value: (repeat each content), views: views)
  }

  /// Passes the view of an `if` without `else` on.
  public static func buildIf<Content>(_ content: Content?) -> Content? where Content: View {
    content
  }

  /// Builds the first branch of an `if` or a `switch`.
  public static func buildEither<TrueContent, FalseContent>(
    first: TrueContent
  ) -> _ConditionalContent<TrueContent, FalseContent> where TrueContent: View, FalseContent: View {
    _ConditionalContent(storage: .first(first))
  }

  /// Builds the second branch of an `if` or a `switch`.
  public static func buildEither<TrueContent, FalseContent>(
    second: FalseContent
  ) -> _ConditionalContent<TrueContent, FalseContent> where TrueContent: View, FalseContent: View {
    _ConditionalContent(storage: .second(second))
  }
}
