import CLibHiredis
import VitrineRuntime

/// A connection, which blocks the thread that uses it until a deadline at most.
///
/// After an error it is unusable, since replies can no longer be matched to commands.
// @unchecked: one thread at a time uses it, to which the pool has handed it under its lock.
@safe
final class RedisConnection: @unchecked Sendable {
  private let context: UnsafeMutablePointer<redisContext>
  private let server: RedisServer
  private let clock = SystemClock()
  /// The maximum number of received bytes that are not yet parsed.
  private let replyLimit: Int

  /// Connects, and sends user, password and database.
  ///
  /// A name is resolved by the system, which may take longer than `connectTime`.
  init(
    to server: RedisServer,
    connectTime: Duration,
    replyLimit: Int,
  ) throws(RedisError) {
    (self.server, self.replyLimit) = (server, replyLimit)
    let deadline = clock.uptime + connectTime
    let time = timeval(connectTime)
    // The strings are only read during the call. hiredis returns `nil` if it has no memory.
    let made =
      switch server.place {
      case .tcp(let host, let port): unsafe redisConnectWithTimeout(host, CInt(port), time)
      case .unix(let path): unsafe redisConnectUnixWithTimeout(path, time)
      }
    guard let context = unsafe made else { throw RedisError(.connect, server, "there is no memory for it") }
    unsafe self.context = context
    // `context` lives until `deinit`, also if this throws.
    if unsafe context.pointee.err != 0 { throw unsafe Self.error(.connect, context, server) }
    // Processes that this one starts must not hold the connection.
    unsafe _ = fcntl(context.pointee.fd, F_SETFD, FD_CLOEXEC)
    if case .tcp = server.place { unsafe redisEnableKeepAlive(context) }
    unsafe context.pointee.reader.pointee.fn = BoundedReplies.functions
    try introduce(by: deadline)
  }

  deinit { unsafe redisFree(context) }

  private func introduce(by deadline: Duration) throws(RedisError) {
    var commands: [RedisCommand] = []
    if let password = server.password {
      commands.append(RedisCommand("AUTH", (server.user.map { [Data($0)] } ?? []) + [Data(password)]))
    }
    if server.database != 0 { commands.append(RedisCommand("SELECT", Data(number: server.database))) }
    guard !commands.isEmpty else { return }
    var bytes = Data()
    for command in commands { command.append(to: &bytes) }
    try transmit(bytes, by: deadline)
    for _ in commands {
      let reply = try receive(by: deadline)
      if let text = reply.error { throw RedisError(reply: text, server, .authenticate) }
      guard reply.isOK else { throw RedisError(.authenticate, server, "the server did not reply with OK") }
    }
  }

  // MARK: Sending and receiving

