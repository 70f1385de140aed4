import Synchronization
import VitrineHTTP
import VitrineRuntime

/// The bytes of all sources that are held at a time, which have one limit.
///
/// Decoding has a budget of its own. A source counts from its first byte until nobody works on it any more. A load that
/// would exceed the limit ends with ``HTTPError/Code/overloaded``. Of sources that can wait where they are, only a few are
/// held: more than are decoded at a time would take memory for nothing.
final class SourceBudget: Sendable {
  private struct Entry {
    var users = 0
    var bytes = 0
    /// True if it has one of the places of those that can wait.
    var hasPlace = false
  }

  private struct State {
    var entries: [String: Entry] = [:]
    var bytes = 0
    var places: Int
    /// Those that wait for a place, in order.
    var waiting: [Waiting] = []
  }

  private struct Waiting {
    let url: String
    let start: @Sendable () -> Void
  }

  let limit: Int
  private let state: Lock<State>

  /// Makes a budget.
  ///
  /// - Parameters:
  ///   - limit: The bytes of all sources.
  ///   - places: The number of held sources that could wait.
  init(limit: Int, places: Int = .max) {
    self.limit = limit
    state = Lock(State(places: places))
  }

  /// The bytes that are held.
  var byteCount: Int { state.withLock { $0.bytes } }

  /// Work on a source begins; what is loaded of it counts until ``end(_:)``.
  func begin(_ url: String) { state.withLock { $0.entries[url, default: Entry()].users += 1 } }

  /// Work on a source ends.
  func end(_ url: String) {
    let starts = state.withLock { state -> [@Sendable () -> Void] in
      guard var entry = state.entries[url] else { return [] }
      entry.users -= 1
      guard entry.users == 0 else {
        state.entries[url] = entry
        return []
      }
      state.entries[url] = nil
      state.bytes -= entry.bytes
      if entry.hasPlace { state.places += 1 }
      return next(&state)
    }
    for start in starts { start() }
  }

  /// Calls a closure once there is a place for a source that can wait; maybe before this returns.
  ///
  /// The place is free again when nobody works on the source any more. Without work on it none is taken.
  func whenThereIsRoom(for url: String, _ start: @escaping @Sendable () -> Void) {
    let starts = state.withLock { state in
      state.waiting.append(Waiting(url: url, start: start))
      return next(&state)
    }
    for start in starts { start() }
  }

  private func next(_ state: inout State) -> [@Sendable () -> Void] {
    guard !state.waiting.isEmpty else { return [] }
    var starts: [@Sendable () -> Void] = []
    var rest: [Waiting] = []
    for waiting in state.waiting {
      // A source keeps its place until its last user ends, who may be among those that wait.
      if let entry = state.entries[waiting.url], !entry.hasPlace {
        guard state.places > 0 else {
          rest.append(waiting)
          continue
        }
        state.places -= 1
        state.entries[waiting.url]?.hasPlace = true
      }
      starts.append(waiting.start)
    }
    state.waiting = rest
    return starts
  }

  fileprivate func add(_ count: Int, of url: String) -> Bool {
    state.withLock { state in
      // One source always fits: how large it may be is another setting.
      guard state.bytes == 0 || count <= limit - state.bytes else { return false }
      // Revalidations in the background have no user, and are few.
      guard state.entries[url] != nil else { return true }
      state.entries[url]?.bytes += count
      state.bytes += count
      return true
    }
  }
}

/// A loader whose bodies count against a budget.
struct BudgetedLoader: DataLoader {
  private let loader: any DataLoader
  private let budget: SourceBudget

  init(_ loader: any DataLoader, _ budget: SourceBudget) { (self.loader, self.budget) = (loader, budget) }

  func obeys(_ addressGuard: AddressGuard) -> Bool { loader.obeys(addressGuard) }

  @discardableResult
  func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle {
    loader.load(request, into: Counter(sink, budget, request.url.string))
  }

  private final class Counter: LoadSink {
    private let sink: any LoadSink
    private let budget: SourceBudget
    private let url: String
    private let isOver = Atomic(false)

    init(_ sink: any LoadSink, _ budget: SourceBudget, _ url: String) {
      (self.sink, self.budget, self.url) = (sink, budget, url)
    }

    var hooks: LoadHooks { sink.hooks }
    var canStartOver: Bool { sink.canStartOver }

    func begin() { sink.begin() }

    func receive(_ response: HTTPResponse) -> LoadFlow { sink.receive(response) }

    func receive(_ bytes: RawSpan) -> LoadFlow {
      guard budget.add(bytes.byteCount, of: url) else {
        isOver.store(true, ordering: .relaxed)
        return .stop
      }
      return sink.receive(bytes)
    }

    func finish(_ error: HTTPError?) {
      guard isOver.load(ordering: .relaxed) else { return sink.finish(error) }
      sink.finish(HTTPError(.overloaded, url: url, "the sources that are held take up all memory"))
    }
  }
}
