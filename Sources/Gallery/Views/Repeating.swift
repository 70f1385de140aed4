import CGTK

/// A source of GLib's main loop that calls a closure again and again, until this object is released.
@MainActor
final class Repeating {
  private var id: guint = 0
  private let body: @MainActor () -> Bool

  /// - Parameters:
  ///   - milliseconds: The time between two calls.
  ///   - body: Called until it returns `false`.
  init(every milliseconds: Int, _ body: @escaping @MainActor () -> Bool) {
    self.body = body
    id = unsafe g_timeout_add_full(
      G_PRIORITY_DEFAULT,
      guint(milliseconds),
      { object in
        guard let object = unsafe object else { return 0 }
        // Unretained: `deinit` removes the source.
        let timer = unsafe Unmanaged<Repeating>.fromOpaque(object).takeUnretainedValue()
        return MainActor.assumeIsolated {
          if timer.body() { return 1 }
          timer.id = 0
          return 0
        }
      },
      Unmanaged.passUnretained(self).toOpaque(),
      nil,
    )
  }

  isolated deinit { if id != 0 { g_source_remove(id) } }
}
