import CLibMicroHTTPD
import CVitrineMHD
import Synchronization
import VitrineRuntime

/// Answers connections on one port, on threads of its own, by libmicrohttpd.
@safe
final class Listener: @unchecked Sendable {
  // Sendable, because `threads` and `acceptor` change only within `start` and `stop`, which the owner calls one after another.

  struct Limits: Sendable {
    /// The number of threads that read and write.
    var threads = 2
    var connections = 4096
    /// The maximum size of a request's head, with libmicrohttpd's own memory for it.
    var headBytes = 16 << 10
    /// The time for a whole head to arrive.
    var headTime = Duration.seconds(10)
    /// The time for which an idle connection is kept.
    var idleTime = Duration.seconds(60)
    /// The time to send an answer, beside a second for each of `slowestRate` bytes.
    var sendTime = Duration.seconds(20)
    var slowestRate = 16 << 10
  }

  private let limits: Limits
  private let answering: any RequestAnswering
  private let clock: any TimeSource
  private let table: ConnectionTable
  private let watch: DisconnectWatch
  private let isDraining = Atomic(false)
  private var threads: [ListenerThread] = []
  private var acceptor: Acceptor?
  private var sweep: ScheduledAction?

  /// Makes a listener that does not listen yet; `nil` if the system refuses a thread.
  init?(_ limits: Limits, clock: any TimeSource, _ answering: any RequestAnswering) {
    guard let watch = DisconnectWatch() else { return nil }
    (self.limits, self.answering, self.clock, self.watch) = (limits, answering, clock, watch)
    table = ConnectionTable(limit: limits.connections)
  }

  private var threadCount: Int { max(1, limits.threads) }

  /// The number of open connections.
  var connectionCount: Int { table.count }

  /// The number of connections of each thread.
  var connectionCounts: [Int] { threads.map(\.connectionCount) }

  /// True if an answer is being made or sent.
  var isBusy: Bool { table.isBusy }

  /// Begins to answer the connections of a listening socket, which it takes over unless this fails.
  ///
  /// - Returns: `false` if the system has no threads or descriptors to spare.
  func start(_ socket: CInt) -> Bool {
    var options = unsafe vitrine_mhd_options()
    // Beyond the table's limit, so that there is room for new ones while idle ones are being closed.
    let limit = limits.connections + limits.connections / 4 + 64
    unsafe options.connections = UInt32(clamping: limit)
    unsafe options.bytes_per_connection = limits.headBytes
    unsafe options.began = { context, target, connection in
      guard let context = unsafe context, let target = unsafe target, let connection = unsafe connection else {
        return nil
      }
      let thread = unsafe Unmanaged<ListenerThread>.fromOpaque(context).takeUnretainedValue()
      guard let exchange = unsafe thread.listener.began(target, connection, thread) else { return nil }
      // Released by `ended`, which libmicrohttpd calls for each request that has a pointer.
      return unsafe Unmanaged.passRetained(exchange).toOpaque()
    }
    unsafe options.answer = { context, connection, _, method, version, _, uploaded, own in
      guard let context = unsafe context, let connection = unsafe connection, let method = unsafe method,
        let version = unsafe version, let own = unsafe own?.pointee
      else { return .NO }
      let thread = unsafe Unmanaged<ListenerThread>.fromOpaque(context).takeUnretainedValue()
      let exchange = unsafe Unmanaged<Exchange>.fromOpaque(own).takeUnretainedValue()
      // Bodies are not wanted: what comes of one is dropped.
      unsafe uploaded?.pointee = 0
      return unsafe thread.listener.proceed(exchange, method, version, connection, thread)
    }
    unsafe options.ended = { context, _, own, reason in
      guard let context = unsafe context, let pointer = unsafe own?.pointee else { return }
      unsafe own?.pointee = nil
      let thread = unsafe Unmanaged<ListenerThread>.fromOpaque(context).takeUnretainedValue()
      // Retained by `began`.
      let exchange = unsafe Unmanaged<Exchange>.fromOpaque(pointer).takeRetainedValue()
      thread.listener.ended(exchange, isComplete: reason == .REQUEST_TERMINATED_COMPLETED_OK)
    }
    unsafe options.connection = { context, connection, own, event in
      guard let context = unsafe context, let connection = unsafe connection, let own = unsafe own else { return }
      let thread = unsafe Unmanaged<ListenerThread>.fromOpaque(context).takeUnretainedValue()
      if event == .CONNECTION_NOTIFY_STARTED {
        let record = unsafe thread.listener.opened(connection, thread)
        // Released below.
        unsafe own.pointee = Unmanaged.passRetained(record).toOpaque()
      } else if let pointer = unsafe own.pointee {
        unsafe own.pointee = nil
        thread.listener.table.remove(unsafe Unmanaged<ConnectionRecord>.fromOpaque(pointer).takeRetainedValue())
        thread.removed()
      }
    }
    for index in 0..<threadCount {
      guard let thread = ListenerThread(of: self, at: index), unsafe thread.start(&options) else {
        stop()
        return false
      }
      threads.append(thread)
    }
    acceptor = Acceptor(socket, limit: limit, threads)
    if acceptor == nil { stop() } else { scheduleSweep() }
    return acceptor != nil
  }

  /// Stops accepting connections, and lets idle ones end.
  func drain() {
    isDraining.store(true, ordering: .sequentiallyConsistent)
    acceptor?.stop()
    table.cutIdle()
  }

