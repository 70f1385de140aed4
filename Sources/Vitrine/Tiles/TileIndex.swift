import VitrineImaging
import VitrineRuntime

/// The index of a baseline JPEG, made once in the background.
final class TileIndex: Sendable {
  private typealias Outcome = Result<JPEGIndex?, LoadError>

  private struct State {
    var item: WorkItem?
    var outcome: Outcome?
    var waiters: [Int: Deferred<Outcome>] = [:]
    var count = 0
  }

  private let state = Lock(State())
  private let source: String

  /// Begins to make the index.
  init(_ data: Data, _ request: ImageRequest, _ context: JobContext) {
    source = request.name
    let limits = context.configuration.decodeLimits
    do throws(WorkQueueError) {
      let item = try context.decodeQueue.enqueue(priority: request.priority) { [self, source] item in
        do throws(ImageError) {
          end(.success(try JPEGIndex(data, limits: limits) { item.isCancelled }))
        } catch {
          // Files of several scans and other colours are decoded in a pass.
          end(error.code == .unsupported ? .success(nil) : .failure(LoadError(error, .decode, source)))
        }
      }
      state.withLock { if $0.outcome == nil { $0.item = item } }
    } catch {
      end(.failure(LoadError(.overloaded, .decode, source, "too many images are waiting to be decoded")))
    }
  }

  private func end(_ outcome: Outcome) {
    let waiters = state.withLock { state in
      (state.outcome, state.item) = (outcome, nil)
      defer { state.waiters = [:] }
      return state.waiters
    }
    for waiter in waiters.values { waiter.resolve(outcome) }
  }

  /// Stops making the index.
  func stop() {
    let item = state.withLock { $0.item }
    // An item that has not begun never ends.
    if item?.cancel() == true { end(.failure(LoadError(.cancelled, .decode, source, "cancelled"))) }
  }

  /// Returns the index as soon as it is made; `nil` if the file has none.
  func value(_ priority: Priority) async throws(LoadError) -> JPEGIndex? {
    let outcome = Deferred<Outcome>()
    let (number, item) = state.withLock { state in
      state.count += 1
      if let known = state.outcome { outcome.resolve(known) } else { state.waiters[state.count] = outcome }
      return (state.count, state.item)
    }
    if let item, item.priority < priority { item.priority = priority }
    let result = await withTaskCancellationHandler {
      await outcome.value()
    } onCancel: {
      state.withLock { $0.waiters[number] = nil }
      outcome.resolve(.failure(LoadError(.cancelled, .decode, source, "cancelled")))
    }
    return try result.get()
  }
}
