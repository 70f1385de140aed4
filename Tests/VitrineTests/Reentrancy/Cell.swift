import Testing
import VitrineRuntime
import VitrineTestSupport

/// The hooks of one topic: each knows how to have itself called while a ``Scene`` is played.
protocol Hook: Codable, CaseIterable, Sendable {
  /// Sets the scene up, has the hook called, and returns when everything has come to its end.
  func play(_ action: Action) async throws
}

/// One hook in a process of its own: a pipeline that hangs there takes no thread from anybody else.
enum Cell {
  /// What a process exits with in which something hangs.
  private static let hangs: CInt = 97
  private static let width = AsyncWidth(8)

  /// Runs `body` in a process of its own; at most eight at once.
  static func inTurn(_ body: () async -> Void) async {
    await width.enter()
    await body()
    width.leave()
  }

  /// Plays a hook with every action in this process, which ends with a status of its own if one takes longer than two
  /// minutes, which none does however busy the machine is.
  static func play(_ hook: some Hook) async {
    for action in Action.allCases {
      Scene.latest.withLock { $0 = nil }
      await play("\(action)") { try await hook.play(action) }
    }
  }

  /// Plays anything in this process, likewise.
  static func play(_ name: String = "it", _ body: () async throws -> Void) async {
    let isOver = Gate()
    let hasThread = startThread(named: "watchdog") {
      guard !isOver.wait(atMost: .seconds(120)) else { return }
      Issue.record("\(name) hangs: \(Scene.latest.withLock { $0 }?.whereItStands ?? "it did not end in time")")
      _exit(hangs)
    }
    #expect(hasThread)
    do { try await body() } catch { Issue.record(error) }
    isOver.open()
  }
}

/// Lets so many tasks through at once.
final class AsyncWidth: Sendable {
  private struct State {
    var free: Int
    var waiting: [Deferred<Void>] = []
  }

  private let state: Lock<State>

  init(_ width: Int) { state = Lock(State(free: width)) }

  func enter() async {
    let turn = Deferred<Void>()
    let mayEnter = state.withLock { state in
      guard state.free == 0 else {
        state.free -= 1
        return true
      }
      state.waiting.append(turn)
      return false
    }
    if !mayEnter { await turn.value() }
  }

  func leave() {
    let next: Deferred<Void>? = state.withLock { state in
      guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
      state.free += 1
      return nil
    }
    next?.resolve(())
  }
}
