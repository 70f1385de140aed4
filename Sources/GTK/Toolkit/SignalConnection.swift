import CGTK
import CVitrineGTK
import VitrineRuntime

/// Calls a closure at each emission of a signal.
///
/// ```swift
/// connect(button, "clicked") { print("clicked") }
/// connect(entry, "notify::text") { search() }
/// connect(list, "activate") { (position: Int) in open(position) }
/// ```
/// The closure names the types of its arguments; it may take fewer than the signal has, and not the sender. See
/// ``SignalValue`` for the types. The closure is released when the signal is disconnected or its object is
/// destroyed. An object and a closure that retains it keep each other: capture weakly, or capture pointers.
///
/// In debug builds the program stops if the object has no such signal, or if the signal has other arguments. In
/// release builds nothing is connected. The signal must be emitted on the main thread.
///
/// - Parameters:
///   - object: The object.
///   - signal: The name, with its detail if it has one.
///   - body: The closure.
/// - Returns: The connection, which need not be kept.
@MainActor
@discardableResult
public func connect<each Argument: SignalValue>(
  _ object: (some ObjectPointer)?,
  _ signal: String,
  _ body: @escaping @MainActor (repeat each Argument) -> Void,
) -> SignalConnection {
  let handler = SignalHandler(body)
  return unsafe SignalConnection(object?.objectAddress, signal, handler)
}

/// Calls a closure at each emission of a signal, and returns its result to the sender.
///
/// ```swift
/// connect(window, "close-request") { hasUnsavedChanges }
/// connect(keys, "key-pressed") { (key: UInt32, code: UInt32, state: GdkModifierType) in
///   key == GDK_KEY_Escape
/// }
/// ```
/// See the form without a result for the types of arguments, and for mistakes.
@MainActor
@discardableResult
public func connect<each Argument: SignalValue, Result: SignalValue>(
  _ object: (some ObjectPointer)?,
  _ signal: String,
  _ body: @escaping @MainActor (repeat each Argument) -> Result,
) -> SignalConnection {
  let handler = SignalHandler(returning: body)
  return unsafe SignalConnection(object?.objectAddress, signal, handler)
}

/// A connection of a closure to a signal.
///
/// The connection does not end when this object is released.
@MainActor
@safe
public final class SignalConnection {
  private var object: UnsafeMutableRawPointer?
  private var id: gulong = 0
  private var handler: SignalHandler?
  private nonisolated let thread = threadIdentity()

  /// Connects a handler, which is measured as time of the main thread only if it says so.
  init(_ object: UnsafeMutableRawPointer?, _ signal: String, _ handler: SignalHandler) {
    unsafe self.object = nil
    guard let object = unsafe object else {
      assertionFailure("there is no object to connect to")
      return
    }
    do throws(SignalName.Mistake) {
      let name = unsafe try SignalName(signal, of: object)
      try name.check(handler)
      unsafe self.object = object
      self.handler = handler
      unsafe connect(object, name)
    } catch {
      assertionFailure(error.message)
    }
  }

  private func connect(_ object: UnsafeMutableRawPointer, _ name: SignalName) {
    // The object owns the closure, and the closure a reference to this connection, which the notifier releases.
    let closure = unsafe g_closure_new_simple(
      guint(MemoryLayout<GClosure>.size),
      Unmanaged.passRetained(self).toOpaque(),
    )
    unsafe g_closure_set_marshal(closure) { closure, result, count, values, _, _ in
      guard let data = unsafe closure?.pointee.data else { return }
      let connection = unsafe Unmanaged<SignalConnection>.fromOpaque(data).takeUnretainedValue()
      // Both are used before this returns, on this thread.
      nonisolated(unsafe) let (result, values) = unsafe (result, values)
      MainActor.assumeIsolated {
        unsafe connection.handler?.call(result, SignalArguments(count: Int(count), values: values))
      }
    }
    unsafe g_closure_add_finalize_notifier(closure, closure?.pointee.data, releaseConnection)
    id = unsafe g_signal_connect_closure_by_id(object, name.id, name.detail, closure, 0)
  }

  /// A Boolean value that indicates whether the closure is called at emissions.
  public var isConnected: Bool { unsafe object != nil }

  /// Disconnects and releases the closure; does nothing if the object has been destroyed.
  public func disconnect() {
    guard let object = unsafe object else { return }
    unsafe self.object = nil
    handler = nil
    // The closure has not been released, so the object is alive. During its destruction the handler may be gone.
    if unsafe g_signal_handler_is_connected(object, id) != 0 { unsafe g_signal_handler_disconnect(object, id) }
  }

  fileprivate nonisolated func closureWasReleased() {
    guard threadIdentity() == thread else {
      // The last reference to the object was released elsewhere.
      Task { @MainActor in end() }
      return
    }
    MainActor.assumeIsolated { end() }
  }

  private func end() {
    unsafe object = nil
    handler = nil
  }
}

/// The notifier of a closure, on whatever thread the last reference to its object was released.
private func releaseConnection(_ connection: UnsafeMutableRawPointer?, _: UnsafeMutablePointer<GClosure>?) {
  guard let connection = unsafe connection else { return }
  // The closure's reference, from `passRetained`.
  unsafe Unmanaged<SignalConnection>.fromOpaque(connection).takeRetainedValue().closureWasReleased()
}
