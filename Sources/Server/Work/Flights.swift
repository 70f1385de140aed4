import VitrineCaching
import VitrineRuntime

/// Work that is under way, each once for all clients that ask, with a bound.
///
/// Keys and clients are bytes: texts that only look the same are two. All of it runs at once; what needs the processor
/// has turns of its own. If there is no room, a client with fewer pieces than the greediest takes the place of that
/// one's last; otherwise the piece is refused at once.
final class Flights<Product: Sendable>: Sendable {
  typealias Receive = @Sendable (Result<Product, Failure>) -> Void

  /// The reason why there is no product.
  enum Failure: Error, Sendable {
    /// There is no room.
    case overloaded
    /// The time is over.
    case outOfTime
    /// The client has left.
    case left
    /// The server ends.
    case ending
  }

  private final class Flight {
    let key: ByteString
    let group: CacheKey
    let client: ByteString
    let number: UInt64
    let make: @Sendable () async -> Product
    var receivers: [UInt64: Receive] = [:]
    var task: Task<Void, Never>?
    var alarm: ScheduledAction?

    init(
      _ key: ByteString,
      _ group: CacheKey,
      _ client: ByteString,
      _ number: UInt64,
      _ make: @escaping @Sendable () async -> Product,
    ) {
      (self.key, self.group, self.client, self.number, self.make) = (key, group, client, number, make)
    }
  }

  private struct State {
    var flights: [UInt64: Flight] = [:]
    /// The flights that can be joined.
    var joinable: [ByteString: Flight] = [:]
    /// The flights of each client, in order.
    var clients: [ByteString: [Flight]] = [:]
    var lastNumber: UInt64 = 0
    var isEnding = false
  }

  /// Calls to be made once the lock is open.
  private struct Calls {
    var finished: [(Receive, Result<Product, Failure>)] = []
    var starts: [(number: UInt64, make: @Sendable () async -> Product)] = []
    var cancelled: [Task<Void, Never>] = []
    var alarms: [ScheduledAction] = []
  }

  private let limit: Int
  private let time: Duration
  private let clock: any TimeSource
  private let state = Lock(State())

  /// Makes room for a number of pieces, each of which is given up after a time.
  init(limit: Int, time: Duration, clock: any TimeSource) {
    (self.limit, self.time, self.clock) = (limit, time, clock)
  }

  var count: Int { state.withLock { $0.flights.count } }

  /// Returns true if ``join(_:of:client:as:making:_:)`` would refuse this work now.
  ///
  /// For an answer without waiting for anything; the work is refused all the same if the last place goes in between.
  func isFull(for key: ByteString, client: ByteString) -> Bool {
    state.withLock { state in
      guard !state.isEnding, state.joinable[key] == nil, state.flights.count >= limit else { return false }
      return greediest(beside: client, state) == nil
    }
  }

  /// Joins the work of a key, or begins it.
  ///
  /// `receive` is called once, maybe before this returns. `group` is what ``detach(_:)`` takes.
  ///
  /// - Returns: `true` if the work was under way already.
  @discardableResult
  func join(
    _ key: ByteString,
    of group: CacheKey,
    client: ByteString,
    as receiver: UInt64,
    making make: @escaping @Sendable () async -> Product,
    _ receive: @escaping Receive,
  ) -> Bool {
    let (joined, fresh, calls) = state.withLock { state -> (Bool, UInt64?, Calls) in
      var calls = Calls()
      guard !state.isEnding else {
        calls.finished.append((receive, .failure(.ending)))
        return (false, nil, calls)
      }
      if let flight = state.joinable[key] {
        flight.receivers[receiver] = receive
        return (true, nil, calls)
      }
      state.lastNumber += 1
      let flight = Flight(key, group, client, state.lastNumber, make)
      flight.receivers[receiver] = receive
      guard makeRoom(for: flight, &state, &calls) else {
        calls.finished.append((receive, .failure(.overloaded)))
        return (false, nil, calls)
      }
      (state.flights[flight.number], state.joinable[key]) = (flight, flight)
      state.clients[client, default: []].append(flight)
      calls.starts.append((flight.number, make))
      return (false, flight.number, calls)
    }
    // Before the work begins, so that its time runs from then on.
    if let fresh { setAlarm(fresh) }
    perform(calls)
    return joined
  }

