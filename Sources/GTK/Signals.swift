package import CGTK
import CVitrineGTK

/// Connects Swift closures to GObject's signals.
///
/// Each is released when its signal is disconnected or its object is destroyed.
@MainActor
package enum Signals {
  @safe
  private final class Listener {
    let body: @MainActor (UnsafeMutableRawPointer?) -> Void

    init(_ body: @escaping @MainActor (UnsafeMutableRawPointer?) -> Void) {
      unsafe self.body = body
    }
  }

  /// Calls `body` at a signal without an argument.
  @discardableResult
  package static func connect(
    _ object: UnsafeMutableRawPointer,
    _ signal: String,
    _ body: @escaping @MainActor () -> Void,
  ) -> gulong {
    // The box is released with the connection, and GTK emits only on the main thread.
    unsafe vitrine_gtk_connect(
      object,
      signal,
      { _, user in unsafe Signals.emit(user, nil) },
      Unmanaged.passRetained(Listener { _ in body() }).toOpaque(),
      unsafe releaseObject,
    )
  }

  /// Calls `body` with the argument of a signal.
  @discardableResult
  package static func connect(
    _ object: UnsafeMutableRawPointer,
    _ signal: String,
    argument body: @escaping @MainActor (UnsafeMutableRawPointer?) -> Void,
  ) -> gulong {
    // As above.
    unsafe vitrine_gtk_connect_with_argument(
      object,
      signal,
      { _, argument, user in unsafe Signals.emit(user, argument) },
      Unmanaged.passRetained(Listener(body)).toOpaque(),
      unsafe releaseObject,
    )
  }

  private nonisolated static func emit(_ user: UnsafeMutableRawPointer?, _ argument: UnsafeMutableRawPointer?) {
    // Both are used before this returns, on this thread.
    nonisolated(unsafe) let user = unsafe user
    nonisolated(unsafe) let argument = unsafe argument
    MainActor.assumeIsolated {
      guard let user = unsafe user else { return }
      let listener = unsafe Unmanaged<Listener>.fromOpaque(user).takeUnretainedValue()
      MainThreadWork.measure { unsafe listener.body(argument) }
    }
  }
}

/// Releases a reference that was passed to C, as C's destroy function.
package func releaseObject(_ reference: UnsafeMutableRawPointer?) {
  guard let reference = unsafe reference else { return }
  // Only references from `passRetained` are passed with this function.
  unsafe Unmanaged<AnyObject>.fromOpaque(reference).release()
}
