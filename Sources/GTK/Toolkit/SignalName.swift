import CGTK
import CVitrineGTK

/// The name of a signal that an object has.
@safe
struct SignalName {
  let id: guint
  let detail: GQuark
  private let name: String
  private let object: UnsafeMutableRawPointer

  /// A mistake in a connection.
  struct Mistake: Error {
    let message: String
  }

  init(_ name: String, of object: UnsafeMutableRawPointer) throws(Mistake) {
    var id: guint = 0
    var detail: GQuark = 0
    // Both are written before the call returns.
    guard unsafe g_signal_parse_name(name, vitrine_gtk_type(object), &id, &detail, 1) != 0 else {
      throw unsafe Mistake(
        message:
          "\(className(of: object)) has no signal \"\(name)\". It has: \(Self.all(of: object).joined(separator: ", "))"
      )
    }
    (self.id, self.detail, self.name) = (id, detail, name)
    unsafe self.object = object
  }

  /// Checks that a handler can take the signal's arguments, and return what it wants.
  @MainActor
  func check(_ handler: SignalHandler) throws(Mistake) {
    var query = unsafe GSignalQuery()
    unsafe g_signal_query(id, &query)
    // GLib keeps the types of a signal for the life of the process.
    let types = unsafe UnsafeBufferPointer(start: query.param_types, count: Int(query.n_params)).map { Self.plain($0) }
    let passes = types.count >= handler.arguments.count && zip(handler.arguments, types).allSatisfy { $0.accepts($1) }
    let result = unsafe Self.plain(query.return_type)
    // A signal that wants no result ignores one: closures of one expression return it without being asked.
    let wantsResult = unsafe handler.result != nil && query.return_type != vitrine_gtk_no_type()
    guard passes else {
      throw Mistake(message: "\(title) has the arguments (\(Self.list(types))), not (\(Self.list(handler.arguments)))")
    }
    if wantsResult, let type = handler.result, !type.accepts(result) {
      throw Mistake(message: "\(title) wants a \(Self.text(result)), not a \(type)")
    }
  }

  private var title: String { unsafe "\"\(name)\" of \(className(of: object))" }

  /// Returns the type without the flag for values that an emission does not copy.
  private static func plain(_ type: GType) -> GType { type & ~1 }

  private static func text(_ type: GType) -> String {
    // GLib keeps the names of types for the life of the process.
    unsafe g_type_name(type).map { unsafe String(cString: $0) } ?? "?"
  }

  private static func list(_ types: [GType]) -> String { types.map(text).joined(separator: ", ") }

  private static func list(_ types: [any SignalValue.Type]) -> String {
    types.map { "\($0)" }.joined(separator: ", ")
  }

  /// Returns the names of all signals in order, the signals of the object's own class first.
  private static func all(of object: UnsafeMutableRawPointer) -> [String] {
    var names: [String] = []
    var type = unsafe vitrine_gtk_type(object)
    while type != 0 {
      var count: guint = 0
      // The caller owns the array, but not the names.
      let ids = unsafe g_signal_list_ids(type, &count)
      defer { unsafe g_free(ids) }
      // GLib's own order depends on the classes that the program has used.
      unsafe names += UnsafeBufferPointer(start: ids, count: Int(count)).compactMap { id in
        unsafe g_signal_name(id).map { unsafe String(cString: $0) }
      }.sorted()
      type = g_type_parent(type)
    }
    return names
  }
}
