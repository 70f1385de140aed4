import Foundation
import VitrineRuntime

/// A terminal that nobody sees.
final class Terminal: Sendable {
  private struct State {
    var text = ""
    var isOver = false
    var waiters: [(text: String?, act: @Sendable () -> Void)] = []
  }

  private let state = Lock(State())
  private let master: Int32

  private let slave: Int32

  init() throws {
    var (own, other): (Int32, Int32) = (-1, -1)
    // Both are written, and nothing else.
    guard unsafe openpty(&own, &other, nil, nil, nil) == 0 else { throw POSIXError(.EIO) }
    (master, slave) = (own, other)
    // Else the tool has this end, too, and is never alone with the other one.
    for end in [own, other] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
  }

  deinit { close(master) }

  /// The end for a program; once it is closed everywhere the text has come to its end.
  func takeHandle() throws -> FileHandle {
    guard startThread(named: "terminal", { self.read() }) else { throw POSIXError(.EIO) }
    return FileHandle(fileDescriptor: slave, closeOnDealloc: true)
  }

  /// What has been shown so far, with everything that was removed again.
  var text: String { state.withLock(\.text) }

  /// Does something as soon as `text` is shown, on the terminal's own thread: tests may be busy elsewhere for longer
  /// than a download waits.
  func whenShown(_ text: String, _ act: @escaping @Sendable () -> Void) { wait(text, act) }

  /// Waits until no program has the terminal any more, and gives all that was shown.
  func end() async -> String {
    let isOver = Deferred<Void>()
    wait(nil) { isOver.resolve(()) }
    await isOver.value()
    return text
  }

  private func wait(_ text: String?, _ act: @escaping @Sendable () -> Void) {
    state.withLock { $0.waiters.append((text, act)) }
    tell()
  }

  private func read() {
    var bytes = [UInt8](repeating: 0, count: 4096)
    while true {
      // As much as there is room for.
      let count = unsafe Foundation.read(master, &bytes, bytes.count)
      if count < 0, errno == EINTR { continue }
      // The system's way to say that the other end is closed is an error.
      guard count > 0 else { break }
      let part = String(decoding: bytes[..<count], as: UTF8.self)
      state.withLock { $0.text += part }
      tell()
    }
    state.withLock { $0.isOver = true }
    tell()
  }

  private func tell() {
    let ready = state.withLock { state -> [@Sendable () -> Void] in
      let (text, isOver) = (state.text, state.isOver)
      let isReady: (String?) -> Bool = { wanted in isOver || wanted.map { text.contains($0) } ?? false }
      defer { state.waiters.removeAll { isReady($0.text) } }
      return state.waiters.filter { isReady($0.text) }.map(\.act)
    }
    for act in ready { act() }
  }
}
