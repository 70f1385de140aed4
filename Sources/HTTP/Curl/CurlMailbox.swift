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
    case hookEnded(CurlTransfer, RedirectChain.Next)
  }

  private struct State {
    var commands: [Command] = []
    /// Set if the engine will read the commands without another wake-up.
    var isAwake = false
    var isStopping = false
    /// Set once commands are no longer accepted and the multi handle is gone.
    var isClosed = false
    var hasEnded = false
  }

  private let state = Lock(State())
  private let multi: UnsafeMutableRawPointer

  init(multi: UnsafeMutableRawPointer) {
    unsafe self.multi = multi
  }

  /// A Boolean value that indicates whether the thread has finished its work.
  var hasEnded: Bool { state.withLock { $0.hasEnded } }

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

  /// Ends the engine.
  func stop() {
    state.withLock { state in
      guard !state.isClosed else { return }
      state.isStopping = true
      wake(&state)
    }
  }

  private func wake(_ state: inout State) {
    guard !state.isAwake else { return }
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
  /// - Returns: The commands that arrived too late.
  func close() -> [Command] {
    state.withLock { $0.isClosed = true }
    return take().commands
  }

  /// Records that the thread is about to end.
  func end() {
    state.withLock { $0.hasEnded = true }
  }
}
