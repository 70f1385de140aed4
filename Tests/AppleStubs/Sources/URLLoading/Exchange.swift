import Foundation

/// One request with its response over a connection, for a job.
///
/// It belongs to the thread of a lane.
final class Exchange {
  private(set) var job: Job
  let waker: Waker
  let watch: Watch
  private var connection: Connection?
  private var transaction: Transaction
  private var keepsConnection = false

  init(_ job: Job, _ waker: Waker, _ connection: Connection?) {
    self.job = job
    self.waker = waker
    self.connection = connection
    watch = Watch(job, waker)
    transaction = Transaction(job.request)
  }

  /// Returns the connection if another request may use it.
  func reusableConnection(after failure: Failure?) -> Connection? {
    guard failure == nil, keepsConnection, let connection, connection.buffer.isEmpty else { return nil }
    connection.isUsed = true
    return connection
  }

  /// Loads, and returns `false` if the job goes on with another request.
  func run() throws(Failure) -> Bool {
    defer { job.transactions.append(transaction) }
    job.task.begin(job.request)
    try watch.check()
    transaction.fetchStart = Date()
    if try serveFromCache() { return true }
    try admit()
    let (connection, head) = try sendAndReadHead()
    guard
      let url = job.request.url,
      let response = HTTPURLResponse(
        url: url,
        statusCode: head.status,
        httpVersion: head.isHTTP11 ? "HTTP/1.1" : "HTTP/1.0",
        headerFields: head.joined,
      )
    else { throw Failure(.badServerResponse) }
    transaction.response = response
    transaction.responseHeaderBytes = Int64(head.size)
    storeCookies(head, url)
    let framing = try head.framing(for: job.method)
    keepsConnection = head.keepsConnection && framing != .untilClose && !asksToClose
    var goesOn = try redirect(response)
    if !goesOn { goesOn = try answerChallenge(response) }
    if goesOn {
      drain(connection, framing)
      return false
    }
    try deliver(response, BodyReader(connection, framing), framing)
    return true
  }

  private var asksToClose: Bool {
    job.request.value(forHTTPHeaderField: "Connection")?.lowercased() == "close"
  }

  // MARK: Network

  /// Waits for a network that the job may use, or fails.
  private func admit() throws(Failure) {
    var hasTold = false
    while true {
      try watch.check()
      let network = _URLLoading.conditions(port: job.origin.port)
      transaction.isExpensive = network._isExpensive
      transaction.isConstrained = network._isConstrained
      guard let failure = objection(to: network) else { return }
      guard job.session.settings.waitsForConnectivity else { throw failure }
      if hasTold { try watch.pause() } else { tellWaiting() }
      hasTold = true
    }
  }

  private func objection(to network: _NetworkConditions) -> Failure? {
    let settings = job.session.settings
    if !network._isSatisfied { return Failure(.notConnectedToInternet) }
    if network._isConstrained, !settings.allowsConstrained || !job.request.allowsConstrainedNetworkAccess {
      return Failure(.notConnectedToInternet, reason: .constrained)
    }
    if network._isExpensive, !settings.allowsExpensive || !job.request.allowsExpensiveNetworkAccess {
      return Failure(.notConnectedToInternet, reason: .expensive)
    }
    return nil
  }

  private func tellWaiting() {
    let (session, task, answer) = (job.session, job.task, Answer<Void>(waker))
    session.ask((any URLSessionTaskDelegate).self, answer, else: ()) { delegate in
      delegate.urlSession(session, taskIsWaitingForConnectivity: task)
      answer.give(())
    }
    answer.wait()
  }

  // MARK: Send

  /// Sends the request, once more if a used connection turns out to be dead, and reads the response's head.
  private func sendAndReadHead() throws(Failure) -> (Connection, ResponseHead) {
    while true {
      // An idle connection has nothing to say but its end.
      if let socket = connection?.descriptor, Self.hasSomethingToRead(socket) { connection = nil }
      let isReused = connection?.isUsed ?? false
      transaction.isReused = isReused
      let current: Connection
      if let connection {
        current = connection
      } else {
        current = try Connection.open(to: job.origin, watch, &transaction)
      }
      connection = current
      transaction.remote = current.remote
      transaction.local = current.local
      do throws(Failure) {
        try send(over: current)
        if let head = try readHead(current) { return (current, head) }
        throw Failure(.networkConnectionLost)
      } catch {
        connection = nil
        let isDead = error.code == .networkConnectionLost && isReused && transaction.responseStart == nil
        guard isDead, job.isIdempotent else { throw error }
        // The connection is fresh now, so this happens once only.
      }
    }
  }

