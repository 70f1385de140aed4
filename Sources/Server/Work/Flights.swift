import VitrineRuntime

/// Work that is under way, each once for all who ask, with bounds and in fair turns.
///
/// At most `running` pieces run at a time, and `waiting` more wait. Those that wait are taken in turns from their
/// clients, so that one with a thousand requests delays another one's first by one piece. If there is no room, a client
/// with fewer waiting pieces than the greediest takes the place of that one's last; otherwise the piece is refused at
/// once.
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

  struct Limits: Sendable {
    var running = 64
    var waiting = 256
    var time = Duration.seconds(60)
  }

  struct Counts: Sendable, Equatable {
    var running = 0
    var waiting = 0
  }

  private final class Flight {
    let key: String
    let client: String
    let number: UInt64
    let make: @Sendable () async -> Product
    var receivers: [UInt64: Receive] = [:]
    var isRunning = false
    var task: Task<Void, Never>?
    var alarm: ScheduledAction?

    init(_ key: String, _ client: String, _ number: UInt64, _ make: @escaping @Sendable () async -> Product) {
      (self.key, self.client, self.number, self.make) = (key, client, number, make)
    }
  }

  private struct State {
    var flights: [String: Flight] = [:]
    var running = 0
    var waiting = 0
    /// The waiting flights of each client, and the clients in the order of their turns.
    var queues: [String: [Flight]] = [:]
    var turns: [String] = []
    var lastNumber: UInt64 = 0
    var isEnding = false
  }

  /// Calls to be made once the lock is open.
  private struct Calls {
    var finished: [(Receive, Result<Product, Failure>)] = []
    var starts: [(key: String, number: UInt64, make: @Sendable () async -> Product)] = []
    var cancelled: [Task<Void, Never>] = []
    var alarms: [ScheduledAction] = []
  }

  private let limits: Limits
  private let clock: any TimeSource
  private let state = Lock(State())

  init(_ limits: Limits, clock: any TimeSource) { (self.limits, self.clock) = (limits, clock) }

  var counts: Counts { state.withLock { Counts(running: $0.running, waiting: $0.waiting) } }

  /// Returns true if ``join(_:client:as:making:_:)`` would refuse this work now.
  ///
  /// For an answer without waiting for anything; the work is refused all the same if the last place goes in between.
  func isFull(for key: String, client: String) -> Bool {
    state.withLock { state in
      guard !state.isEnding, state.flights[key] == nil, state.running >= limits.running,
        state.waiting >= limits.waiting
      else { return false }
      return greediest(beside: client, state) == nil
    }
  }

  /// Joins the work of a key, or begins it.
  ///
  /// `receive` is called once, maybe before this returns.
  ///
  /// - Returns: `true` if the work was under way already.
  @discardableResult
  func join(
    _ key: String,
    client: String,
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
      if let flight = state.flights[key] {
        flight.receivers[receiver] = receive
        return (true, nil, calls)
      }
      state.lastNumber += 1
      let flight = Flight(key, client, state.lastNumber, make)
      flight.receivers[receiver] = receive
      guard makeRoom(for: flight, &state, &calls) else {
        calls.finished.append((receive, .failure(.overloaded)))
        return (false, nil, calls)
      }
      state.flights[key] = flight
      if state.running < limits.running {
        start(flight, &state, &calls)
      } else {
        enqueue(flight, &state)
      }
      return (false, flight.number, calls)
    }
    // Before the work begins, so that its time runs from then on.
    if let fresh { setAlarm(key, fresh) }
    perform(calls)
    return joined
  }

  /// Leaves the work of a key; it stops when the last one leaves.
  func leave(_ key: String, as receiver: UInt64) {
    perform(
      state.withLock { state in
        var calls = Calls()
        guard let flight = state.flights[key], let receive = flight.receivers.removeValue(forKey: receiver) else {
          return calls
        }
        calls.finished.append((receive, .failure(.left)))
        if flight.receivers.isEmpty { drop(flight, &state, &calls) }
        return calls
      }
    )
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
    guard state.running >= limits.running, state.waiting >= limits.waiting else { return true }
    guard let last = greediest(beside: flight.client, state)?.last else { return false }
    fail(last, .overloaded, &state, &calls)
    return true
  }

  /// Returns the waiting flights of the client with the most, if that is so many that it gives way to another.
  private func greediest(beside client: String, _ state: State) -> [Flight]? {
    let own = state.queues[client]?.count ?? 0
    let most = state.queues.values.max { $0.count < $1.count }
    return most.flatMap { $0.count > own + 1 ? $0 : nil }
  }

  private func enqueue(_ flight: Flight, _ state: inout State) {
    state.waiting += 1
    if state.queues[flight.client] == nil { state.turns.append(flight.client) }
    state.queues[flight.client, default: []].append(flight)
  }

  private func start(_ flight: Flight, _ state: inout State, _ calls: inout Calls) {
    state.running += 1
    flight.isRunning = true
    calls.starts.append((flight.key, flight.number, flight.make))
  }

  private func startNext(_ state: inout State, _ calls: inout Calls) {
    while state.running < limits.running, !state.turns.isEmpty {
      let client = state.turns.removeFirst()
      guard var queue = state.queues[client], !queue.isEmpty else { continue }
      let flight = queue.removeFirst()
      state.waiting -= 1
      state.queues[client] = queue.isEmpty ? nil : queue
      if !queue.isEmpty { state.turns.append(client) }
      start(flight, &state, &calls)
    }
  }

  private func fail(_ flight: Flight, _ failure: Failure, _ state: inout State, _ calls: inout Calls) {
    calls.finished += flight.receivers.values.map { ($0, .failure(failure)) }
    flight.receivers = [:]
    drop(flight, &state, &calls)
  }

  /// Takes out a flight that nobody waits for; its place is free once its work has ended.
  private func drop(_ flight: Flight, _ state: inout State, _ calls: inout Calls) {
    if state.flights[flight.key] === flight { state.flights[flight.key] = nil }
    if let alarm = flight.alarm.take() { calls.alarms.append(alarm) }
    if var queue = state.queues[flight.client], let index = queue.firstIndex(where: { $0 === flight }) {
      queue.remove(at: index)
      state.waiting -= 1
      state.queues[flight.client] = queue.isEmpty ? nil : queue
      if queue.isEmpty { state.turns.removeAll { $0 == flight.client } }
    } else if flight.isRunning {
      state.running -= 1
      if let task = flight.task.take() { calls.cancelled.append(task) }
      startNext(&state, &calls)
    }
  }

  private func ended(_ key: String, _ number: UInt64, _ product: Product) {
    perform(
      state.withLock { state in
        var calls = Calls()
        // One that was dropped has given its place away.
        guard let flight = state.flights[key], flight.number == number else { return calls }
        state.flights[key] = nil
        state.running -= 1
        calls.finished = flight.receivers.values.map { ($0, .success(product)) }
        if let alarm = flight.alarm.take() { calls.alarms.append(alarm) }
        startNext(&state, &calls)
        return calls
      }
    )
  }

  // MARK: With the lock open

  private func perform(_ calls: Calls) {
    for task in calls.cancelled { task.cancel() }
    for alarm in calls.alarms { alarm.cancel() }
    for start in calls.starts {
      let task = Task { [self] in ended(start.key, start.number, await start.make()) }
      let isWanted = state.withLock { state in
        guard let flight = state.flights[start.key], flight.number == start.number else { return false }
        flight.task = task
        return true
      }
      if !isWanted { task.cancel() }
    }
    for (receive, result) in calls.finished { receive(result) }
  }

  private func setAlarm(_ key: String, _ number: UInt64) {
    let alarm = clock.schedule(after: limits.time) { [weak self] in
      guard let self else { return }
      perform(
        state.withLock { state in
          var calls = Calls()
          guard let flight = state.flights[key], flight.number == number else { return calls }
          fail(flight, .outOfTime, &state, &calls)
          return calls
        }
      )
    }
    let isWanted = state.withLock { state in
      guard let flight = state.flights[key], flight.number == number else { return false }
      flight.alarm = alarm
      return true
    }
    if !isWanted { alarm.cancel() }
  }
}
