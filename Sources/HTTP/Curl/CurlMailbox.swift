import CVitrineCurl
import VitrineRuntime

/// The commands of other threads to an engine, posted without waiting for it.
@safe
final class CurlMailbox: @unchecked Sendable {
  // Sendable: `state`'s lock guards everything, and libcurl allows `curl_multi_wakeup` from any thread.

  enum Command {
    case start(CurlTransfer)
    case cancel(CurlTransfer)
    case resume(CurlTransfer)
    /// A change of priority. The engine reads the current one, which may have changed again.
    case reprioritize(CurlTransfer)
    /// The end of a transfer's hook.
    indirect case hookEnded(CurlTransfer, RedirectChain.Next)
  }

  private struct State {
    var commands: [Command] = []
    /// Set if the engine will read the commands without another wake-up.
    var isAwake = false
    var hasStarted = false
    var isStopping = false
    /// Set once commands are no longer accepted and the multi handle is gone.
    var isClosed = false
    /// The reason why the engine could not run.
    var failure: String?
    var hasEnded = false
  }

  private let state = Lock(State())
  /// The handle that wakes the engine; `nil` until the engine exists.
  private var multi: UnsafeMutableRawPointer?

  /// A Boolean value that indicates whether the thread has finished its work.
  var hasEnded: Bool { state.withLock { $0.hasEnded } }

  /// The reason why the engine could not run; `nil` if it runs, or was stopped.
  var failure: String? { state.withLock { $0.failure } }

  /// Returns `true` for the first call, after which the caller starts the thread, unless the mailbox is closed.
  func begin() -> Bool {
    state.withLock { state in
      defer { state.hasStarted = true }
      return !state.hasStarted && !state.isClosed
    }
  }

  /// Sets the handle that wakes the engine, which then reads the commands posted so far.
  func open(_ multi: UnsafeMutableRawPointer) {
    state.withLock { _ in unsafe self.multi = multi }
  }

  /// Posts a command, and returns `false` if the engine no longer reads any.
  @discardableResult
  func post(_ command: Command) -> Bool {
    state.withLock { state in
      guard !state.isClosed else { return false }
      state.commands.append(command)
      wake(&state)
      return true
    }
  }

  /// Ends the engine, or closes the mailbox if there is none.
  func stop() {
    state.withLock { state in
      guard !state.isClosed else { return }
      state.isStopping = true
      guard state.hasStarted else { return state.isClosed = true }
      wake(&state)
    }
  }

  private func wake(_ state: inout State) {
    guard !state.isAwake, let multi = unsafe multi else { return }
    state.isAwake = true
    // The wake-up is within the lock, since the multi handle exists until the mailbox is closed.
    unsafe vitrine_curl_multi_wakeup(multi)
  }

  /// Takes the posted commands, and returns whether to stop.
  func take() -> (commands: [Command], isStopping: Bool) {
    state.withLock { state in
      defer { (state.commands, state.isAwake) = ([], false) }
      return (state.commands, state.isStopping)
    }
  }

  /// Stops accepting commands, before the multi handle is released.
  ///
  /// - Parameter failure: The reason why the engine could not run. Defaults to `nil`: it was stopped.
  /// - Returns: The transfers whose start arrived too late.
  func close(_ failure: String? = nil) -> [CurlTransfer] {
    state.withLock { ($0.isClosed, $0.failure) = (true, failure) }
    return take().commands.compactMap { if case .start(let transfer) = $0 { transfer } else { nil } }
  }

  /// Records that the thread is about to end.
  func end() {
    state.withLock { $0.hasEnded = true }
  }
}
