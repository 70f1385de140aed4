/// Connects handlers of Vitrine's own to GObject's signals; their time is measured as Vitrine's.
///
/// Each is released when its signal is disconnected or its object is destroyed. Programs use `connect`.
@MainActor
package enum Signals {
  /// Calls `body` at a signal, without its arguments.
  @discardableResult
  package static func connect(
    _ object: UnsafeMutableRawPointer,
    _ signal: String,
    _ body: @escaping @MainActor () -> Void,
  ) -> SignalConnection {
    unsafe SignalConnection(object, signal, SignalHandler(measured: body))
  }

  /// Calls `body` with the first argument of a signal.
  @discardableResult
  package static func connect(
    _ object: UnsafeMutableRawPointer,
    _ signal: String,
    argument body: @escaping @MainActor (UnsafeMutableRawPointer?) -> Void,
  ) -> SignalConnection {
    unsafe SignalConnection(object, signal, SignalHandler(measuredArgument: body))
  }
}

/// Releases a reference that was passed to C, as C's destroy function.
package func releaseObject(_ reference: UnsafeMutableRawPointer?) {
  guard let reference = unsafe reference else { return }
  // Only references from `passRetained` are passed with this function.
  unsafe Unmanaged<AnyObject>.fromOpaque(reference).release()
}