  /// Ends all connections and threads.
  ///
  /// Blocks until every exchange has its answer, and the threads have ended. Clients have a second to read.
  func stop() {
    sweep?.cancel()
    acceptor?.stop()
    guard !threads.isEmpty else { return }
    for thread in threads { thread.open.stop() }
    // The last answers are on their way: libmicrohttpd would cut them off.
    for _ in 0..<200 where table.isBusy { usleep(5000) }
    stopThreads()
  }

  private func stopThreads() {
    for thread in threads { thread.stop() }
    threads = []
  }

  private func scheduleSweep() {
    sweep = clock.schedule(after: .seconds(1)) { [weak self] in
      guard let self else { return }
      table.cutLate(at: clock.uptime)
      if isDraining.load(ordering: .relaxed) { table.cutIdle() }
      scheduleSweep()
    }
  }

  // MARK: Called by libmicrohttpd

  private func opened(_ connection: OpaquePointer, _ thread: ListenerThread) -> ConnectionRecord {
    let (socket, client) = unsafe (vitrine_mhd_socket(connection), PeerAddress.text(vitrine_mhd_client(connection)))
    let end = clock.uptime + limits.headTime
    let record = ConnectionRecord(socket, client: client, watch, of: thread, deadline: end)
    table.add(record)
    return record
  }

  private func began(
    _ target: UnsafePointer<CChar>,
    _ connection: OpaquePointer,
    _ thread: ListenerThread,
  ) -> Exchange? {
    guard let pointer = unsafe vitrine_mhd_socket_context(connection) else { return nil }
    // Retained since the connection was opened.
    let record = unsafe Unmanaged<ConnectionRecord>.fromOpaque(pointer).takeUnretainedValue()
    let number = thread.nextNumber(of: threadCount)
    let text = unsafe String(cString: target)
    let exchange = unsafe Exchange(number, text, at: clock.uptime, record, connection)
    exchange.targetEnd = unsafe UInt(bitPattern: target) + UInt(strlen(target))
    return exchange
  }

  private func proceed(
    _ exchange: Exchange,
    _ method: UnsafePointer<CChar>,
    _ version: UnsafePointer<CChar>,
    _ connection: OpaquePointer,
    _ thread: ListenerThread,
  ) -> MHD_Result {
    switch exchange.stage {
    case .line:
      exchange.stage = .head
      exchange.method = unsafe String(cString: method)
      guard let fault = RequestHead(exchange.targetEnd, version, connection).fault else { return .YES }
      var answer = Answer.text(fault.status, fault.text)
      answer.closes = true
      return unsafe send(answer, exchange, connection, thread)
    case .head:
      guard thread.open.enter() else {
        var answer = Answer.text(503, "the server is about to end")
        answer.closes = true
        return unsafe send(answer, exchange, connection, thread)
      }
      exchange.connection.begin(.working, until: nil)
      exchange.client = exchange.connection.client
      let request = unsafe ReceivedRequest(exchange.method, exchange.target, peer: exchange.client, connection)
      exchange.take(id: request["X-Request-ID"])
      switch answering.react(to: request, exchange) {
      case .answer(let answer):
        thread.open.leave()
        return unsafe send(answer, exchange, connection, thread)
      case .wait(let begin):
        exchange.stage = .waiting
        exchange.suspend(within: thread.open)
        exchange.connection.startWatching(for: exchange)
        begin()
        return .YES
      }
    case .waiting:
      guard let answer = exchange.answer else { return .YES }
      return unsafe send(answer, exchange, connection, thread)
    case .answered: return .YES
    }
  }

  private func send(
    _ answer: Answer,
    _ exchange: Exchange,
    _ connection: OpaquePointer,
    _ thread: ListenerThread,
  ) -> MHD_Result {
    exchange.stage = .answered
    exchange.sent = answer
    let count = answer.body?.count ?? 0
    let time = limits.sendTime + .seconds(count / max(1, limits.slowestRate))
    exchange.connection.begin(.sending, until: clock.uptime + time)
    guard let response = unsafe Self.response(answer) else { return .NO }
    // The connection has a reference of its own from now on.
    defer { unsafe MHD_destroy_response(response) }
    for field in answer.fields { unsafe MHD_add_response_header(response, field.name, field.value) }
    unsafe MHD_add_response_header(response, "Date", thread.dateText(at: clock.now))
    unsafe MHD_add_response_header(response, "X-Request-ID", exchange.id)
    if answer.closes || isDraining.load(ordering: .relaxed) {
      unsafe MHD_add_response_header(response, "Connection", "close")
    }
    return unsafe MHD_queue_response(connection, UInt32(clamping: answer.status), response)
  }

  private static func response(_ answer: Answer) -> OpaquePointer? {
    guard let body = answer.body else {
      return unsafe MHD_create_response_from_buffer(0, nil, .RESPMEM_PERSISTENT)
    }
    // Retained until the last connection has sent it. The bytes never move.
    let owner = unsafe Unmanaged.passRetained(body).toOpaque()
    let response = unsafe MHD_create_response_from_buffer_with_free_callback_cls(
      body.count,
      body.pointer,
      { owner in if let owner = unsafe owner { unsafe Unmanaged<Body>.fromOpaque(owner).release() } },
      owner,
    )
    if unsafe response == nil { unsafe Unmanaged<Body>.fromOpaque(owner).release() }
    return unsafe response
  }

  private func ended(_ exchange: Exchange, isComplete: Bool) {
    exchange.connection.begin(.idle, until: clock.uptime + limits.idleTime)
    let answer = exchange.sent ?? Answer(status: 0)
    let outcome = ExchangeOutcome(
      answer: answer,
      method: exchange.method,
      client: exchange.client,
      duration: clock.uptime - exchange.began,
      isComplete: isComplete,
    )
    answering.ended(exchange, outcome)
  }
}