  private static func hasSomethingToRead(_ socket: Int32) -> Bool {
    var list = [pollfd(fd: socket, events: Int16(POLLIN), revents: 0)]
    return poll(&list, 1, 0) > 0
  }

  private func send(over connection: Connection) throws(Failure) {
    let head = RequestHead.bytes(for: job)
    let body = job.request.httpBody.map { [UInt8]($0) } ?? []
    transaction.requestStart = Date()
    try connection.send(head, watch) { _ in }
    let task = job.task
    try connection.send(body, watch) { task.note(sent: $0) }
    transaction.requestEnd = Date()
    transaction.requestHeaderBytes = Int64(head.count)
    transaction.requestBodyBytes = Int64(body.count)
  }

  /// Reads the final response's head, or returns `nil` if the connection ends before its first byte.
  private func readHead(_ connection: Connection) throws(Failure) -> ResponseHead? {
    if connection.buffer.isEmpty, try !connection.fill(watch) { return nil }
    transaction.responseStart = Date()
    while true {
      guard let head = try ResponseHead.read(connection, watch) else { throw Failure(.networkConnectionLost) }
      // Nobody asked to switch protocols.
      if head.status == 101 { throw Failure(.badServerResponse) }
      if head.status >= 200 { return head }
    }
  }

  private func storeCookies(_ head: ResponseHead, _ url: URL) {
    let settings = job.session.settings
    guard job.request.httpShouldHandleCookies, settings.acceptPolicy != .never else { return }
    let cookies = head.values("Set-Cookie").compactMap { HTTPCookie(field: $0, from: url) }
    settings.cookies?.setCookies(cookies, for: url, mainDocumentURL: nil)
  }

  // MARK: Redirect and challenge

  /// Reads the short body of a response that is not the result, so that the connection can be used again.
  private func drain(_ connection: Connection, _ framing: ResponseHead.Framing) {
    var body = BodyReader(connection, framing)
    var count = 0
    while keepsConnection, !body.isAtEnd {
      guard let piece = try? body.next(watch) else { break }
      count += piece.count
      if count > 1 << 16 { break }
    }
    keepsConnection = keepsConnection && body.isAtEnd
    transaction.responseEnd = Date()
  }

  private func redirect(_ response: HTTPURLResponse) throws(Failure) -> Bool {
    guard let next = Redirect.request(after: response, to: job.request) else { return false }
    let (session, task, answer) = (job.session, job.task, Answer<URLRequest?>(waker))
    session.ask((any URLSessionTaskDelegate).self, answer, else: next) { delegate in
      delegate.urlSession(
        session,
        task: task,
        willPerformHTTPRedirection: response,
        newRequest: next,
        completionHandler: { answer.give($0) },
      )
    }
    guard let chosen = try answer.wait(for: task) else { return false }
    watch.touch()
    job.redirects += 1
    guard job.redirects <= Redirect.limit else { throw Failure(.httpTooManyRedirects) }
    let origin = try Origin(chosen.url)
    if origin != job.origin { job.authorization = nil }
    (job.request, job.origin, job.refusals) = (chosen, origin, 0)
    return true
  }

