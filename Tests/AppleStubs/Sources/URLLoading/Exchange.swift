import Foundation

/// One request with its response over a connection, for a job.
///
/// It belongs to the thread of a lane.
final class Exchange {
  private(set) var transaction = Transaction()
  private let job: Job
  private let waker: Waker
  private let watch: Watch
  private var connection: Connection?
  private var keepsConnection = false

  init(_ job: Job, _ waker: Waker, _ connection: Connection?) {
    (self.job, self.waker, self.connection) = (job, waker, connection)
    watch = Watch(job, waker)
  }

  /// Returns the connection if the next exchange can use it.
  func reusableConnection(after failure: Failure?) -> Connection? {
    guard failure == nil, keepsConnection, let connection, connection.buffer.isEmpty else {
      return nil
    }
    connection.isUsed = true
    return connection
  }

  /// Sends the request, and passes its response on.
  func run() throws(Failure) {
    try watch.check()
    transaction.fetchStart = Date()
    let (connection, head) = try sendAndReadHead()
    guard let url = job.request.url,
      let response = HTTPURLResponse(
        url: url,
        statusCode: head.status,
        httpVersion: head.isHTTP11 ? "HTTP/1.1" : "HTTP/1.0",
        headerFields: head.joined,
      )
    else { throw Failure(.badServerResponse) }
    transaction.response = response
    transaction.headerBytes = Int64(head.size)
    let framing = try head.framing(for: job.method)
    keepsConnection = head.keepsConnection && framing != .untilClose
    try redirect(response)
    try announce(response)
    var reader = BodyReader(connection, framing)
    while let piece = try reader.next(watch) {
      transaction.bodyBytes += Int64(piece.count)
      try pass(Data(piece))
    }
    transaction.responseEnd = Date()
    // A suspended task completes later.
    try watch.check()
  }

  // MARK: Send

  private func sendAndReadHead() throws(Failure) -> (Connection, ResponseHead) {
    while true {
      // An idle connection has nothing to say but its end.
      if let connection, connection.hasSomethingToRead { self.connection = nil }
      let isReused = connection?.isUsed ?? false
      transaction.isReused = isReused
      let current: Connection
      if let connection {
        current = connection
      } else {
        current = try .open(to: job.origin, watch, &transaction)
      }
      connection = current
      transaction.remoteAddress = current.remoteAddress
      do throws(Failure) {
        try current.send(job.head + (job.request.httpBody ?? Data()), watch)
        if let head = try readHead(current) { return (current, head) }
        throw Failure(.networkConnectionLost)
      } catch {
        connection = nil
        let isDead =
          error.code == .networkConnectionLost && isReused && transaction.responseStart == nil
        // The connection is fresh now, so this happens once only.
        guard isDead, job.isIdempotent else { throw error }
      }
    }
  }

  /// Reads the final response's head, or returns `nil` if the connection ends before its first byte.
  private func readHead(_ connection: Connection) throws(Failure) -> ResponseHead? {
    if connection.buffer.isEmpty, try !connection.fill(watch) { return nil }
    transaction.responseStart = Date()
    while true {
      guard let head = try ResponseHead.read(connection, watch) else {
        throw Failure(.networkConnectionLost)
      }
      // Nobody asked to switch protocols.
      if head.status == 101 { throw Failure(.badServerResponse) }
      if head.status >= 200 { return head }
    }
  }

  // MARK: Delegate

  /// Asks whether a redirect is followed; the delegate of Vitrine never does.
  private func redirect(_ response: HTTPURLResponse) throws(Failure) {
    guard [301, 302, 303, 307, 308].contains(response.statusCode), let old = job.request.url,
      let location = response.value(forHTTPHeaderField: "Location"),
      let target = URL(string: location, relativeTo: old)?.absoluteURL
    else { return }
    let answer = Answer<URLRequest?>(waker)
    job.session.tell { [session = job.session, task = job.task] delegate in
      delegate.urlSession(
        session,
        task: task,
        willPerformHTTPRedirection: response,
        newRequest: URLRequest(url: target),
        completionHandler: { answer.give($0) },
      )
    }
    guard try answer.wait(for: job.task) == nil else {
      fatalError("the stub of URLSession follows no redirect")
    }
    watch.touch()
  }

  private func announce(_ response: URLResponse) throws(Failure) {
    try watch.check()
    let answer = Answer<URLSession.ResponseDisposition>(waker)
    job.session.tell { [session = job.session, task = job.task] delegate in
      guard !task.control.isCancelled else { return answer.give(.cancel) }
      delegate.urlSession(
        session,
        dataTask: task,
        didReceive: response,
        completionHandler: { answer.give($0) },
      )
    }
    guard try answer.wait(for: job.task) == .allow else { throw Failure(.cancelled) }
    watch.touch()
  }

  /// Waits until the task is not suspended, and then until the delegate took the bytes.
  private func pass(_ data: Data) throws(Failure) {
    try watch.check()
    let answer = Answer<Void>(waker)
    job.session.tell { [session = job.session, task = job.task] delegate in
      if !task.control.isCancelled {
        delegate.urlSession(session, dataTask: task, didReceive: data)
      }
      answer.give(())
    }
    answer.wait()
  }
}
