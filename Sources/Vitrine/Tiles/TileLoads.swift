import VitrineImaging
import VitrineRuntime

/// The tiles that are being loaded, each once for all who wait for it.
final class TileLoads: Sendable {
  private typealias Outcome = Result<Bitmap, LoadError>

  private struct Load {
    let task: Task<Void, Never>
    let urgency: TileUrgency
    var waiters: [Int: Deferred<Outcome>] = [:]
  }

  private struct State {
    var loads: [TilePlace: (number: Int, load: Load)] = [:]
    var count = 0
  }

  private let state = Lock(State())

  /// Returns the result of `make`, which is called once for all that wait for a tile, and cancelled with the last.
  ///
  /// It is as urgent as the most urgent of those that have come to wait.
  func value(
    of tile: TilePlace,
    _ source: String,
    _ priority: Priority,
    _ make: @escaping @Sendable (TileUrgency) async throws(LoadError) -> Bitmap,
  ) async throws(LoadError) -> Bitmap {
    let cancelled = LoadError(.cancelled, .decode, source, "cancelled")
    guard !Task.isCancelled else { throw cancelled }
    let outcome = Deferred<Outcome>()
    let (waiter, urgency) = join(tile, outcome, priority, make)
    urgency.raise(to: priority)
    let result = await withTaskCancellationHandler {
      await outcome.value()
    } onCancel: {
      leave(tile, waiter)
      outcome.resolve(.failure(cancelled))
    }
    return try result.get()
  }

  private func join(
    _ tile: TilePlace,
    _ outcome: Deferred<Outcome>,
    _ priority: Priority,
    _ make: @escaping @Sendable (TileUrgency) async throws(LoadError) -> Bitmap,
  ) -> (waiter: Int, urgency: TileUrgency) {
    state.withLock { state in
      state.count += 1
      let waiter = state.count
      let urgency = state.loads[tile]?.load.urgency ?? TileUrgency(priority)
      if state.loads[tile] == nil {
        let task = Task { [self] in
          let result: Outcome
          do throws(LoadError) {
            result = .success(try await make(urgency))
          } catch {
            result = .failure(error)
          }
          end(tile, waiter, result)
        }
        // Its first waiter's number tells it from a later load of the tile.
        state.loads[tile] = (waiter, Load(task: task, urgency: urgency))
      }
      state.loads[tile]?.load.waiters[waiter] = outcome
      return (waiter, urgency)
    }
  }

  private func leave(_ tile: TilePlace, _ waiter: Int) {
    let task = state.withLock { state -> Task<Void, Never>? in
      guard state.loads[tile]?.load.waiters.removeValue(forKey: waiter) != nil else { return nil }
      guard state.loads[tile]?.load.waiters.isEmpty == true else { return nil }
      return state.loads.removeValue(forKey: tile)?.load.task
    }
    task?.cancel()
  }

  private func end(_ tile: TilePlace, _ number: Int, _ result: Outcome) {
    let waiters = state.withLock { state -> [Int: Deferred<Outcome>] in
      guard state.loads[tile]?.number == number else { return [:] }
      return state.loads.removeValue(forKey: tile)?.load.waiters ?? [:]
    }
    for waiter in waiters.values { waiter.resolve(result) }
  }
}

/// How urgent the load of a tile is, and the work to which that applies.
final class TileUrgency: Sendable {
  private let state: Lock<(priority: Priority, item: WorkItem?)>

  init(_ priority: Priority) { state = Lock((priority, nil)) }

  /// The highest priority so far.
  var priority: Priority { state.withLock { $0.priority } }

  /// Raises the priority, and that of the work that is going on.
  func raise(to priority: Priority) {
    let item = state.withLock { state -> WorkItem? in
      guard state.priority < priority else { return nil }
      state.priority = priority
      return state.item
    }
    item?.priority = priority
  }

  /// Has work follow the priority from now on.
  func follow(_ item: WorkItem) {
    let priority = state.withLock { state in
      state.item = item
      return state.priority
    }
    if item.priority < priority { item.priority = priority }
  }
}