  /// Leaves the work of a key; it stops when the last one leaves.
  func leave(_ key: ByteString, as receiver: UInt64) {
    perform(
      state.withLock { state in
        var calls = Calls()
        var flight = state.joinable[key]
        // It may have been detached since.
        if flight?.receivers[receiver] == nil { flight = state.flights.values.first { $0.receivers[receiver] != nil } }
        guard let flight, let receive = flight.receivers.removeValue(forKey: receiver) else { return calls }
        calls.finished.append((receive, .failure(.left)))
        if flight.receivers.isEmpty { drop(flight, &state, &calls) }
        return calls
      }
    )
  }

  /// Lets no further client join the running work of a group; clients that have joined it get its product.
  func detach(_ group: CacheKey) {
    state.withLock { state in state.joinable = state.joinable.filter { $1.group != group } }
  }

  /// Refuses new work, and ends what is under way.
  func end() {
    perform(
      state.withLock { state in
        var calls = Calls()
        state.isEnding = true
        for flight in state.flights.values { fail(flight, .ending, &state, &calls) }
        return calls
      }
    )
  }

  // MARK: Under the lock

  private func makeRoom(for flight: Flight, _ state: inout State, _ calls: inout Calls) -> Bool {
    guard state.flights.count >= limit else { return true }
    guard let last = greediest(beside: flight.client, state)?.last else { return false }
    fail(last, .overloaded, &state, &calls)
    return true
  }

  /// Returns the flights of the client with the most, if that is so many that it gives way to another.
  private func greediest(beside client: ByteString, _ state: State) -> [Flight]? {
    let own = state.clients[client]?.count ?? 0
    let most = state.clients.values.max { $0.count < $1.count }
    return most.flatMap { $0.count > own + 1 ? $0 : nil }
  }

  private func fail(_ flight: Flight, _ failure: Failure, _ state: inout State, _ calls: inout Calls) {
    calls.finished += flight.receivers.values.map { ($0, .failure(failure)) }
    flight.receivers = [:]
    drop(flight, &state, &calls)
  }

  /// Takes out a flight for which no client waits, and stops its work.
  private func drop(_ flight: Flight, _ state: inout State, _ calls: inout Calls) {
    remove(flight, &state)
    if let alarm = flight.alarm.take() { calls.alarms.append(alarm) }
    if let task = flight.task.take() { calls.cancelled.append(task) }
  }

  private func remove(_ flight: Flight, _ state: inout State) {
    state.flights[flight.number] = nil
    if state.joinable[flight.key] === flight { state.joinable[flight.key] = nil }
    state.clients[flight.client]?.removeAll { $0 === flight }
    if state.clients[flight.client]?.isEmpty ?? false { state.clients[flight.client] = nil }
  }

  private func ended(_ number: UInt64, _ product: Product) {
    perform(
      state.withLock { state in
        var calls = Calls()
        // It may have been dropped.
        guard let flight = state.flights[number] else { return calls }
        remove(flight, &state)
        calls.finished = flight.receivers.values.map { ($0, .success(product)) }
        if let alarm = flight.alarm.take() { calls.alarms.append(alarm) }
        return calls
      }
    )
  }

  // MARK: With the lock open

  private func perform(_ calls: Calls) {
    for task in calls.cancelled { task.cancel() }
    for alarm in calls.alarms { alarm.cancel() }
    for start in calls.starts {
      let task = Task { [self] in ended(start.number, await start.make()) }
      let isWanted = state.withLock { state in
        guard let flight = state.flights[start.number] else { return false }
        flight.task = task
        return true
      }
      if !isWanted { task.cancel() }
    }
    for (receive, result) in calls.finished { receive(result) }
  }

  private func setAlarm(_ number: UInt64) {
    let alarm = clock.schedule(after: time) { [weak self] in
      guard let self else { return }
      perform(
        state.withLock { state in
          var calls = Calls()
          guard let flight = state.flights[number] else { return calls }
          fail(flight, .outOfTime, &state, &calls)
          return calls
        }
      )
    }
    let isWanted = state.withLock { state in
      guard let flight = state.flights[number] else { return false }
      flight.alarm = alarm
      return true
    }
    if !isWanted { alarm.cancel() }
  }
}
