// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, NeverForceUnwrap

import Synchronization

/// Only of the stand-in: the spans that have ended.
public let ended = Mutex<[EndedSpan]>([])

/// Only of the stand-in: a span that has ended.
public struct EndedSpan: Sendable {
  public let name: String
  public let kind: SpanKind
  public let attributes: [String: String]
  public let hasError: Bool
  public let trace: String?
}

/// Only of the stand-in: the caller's trace, a task-local value as the real package's `ServiceContext`.
public enum CallersTrace {
  @TaskLocal
  public static var id: String?
}

public enum SpanKind: Sendable {
  case server, client, producer, consumer, `internal`
}

public protocol SpanAttributeConvertible: Sendable {}
extension String: SpanAttributeConvertible {}
extension Bool: SpanAttributeConvertible {}
extension Int: SpanAttributeConvertible {}

public struct SpanAttributes: Sendable {
  var texts: [String: String] = [:]

  public subscript<Value: SpanAttributeConvertible>(name: String) -> Value? {
    get { nil }
    set { texts[name] = newValue.map { "\($0)" } }
  }
}

public protocol Span: Sendable {
  var attributes: SpanAttributes { get nonmutating set }
}

private final class RecordedSpan: Span {
  let stored = Mutex(SpanAttributes())

  var attributes: SpanAttributes {
    get { stored.withLock { $0 } }
    set { stored.withLock { $0 = newValue } }
  }
}

public func withSpan<Result>(
  _ name: String,
  ofKind kind: SpanKind = .internal,
  isolation: isolated (any Actor)? = #isolation,
  _ operation: (any Span) async throws -> Result,
) async rethrows -> Result {
  let span = RecordedSpan()
  func end(hasError: Bool) {
    let attributes = span.attributes.texts
    ended.withLock {
      $0.append(EndedSpan(name: name, kind: kind, attributes: attributes, hasError: hasError, trace: CallersTrace.id))
    }
  }
  do {
    let result = try await operation(span)
    end(hasError: false)
    return result
  } catch {
    end(hasError: true)
    throw error
  }
}