  private func answerChallenge(_ response: HTTPURLResponse) throws(Failure) -> Bool {
    guard let space = Challenge.space(of: response, job.origin) else { return false }
    let stored = job.session.settings.credentials?.defaultCredential(for: space)
    let proposal = job.refusals == 0 ? stored : nil
    let challenge = URLAuthenticationChallenge(
      space: space,
      proposal: proposal,
      failures: job.refusals,
      response: response,
    )
    let (session, task) = (job.session, job.task)
    let answer = Answer<(URLSession.AuthChallengeDisposition, URLCredential?)>(waker)
    session.ask((any URLSessionTaskDelegate).self, answer, else: (.performDefaultHandling, nil)) { delegate in
      delegate.urlSession(
        session,
        task: task,
        didReceive: challenge,
        completionHandler: { answer.give(($0, $1)) },
      )
    }
    let (disposition, given) = try answer.wait(for: task)
    watch.touch()
    let credential: URLCredential?
    switch disposition {
    case .useCredential: credential = given
    case .performDefaultHandling: credential = proposal
    case .rejectProtectionSpace: credential = nil
    case .cancelAuthenticationChallenge: throw Failure(.cancelled)
    }
    guard let credential, space.authenticationMethod == NSURLAuthenticationMethodHTTPBasic else { return false }
    if credential.persistence != .none {
      session.settings.credentials?.setDefaultCredential(credential, for: space)
    }
    job.refusals += 1
    job.authorization = Challenge.authorization(credential)
    return true
  }

  // MARK: Response

  private func deliver(
    _ response: HTTPURLResponse,
    _ reader: BodyReader,
    _ framing: ResponseHead.Framing,
  ) throws(Failure) {
    var reader = reader
    let expected: Int64
    switch framing {
    case .none: expected = 0
    case .length(let count): expected = Int64(count)
    case .chunked, .untilClose: expected = NSURLSessionTransferSizeUnknown
    }
    try announce(response, expecting: expected)
    var copy: Data? = job.mayStore(response) ? Data() : nil
    while let piece = try reader.next(watch) {
      transaction.responseBodyBytes += Int64(piece.count)
      copy?.append(contentsOf: piece)
      try pass(Data(piece))
    }
    transaction.responseEnd = Date()
    // A suspended task completes later.
    try watch.check()
    if let copy { try store(CachedURLResponse(response: response, data: copy)) }
  }

  private func announce(_ response: URLResponse, expecting count: Int64) throws(Failure) {
    let (session, task) = (job.session, job.task)
    task.note(response, expecting: count)
    try watch.check()
    guard let dataTask = task as? URLSessionDataTask else { return }
    let answer = Answer<URLSession.ResponseDisposition>(waker)
    session.ask((any URLSessionDataDelegate).self, answer, else: .allow) { delegate in
      guard !task.control.isCancelled else { return answer.give(.cancel) }
      delegate.urlSession(
        session,
        dataTask: dataTask,
        didReceive: response,
        completionHandler: { answer.give($0) },
      )
    }
    switch try answer.wait(for: task) {
    case .allow: watch.touch()
    case .cancel: throw Failure(.cancelled)
    case .becomeDownload, .becomeStream: throw Failure(.unknown)
    }
  }

  /// Waits until the task is not suspended, and then until the delegate took the bytes.
  private func pass(_ data: Data) throws(Failure) {
    try watch.check()
    let (session, task, answer) = (job.session, job.task, Answer<Void>(waker))
    guard let dataTask = task as? URLSessionDataTask else { return }
    task.note(received: data.count)
    session.ask((any URLSessionDataDelegate).self, answer, else: ()) { delegate in
      if !task.control.isCancelled { delegate.urlSession(session, dataTask: dataTask, didReceive: data) }
      answer.give(())
    }
    answer.wait()
  }

  // MARK: Cache

  private func serveFromCache() throws(Failure) -> Bool {
    guard let cached = try job.cachedResponse() else { return false }
    transaction.isFromCache = true
    transaction.response = cached.response
    try announce(cached.response, expecting: Int64(cached.data.count))
    if !cached.data.isEmpty { try pass(cached.data) }
    transaction.responseEnd = Date()
    try watch.check()
    keepsConnection = true
    return true
  }

  private func store(_ proposal: CachedURLResponse) throws(Failure) {
    let (session, task) = (job.session, job.task)
    guard let dataTask = task as? URLSessionDataTask else { return }
    let answer = Answer<CachedURLResponse?>(waker)
    session.ask((any URLSessionDataDelegate).self, answer, else: proposal) { delegate in
      delegate.urlSession(
        session,
        dataTask: dataTask,
        willCacheResponse: proposal,
        completionHandler: { answer.give($0) },
      )
    }
    guard let chosen = try answer.wait(for: task) else { return }
    session.settings.cache?.storeCachedResponse(chosen, for: job.request)
  }
}
