#if canImport(CVitrineCurl)
import CVitrineCurl
import VitrineRuntime

/// What an engine is told by other threads: they post and never wait for it.
@safe
final class CurlMailbox: @unchecked Sendable {
  // Sendable: `state`'s lock guards everything, and libcurl allows `curl_multi_wakeup` from any thread.

  enum Command {
    case start(CurlTransfer)
    case cancel(CurlTransfer)
    case resume(CurlTransfer)
    /// To look at the priority, which may have changed again by then.
    case reprioritize(CurlTransfer)
    /// What a hook has made of the request.
    case prepared(CurlTransfer, Result<HTTPRequest, HTTPError>)
    /// What a hook has to say to a challenge.
    case answered(CurlTransfer, Result<HTTPFields?, HTTPError>)
  }

  private struct State {
    var commands: [Command] = []
    /// Whether the engine will look at the commands without being woken again.
    var isAwake = false
    var isStopping = false
    /// Set when nothing more is taken; the multi handle is gone then.
    var isClosed = false
    var hasEnded = false
  }

  private let state = Lock(State())
  private let multi: UnsafeMutableRawPointer

  init(multi: UnsafeMutableRawPointer) {
    unsafe self.multi = multi
  }

  /// Whether the thread has nothing left to do but to end.
  var hasEnded: Bool { state.withLock { $0.hasEnded } }

  /// Leaves a command, and says whether it will be looked at.
  @discardableResult
  func post(_ command: Command) -> Bool {
    state.withLock { state in
      guard !state.isClosed else { return false }
      state.commands.append(command)
      wake(&state)
      return true
    }
  }

  /// Tells the engine to end.
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
    // Within the lock: as long as the mailbox is not closed the handle is there.
    unsafe vitrine_curl_multi_wakeup(multi)
  }

  /// Takes what has been posted, and whether to end.
  func take() -> (commands: [Command], isStopping: Bool) {
    state.withLock { state in
      let commands = state.commands
      state.commands = []
      state.isAwake = false
      return (commands, state.isStopping)
    }
  }

  /// Takes no more; to be called before the multi handle goes.
  ///
  /// - Returns: What was posted too late.
  func close() -> [Command] {
    state.withLock { state in
      state.isClosed = true
      let commands = state.commands
      state.commands = []
      return commands
    }
  }

  /// Says that the thread will do nothing more.
  func end() {
    state.withLock { $0.hasEnded = true }
  }
}
#endif
