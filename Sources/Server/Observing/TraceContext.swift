import VitrineRuntime

/// The place of a request in a trace (W3C Trace Context, Level 1), and the span that this server makes of it.
struct TraceContext: Sendable, Equatable {
  /// The id of the trace: 32 hexadecimal digits.
  let trace: String
  /// The id of the client's span: 16 digits; `nil` for the first span of a trace.
  let parent: String?
  /// The id of this server's span: 16 digits.
  let span: String
  /// A Boolean value that indicates whether the trace is recorded.
  let isSampled: Bool

  /// Begins a trace.
  init() {
    (trace, parent, span, isSampled) = (Self.digits(2), nil, Self.digits(1), true)
  }

  /// Continues the trace of a field `traceparent`; `nil` for a malformed one (section 3.2).
  init?(_ field: String) {
    let parts = field.split(separator: "-", omittingEmptySubsequences: false)
    // Later versions may have more parts, and begin as version 00 does.
    guard parts.count >= 4, parts[0] != "00" || parts.count == 4, Self.isHex(parts[0], 2), parts[0] != "ff",
      Self.isHex(parts[1], 32), Self.isHex(parts[2], 16), Self.isHex(parts[3], 2),
      parts[1].contains(where: { $0 != "0" }), parts[2].contains(where: { $0 != "0" }),
      let flags = UInt8(parts[3], radix: 16)
    else { return nil }
    (trace, parent, span, isSampled) = (String(parts[1]), String(parts[2]), Self.digits(1), flags & 1 == 1)
  }

  /// The place of a part of this server's span.
  var child: TraceContext { TraceContext(trace: trace, parent: span, span: Self.digits(1), isSampled: isSampled) }

  private init(trace: String, parent: String?, span: String, isSampled: Bool) {
    (self.trace, self.parent, self.span, self.isSampled) = (trace, parent, span, isSampled)
  }

  /// The field that continues the trace at another server.
  var field: String { "00-\(trace)-\(span)-0\(isSampled ? 1 : 0)" }

  /// Returns a random id of one or two words, which is never all zeros.
  static func digits(_ words: Int) -> String {
    (0..<words).map { _ in
      let text = String(UInt64.random(in: 1 ... .max), radix: 16)
      return String(repeating: "0", count: 16 - text.count) + text
    }.joined()
  }

  private static func isHex(_ text: Substring, _ count: Int) -> Bool {
    text.utf8.count == count && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
  }
}

/// The traces of the sources that are being loaded, for the fields of their requests.
///
/// The load of a source serves all requests that want it, and is part of the trace of the first one.
final class SourceTraces: Sendable {
  private let fields = Lock<[ByteString: (field: String, users: Int)]>([:])

  func begin(_ url: String, _ trace: TraceContext) {
    fields.withLock { $0[ByteString(url), default: (trace.field, 0)].users += 1 }
  }

  func end(_ url: String) {
    fields.withLock { fields in
      guard let entry = fields[ByteString(url)] else { return }
      fields[ByteString(url)] = entry.users > 1 ? (entry.field, entry.users - 1) : nil
    }
  }

  /// The field of the trace to which the load of a URL belongs; `nil` for none.
  func field(for url: String) -> String? { fields.withLock { $0[ByteString(url)]?.field } }
}
