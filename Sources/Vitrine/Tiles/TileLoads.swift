import VitrineImaging
import VitrineRuntime

/// The tiles that are being loaded, each once for all who wait for it.
final class TileLoads: Sendable {
  private typealias Outcome = Result<Bitmap, LoadError>

  private struct Load {
    let task: Task<Void, Never>
    var waiters: [Int: Deferred<Outcome>] = [:]
  }

  private struct State {
    var loads: [TilePlace: (number: Int, load: Load)] = [:]
    var count = 0
  }

  private let state = Lock(State())

  /// Returns the result of `make`, which is called once for all that wait for a tile, and cancelled with the last.
  func value(
    of tile: TilePlace,
    _ source: String,
    _ make: @escaping @Sendable () async throws(LoadError) -> Bitmap,
  ) async throws(LoadError) -> Bitmap {
    let cancelled = LoadError(.cancelled, .decode, source, "cancelled")
    guard !Task.isCancelled else { throw cancelled }
    let outcome = Deferred<Outcome>()
    let waiter = join(tile, outcome, make)
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
    _ make: @escaping @Sendable () async throws(LoadError) -> Bitmap,
  ) -> Int {
    state.withLock { state in
      state.count += 1
      let waiter = state.count
      if state.loads[tile] == nil {
        let task = Task { [self] in
          let result: Outcome
          do throws(LoadError) {
            result = .success(try await make())
          } catch {
            result = .failure(error)
          }
          end(tile, waiter, result)
        }
        // Its first waiter's number tells it from a later load of the tile.
        state.loads[tile] = (waiter, Load(task: task))
      }
      state.loads[tile]?.load.waiters[waiter] = outcome
      return waiter
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
