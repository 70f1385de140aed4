import Synchronization
import VitrineRuntime

/// A few connections to one server, on threads of their own.
///
/// Waiting requests are sent together over one connection, and their replies are read in order (pipelining). Threads
/// start and connections open with the first requests.
final class RedisPool: Sendable {
  /// Commands that are sent consecutively over one connection.
  private final class Request: Sendable {
    let bytes: Data
    let count: Int
    /// The uptime by which the replies must arrive.
    let deadline: Duration
    let outcome = Deferred<Result<[RedisReply], RedisError>>()
    /// A Boolean value that indicates whether the request was cancelled, or has its replies.
    let isEnded = Atomic(false)

    init(_ commands: [RedisCommand], deadline: Duration) {
      var bytes = Data()
      for command in commands { command.append(to: &bytes) }
      (self.bytes, count, self.deadline) = (bytes, commands.count, deadline)
    }
  }

  private struct State {
    var waiting: [Request] = []
    var idle: [RedisConnection] = []
  }

  /// The maximum number of requests in a batch.
  private static let batchLimit = 16
  /// The number of bytes above which no further request joins a batch.
  private static let batchBytes = 64 << 10

  let server: RedisServer
  private let options: RedisCache.Options
  /// The system clock, since waits for sockets use the system's time.
  private let clock = SystemClock()
  private let queue: WorkQueue
  private let state = Lock(State())

  init(_ server: RedisServer, _ options: RedisCache.Options) {
    (self.server, self.options) = (server, options)
    queue = WorkQueue(label: "redis", width: max(1, options.connections), queueLimit: max(1, options.queueLimit))
  }

  /// Sends commands and waits for their replies, without blocking the caller's thread.
  ///
  /// Error replies are returned. Throws if the server cannot be reached, or does not reply in time.
  func send(_ commands: [RedisCommand]) async throws(RedisError) -> [RedisReply] {
    let request = Request(commands, deadline: clock.uptime + options.commandTimeout)
    let result = await withTaskCancellationHandler {
      state.withLock { $0.waiting.append(request) }
      do throws(WorkQueueError) {
        try queue.enqueue { [self] _ in serve() }
      } catch {
        request.outcome.resolve(.failure(RedisError(.wait, server, error.description, isRefusal: true)))
        forget(request)
      }
      return await request.outcome.value()
    } onCancel: {
      request.isEnded.store(true, ordering: .relaxed)
      let error = RedisError(.wait, server.description, "cancelled", isCancellation: true)
      request.outcome.resolve(.failure(error))
    }
    return try result.get()
  }

  private func forget(_ request: Request) { state.withLock { $0.waiting.removeAll { $0 === request } } }

  // MARK: On a thread of the queue

  /// Serves some of the waiting requests.
  private func serve() {
    let batch = takeBatch()
    guard !batch.isEmpty else { return }
    let known = state.withLock { $0.idle.popLast() }
    do throws(RedisError) {
      try serve(batch, over: known)
    } catch {
      // Requests that already have their replies are not affected.
      for request in batch { request.outcome.resolve(.failure(error)) }
    }
  }

  private func serve(_ batch: [Request], over known: RedisConnection?) throws(RedisError) {
    if let known {
      do throws(RedisError) {
        try exchange(batch, over: known)
        return putBack(known)
      } catch {
        // The connection was idle, and the server has closed it or was restarted. Every command may safely be sent
        // again.
        guard error.isClosed else { throw error }
        dropIdle()
      }
    }
    let connection = try connect()
    try exchange(batch.filter { !$0.isEnded.load(ordering: .relaxed) }, over: connection)
    putBack(connection)
  }

  /// Takes a fair share of the waiting requests.
  private func takeBatch() -> [Request] {
    let now = clock.uptime
    let taken = state.withLock { state -> [Request] in
      let limit = min(Self.batchLimit, max(1, state.waiting.count / max(1, options.connections)))
      var (count, bytes) = (0, 0)
      while count < min(limit, state.waiting.count), bytes < Self.batchBytes {
        bytes += state.waiting[count].bytes.count
        count += 1
      }
      let taken = Array(state.waiting.prefix(count))
      state.waiting.removeFirst(count)
      return taken
    }
    return taken.filter { request in
      guard !request.isEnded.load(ordering: .relaxed) else { return false }
      guard request.deadline > now else {
        request.outcome.resolve(.failure(RedisError(.wait, server, "no connection was free in time")))
        return false
      }
      return true
    }
  }

  private func connect() throws(RedisError) -> RedisConnection {
    try RedisConnection(
      to: server,
      connectTime: options.connectTimeout,
      replyLimit: options.entrySizeLimit + (1 << 20),
    )
  }

  private func putBack(_ connection: RedisConnection) { state.withLock { $0.idle.append(connection) } }

  /// Closes the idle connections, since the server has closed one of the same age.
  private func dropIdle() {
    let old = state.withLock { state in
      defer { state.idle = [] }
      return state.idle
    }
    _ = consume old
  }

  private func exchange(_ batch: [Request], over connection: RedisConnection) throws(RedisError) {
    guard let last = batch.map(\.deadline).max() else { return }
    if batch.count == 1, let only = batch.first {
      try connection.transmit(only.bytes, by: last)
    } else {
      try connection.transmit(batch.reduce(into: Data()) { $0.append($1.bytes) }, by: last)
    }
    for (index, request) in batch.enumerated() {
      var replies: [RedisReply] = []
      // A slow connection stops once all of its callers have left, since other requests need the thread.
      let rest = batch[index...]
      for _ in 0..<request.count {
        replies.append(
          try connection.receive(by: request.deadline) {
            rest.contains { !$0.isEnded.load(ordering: .relaxed) }
          }
        )
      }
      request.isEnded.store(true, ordering: .relaxed)
      request.outcome.resolve(.success(replies))
    }
  }
}
