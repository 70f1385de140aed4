import Foundation

/// A text that may be looked up in a table of translations; the host does not look it up.
public struct LocalizedStringKey: Equatable, ExpressibleByStringInterpolation, Sendable {
  let key: String

  /// Makes a key of a literal.
  public init(stringLiteral value: String) {
    key = value
  }
}

/// A line of text.
nonisolated public struct Text: View, Equatable, Sendable {
  /// A basic view has no body.
  public typealias Body = Never

  /// The text that is shown.
  public let _string: String

  /// Makes a text that may be translated.
  public init(
    _ key: LocalizedStringKey,
    tableName: String? = nil,
    bundle: Bundle? = nil,
    comment: StaticString? = nil,
  ) {
    _string = key.key
  }
}

extension Text: Primitive {
  @MainActor
  func render(_ pass: Pass, _ node: Node, _ context: Context) {
    pass.output.texts.append(_RenderedText(string: _string, context))
  }
}
