import VitrineHTTP
import VitrineRuntime

/// The bytes of all sources that are held at a time, which have one limit.
///
/// Decoding has a budget of its own. A source counts from its first byte until no work on it is left. A load that would
/// exceed the limit ends with ``HTTPError/Code/overloaded``, unless another client's sources hold more: then the
/// largest source that is still coming ends so. URLs and clients are bytes. Of sources that can wait where they are,
/// only a few are held, in turns of the clients: more than are decoded at a time would take memory for nothing.
final class SourceBudget: Sendable {
  private struct Entry {
    var users = 0
    var bytes = 0
    /// True if it has one of the places of sources that can wait.
    var hasPlace = false
    /// The client whose work was the first.
    let client: ByteString
    /// The loads that are under way, by their numbers, and how to end them.
    var loads: [Int: @Sendable () -> Void] = [:]
    /// True if it has given way.
    var isCut = false

    init(_ client: ByteString) { self.client = client }
  }

  private struct State {
    var entries: [ByteString: Entry] = [:]
    var lastLoad = 0
    var bytes = 0
    /// The places that are free; below 0 if clients without one have been given more.
    var places: Int
    /// Those that wait for a place, in order.
    var waiting: [Waiting] = []
  }

  private struct Waiting {
    let url: ByteString
    let start: @Sendable () -> Void
  }

  let limit: Int
  private let guestPlaces: Int
  private let state: Lock<State>

  /// Makes a budget.
  ///
  /// - Parameters:
  ///   - limit: The bytes of all sources.
  ///   - places: The number of held sources that could wait.
  ///   - guestPlaces: The number of further ones, for clients that hold none.
  init(limit: Int, places: Int = .max, guestPlaces: Int = 0) {
    (self.limit, self.guestPlaces) = (limit, guestPlaces)
    state = Lock(State(places: places))
  }

  /// The bytes that are held.
  var byteCount: Int { state.withLock { $0.bytes } }

  /// Work on a source begins; what is loaded of it counts until ``end(_:)``.
  func begin(_ url: String, for client: ByteString) {
    state.withLock { $0.entries[ByteString(url), default: Entry(client)].users += 1 }
  }