  /// Sends bytes before a deadline, which is an uptime.
  func transmit(_ bytes: Data, by deadline: Duration) throws(RedisError) {
    var sent = 0
    while sent < bytes.count {
      // A write by hiredis to a closed connection would end the process with a signal. The bytes are only read during
      // the call, and `sent` is less than their number.
      let count = unsafe bytes.withUnsafeBytes { bytes in
        unsafe send(
          context.pointee.fd,
          bytes.baseAddress.map { unsafe $0 + sent },
          bytes.count - sent,
          CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT),
        )
      }
      if count >= 0 {
        sent += count
        continue
      }
      let code = errno
      guard code == EAGAIN || code == EWOULDBLOCK || code == EINTR else {
        throw RedisError(.send, server, FileError(code: code).description, isClosed: true)
      }
      try wait(for: POLLOUT, .send, by: deadline)
    }
  }

  /// Returns the next reply, which may be an error reply.
  ///
  /// Throws a moment after `isWanted` has begun to return `false`.
  func receive(by deadline: Duration, isWanted: () -> Bool = { true }) throws(RedisError) -> RedisReply {
    while true {
      if let reply = try takeReply() { return reply }
      guard unsafe Int(context.pointee.reader.pointee.len) <= replyLimit else {
        throw RedisError(.receive, server, "the reply is longer than \(replyLimit) bytes")
      }
      try wait(for: POLLIN, .receive, by: deadline, isWanted: isWanted)
      // The socket is readable, so this does not block.
      guard unsafe redisBufferRead(context) == REDIS_OK else { throw unsafe Self.error(.receive, context, server) }
    }
  }

  private func takeReply() throws(RedisError) -> RedisReply? {
    var raw: UnsafeMutableRawPointer?
    guard unsafe redisGetReplyFromReader(context, &raw) == REDIS_OK else {
      throw unsafe Self.error(.reply, context, server)
    }
    guard let raw = unsafe raw else { return nil }
    // hiredis' own functions make replies of this type.
    defer { unsafe freeReplyObject(raw) }
    guard let reply = unsafe RedisReply(copying: raw.assumingMemoryBound(to: redisReply.self)) else {
      throw RedisError(.reply, server, "the reply has an unknown type")
    }
    return reply
  }

  /// The interval at which a wait checks whether the reply is still wanted.
  private static let attention = Duration.milliseconds(10)

  private func wait(
    for event: CInt,
    _ stage: RedisError.Stage,
    by deadline: Duration,
    isWanted: () -> Bool = { true },
  ) throws(RedisError) {
    while true {
      let rest = deadline - clock.uptime
      guard rest > .zero else { throw RedisError(stage, server, "it takes too long") }
      guard isWanted() else {
        throw RedisError(stage, server.description, "nobody waits any more", isCancellation: true)
      }
      let milliseconds = Int32(clamping: Int64(clamping: min(rest, Self.attention) / .milliseconds(1)) + 1)
      var request = pollfd(fd: unsafe context.pointee.fd, events: Int16(event), revents: 0)
      let count = unsafe poll(&request, 1, milliseconds)
      // The call that follows finds an error of the socket.
      if count > 0 { return }
      if count < 0, errno != EINTR { throw RedisError(stage, server, FileError(code: errno).description) }
    }
  }

  private static func error(
    _ stage: RedisError.Stage,
    _ context: UnsafeMutablePointer<redisContext>,
    _ server: RedisServer,
  ) -> RedisError {
    let code = unsafe context.pointee.err
    let text = unsafe withUnsafeBytes(of: context.pointee.errstr) { bytes in
      unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    let isClosed = code == REDIS_ERR_EOF || code == REDIS_ERR_IO
    let reason = code == REDIS_ERR_OOM ? "the reply is too large" : text.isEmpty ? "error \(code)" : text
    return RedisError(stage, server, reason, isClosed: isClosed)
  }
}

/// The functions by which hiredis creates replies, except that large arrays are refused.
///
/// hiredis allocates the announced number of elements, and freeing two billion takes seconds.
private enum BoundedReplies {
  private static let limit = 100_000

  // The functions are created once, and never changed or freed.
  nonisolated(unsafe) static let functions: UnsafeMutablePointer<redisReplyObjectFunctions>? = {
    guard let reader = unsafe redisReaderCreate() else { return nil }
    defer { unsafe redisReaderFree(reader) }
    guard let own = unsafe reader.pointee.fn else { return nil }
    unsafe createArray = own.pointee.createArray
    let bounded = UnsafeMutablePointer<redisReplyObjectFunctions>.allocate(capacity: 1)
    unsafe bounded.initialize(to: own.pointee)
    // A result of `nil` counts as a lack of memory, which ends the connection.
    unsafe bounded.pointee.createArray = { task, count in
      count > limit ? nil : unsafe createArray?(task, count)
    }
    return unsafe bounded
  }()

  // The value is written before `functions` can be read.
  nonisolated(unsafe) private static var createArray = unsafe redisReplyObjectFunctions().createArray
}

extension timeval {
  fileprivate init(_ duration: Duration) {
    let microseconds = max(0, Int64(clamping: duration / .microseconds(1)))
    self.init()
    tv_sec = .init(microseconds / 1_000_000)
    // The value is at least one, since zero means no limit.
    tv_usec = .init(max(1, microseconds % 1_000_000))
  }
}