  /// Work on a source ends.
  func end(_ url: String) {
    let url = ByteString(url)
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
  /// The place is free again when no work on the source is left. Without work on it none is taken.
  func whenThereIsRoom(for url: String, _ start: @escaping @Sendable () -> Void) {
    let starts = state.withLock { state in
      state.waiting.append(Waiting(url: ByteString(url), start: start))
      return next(&state)
    }
    for start in starts { start() }
  }

  /// Gives places to sources of the clients that hold the fewest, and returns what is to be started.
  private func next(_ state: inout State) -> [@Sendable () -> Void] {
    var starts: [@Sendable () -> Void] = []
    // A source keeps its place until its last user ends, who may be among the waiting ones.
    func start(_ state: inout State, where isReady: (ByteString) -> Bool) {
      starts += state.waiting.filter { isReady($0.url) }.map(\.start)
      state.waiting.removeAll { isReady($0.url) }
    }
    let entries = state.entries
    start(&state) { url in entries[url].map(\.hasPlace) ?? true }
    guard !state.waiting.isEmpty else { return starts }
    var held: [ByteString: Int] = [:]
    for entry in entries.values where entry.hasPlace { held[entry.client, default: 0] += 1 }
    func share(_ waiting: Waiting) -> Int { entries[waiting.url].flatMap { held[$0.client] } ?? 0 }
    while let first = state.waiting.min(by: { share($0) < share($1) }) {
      // A client without a place does not wait for the images of others.
      guard state.places > (share(first) == 0 ? -guestPlaces : 0) else { break }
      state.places -= 1
      if let client = entries[first.url]?.client { held[client, default: 0] += 1 }
      state.entries[first.url]?.hasPlace = true
      start(&state) { $0 == first.url }
    }
    return starts
  }

  /// Notes a load of a source, which ``loaded(_:_:)`` ends; `cut` ends it early.
  fileprivate func loads(_ url: ByteString, _ cut: @escaping @Sendable () -> Void) -> Int {
    let (number, isCut) = state.withLock { state in
      state.lastLoad += 1
      state.entries[url]?.loads[state.lastLoad] = cut
      return (state.lastLoad, state.entries[url]?.isCut ?? false)
    }
    if isCut { cut() }
    return number
  }

  fileprivate func loaded(_ url: ByteString, _ number: Int) {
    // Released when the lock is open.
    let cut = state.withLock { $0.entries[url]?.loads.removeValue(forKey: number) }
    withExtendedLifetime(cut) {}
  }

  fileprivate func add(_ count: Int, of url: ByteString) -> Bool {
    let (fits, cuts) = state.withLock { state -> (Bool, [@Sendable () -> Void]) in
      // Revalidations in the background have no user, and are few.
      guard let entry = state.entries[url] else { return (true, []) }
      guard !entry.isCut else { return (false, []) }
      var cuts: [@Sendable () -> Void] = []
      // One source always fits: how large it may be is another setting.
      while state.bytes > 0, count > limit - state.bytes {
        guard let key = Self.largest(beside: entry.client, count, state), var other = state.entries[key] else {
          return (false, cuts)
        }
        state.bytes -= other.bytes
        cuts += other.loads.values
        (other.bytes, other.isCut) = (0, true)
        state.entries[key] = other
      }
      state.entries[url]?.bytes += count
      state.bytes += count
      return (true, cuts)
    }
    for cut in cuts { cut() }
    return fits
  }

  /// Returns the largest source that is still coming of the client who holds the most, if that is more than another
  /// one would hold with `count` bytes more.
  private static func largest(beside client: ByteString, _ count: Int, _ state: State) -> ByteString? {
    var held: [ByteString: Int] = [:]
    for entry in state.entries.values { held[entry.client, default: 0] += entry.bytes }
    let own = (held[client] ?? 0) + count
    return state.entries
      .filter { $1.client != client && !$1.loads.isEmpty && $1.bytes > 0 && held[$1.client] ?? 0 > own }
      .max { (held[$0.value.client] ?? 0, $0.value.bytes) < (held[$1.value.client] ?? 0, $1.value.bytes) }?.key
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
    let counter = Counter(sink, budget, ByteString(request.url.string))
    let handle = loader.load(request, into: counter)
    counter.follow(handle)
    return handle
  }

  private final class Counter: LoadSink {
    private struct Load {
      var number: Int?
      var isOver = false
      var hasEnded = false
    }

    private let sink: any LoadSink
    private let budget: SourceBudget
    private let url: ByteString
    private let load = Lock(Load())

    init(_ sink: any LoadSink, _ budget: SourceBudget, _ url: ByteString) {
      (self.sink, self.budget, self.url) = (sink, budget, url)
    }

    var hooks: LoadHooks { sink.hooks }
    var canStartOver: Bool { sink.canStartOver }

    /// Lets the budget end the load.
    func follow(_ handle: any LoadHandle) {
      let number = budget.loads(url) { [weak self] in
        self?.load.withLock { $0.isOver = true }
        handle.cancel()
      }
      let hasEnded = load.withLock { load in
        load.number = number
        return load.hasEnded
      }
      if hasEnded { budget.loaded(url, number) }
    }

    func begin() { sink.begin() }

    func receive(_ response: HTTPResponse) -> LoadFlow { sink.receive(response) }

    func receive(_ bytes: RawSpan) -> LoadFlow {
      guard budget.add(bytes.byteCount, of: url) else {
        load.withLock { $0.isOver = true }
        return .stop
      }
      return sink.receive(bytes)
    }

    func finish(_ error: HTTPError?) {
      let load = load.withLock { load in
        load.hasEnded = true
        return load
      }
      if let number = load.number { budget.loaded(url, number) }
      guard load.isOver else { return sink.finish(error) }
      sink.finish(HTTPError(.overloaded, url: url.readable, "the sources that are held take up all memory"))
    }
  }
}
