import CVitrineCurl
import VitrineRuntime

/// The work of the thread that runs all transfers of a ``CurlLoader``.
///
/// The thread sleeps in `curl_multi_poll` until sockets, time-outs or commands wake it. An ``AdmissionQueue`` decides which
/// transfer starts next, and libcurl receives only running transfers.
@safe
final class CurlEngine {
  /// The maximum number of HTTP/2 streams on a connection.
  private static let streamLimit = 64
  /// The maximum number of look-ups of cancelled transfers besides the running transfers.
  private static let abandonedLimit = 16

  private let mailbox: CurlMailbox
  private let options: CurlLoader.Options
  private let multi: UnsafeMutableRawPointer
  private let share: UnsafeMutableRawPointer?

  private var queue: AdmissionQueue<ObjectIdentifier>
  /// The queue of hooks, with the same limit for each host as for connections.
  ///
  /// A slot is held until the load leaves the main queue.
  ///
  /// A running hook holds no connection. If it did, a hook that loads a token would wait for loads that wait for the
  /// token.
  private var preparations: AdmissionQueue<ObjectIdentifier>
  /// All transfers that have not ended, queued or running.
  private var transfers: [ObjectIdentifier: CurlTransfer] = [:]
  private var running: [ObjectIdentifier: CurlTransfer] = [:]
  private var idleHandles: [CurlHandle] = []
  /// The handles of cancelled transfers whose name look-up is still running.
  ///
  /// libcurl cannot stop a look-up. Removing the handle would leave an uncounted thread and two descriptors behind, and
  /// many cancelled loads could exhaust the process.
  private var abandoned: [CurlHandle] = []
  /// The time of the current round, and of the next check for time-outs.
  private(set) var now = Duration.zero
  private var nextTimeoutCheck = Duration?.none
  /// Set if a transfer has started since the last call to libcurl.
  private var hasLaunched = false

  /// Creates an engine.
  ///
  /// Requires that ``CurlLibrary/failure`` is `nil`.
  private init(_ options: CurlLoader.Options, _ mailbox: CurlMailbox) {
    (self.options, self.mailbox) = (options, mailbox)
    guard let multi = unsafe vitrine_curl_multi_init() else { preconditionFailure("no memory for a loader") }
    unsafe self.multi = multi
    unsafe share = vitrine_curl_share_of_sessions()
    unsafe mailbox.open(multi)
    let (limit, hostLimit) = (max(1, options.connectionLimit), max(1, options.connectionLimitPerHost))
    queue = AdmissionQueue(limit: limit, hostLimit: hostLimit)
    preparations = AdmissionQueue(limit: limit, hostLimit: hostLimit)
    unsafe vitrine_curl_multi_set_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
    unsafe vitrine_curl_multi_set_long(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, Self.streamLimit)
    unsafe vitrine_curl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, max(1, options.connectionLimit) * 2)
  }

  // MARK: - The thread

  /// Opens libcurl, and runs transfers until the mailbox is stopped.
  ///
  /// `open` opens it, and returns the reason if it cannot; then every load fails.
  static func run(_ options: CurlLoader.Options, _ mailbox: CurlMailbox, _ open: () -> String?) {
    if let failure = open() { refuse(mailbox, failure) } else { CurlEngine(options, mailbox).run() }
    mailbox.end()
  }

  /// Closes the mailbox of an engine that cannot run, and ends the loads in it.
  static func refuse(_ mailbox: CurlMailbox, _ failure: String) {
    for transfer in mailbox.close(failure) { transfer.refuse() }
  }

  private func run() {
    blockBrokenPipes()
    while true {
      now = systemUptime()
      if !obeyMail() { break }
      admit()
      hasLaunched = false
      var count: CInt = 0
      unsafe vitrine_curl_multi_perform(multi, &count)
      gatherEnded()
      endTimedOut()
      releaseAbandoned()
      admit()
      // New transfers have work to do, so polling now would only waste a system call.
      if !hasLaunched { unsafe vitrine_curl_multi_poll(multi, nil, 0, pollTime, nil) }
    }
    close()
  }

  /// Blocks SIGPIPE, so that writing to a closed connection is an error and does not end the process.
  private func blockBrokenPipes() {
    var signals = sigset_t()
    // `signals` outlives the calls.
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGPIPE)
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  private func close() {
    let late = mailbox.close()
    for transfer in Array(transfers.values) {
      finish(transfer, transfer.chain.error(.cancelled, "the loader was released"))
    }
    for transfer in late { transfer.refuse() }
    for handle in abandoned { unsafe vitrine_curl_multi_remove_handle(multi, handle.easy) }
    abandoned = []
    idleHandles = []
    // libcurl requires that all handles are removed before.
    unsafe vitrine_curl_multi_cleanup(multi)
    unsafe vitrine_curl_share_cleanup(share)
  }

  /// Executes the pending commands, and returns whether to continue.
  @discardableResult
  private func obeyMail() -> Bool {
    let (commands, isStopping) = mailbox.take()
    for command in commands { obey(command) }
    return !isStopping
  }

  private func obey(_ command: CurlMailbox.Command) {
    switch command {
    case .start(let transfer): enqueue(transfer)
    case .cancel(let transfer): finish(transfer, transfer.chain.error(.cancelled, "was cancelled"))
    case .resume(let transfer):
      transfer.resume(now: now)
      if transfer.isDeliveringHeld { deliverHeld(of: transfer) }
    case .reprioritize(let transfer):
      let priority = transfer.priority
      queue.reprioritize(ObjectIdentifier(transfer), priority)
      preparations.reprioritize(ObjectIdentifier(transfer), priority)
    case .hookEnded(let transfer, let result): resume(transfer, after: result)
    }
  }

  private func enqueue(_ transfer: CurlTransfer) {
    let id = ObjectIdentifier(transfer)
    transfers[id] = transfer
    if let objection = transfer.chain.objection(by: options.addressGuard) { return finish(transfer, objection) }
    transfer.queued = now
    guard transfer.isPrepared else {
      preparations.add(id, host: transfer.url.origin, priority: transfer.priority)
      return
    }
    let (host, priority) = (transfer.url.origin, transfer.priority)
    transfer.place = queue.add(id, host: host, priority: priority, place: transfer.place)
  }

  private func admit() {
    while let id = preparations.admit() {
      guard let transfer = transfers[id] else { continue }
      transfer.preparationHost = transfer.url.origin
      transfer.prepare(now: now)
      watchTime(of: transfer)
    }
    // Once there are many look-ups that cannot be stopped, they count as transfers.
    while abandoned.count < Self.abandonedLimit, let id = queue.admit() {
      guard let transfer = transfers[id] else { continue }
      launch(transfer)
    }
  }

  private func launch(_ transfer: CurlTransfer) {
    endPreparation(of: transfer)
    running[ObjectIdentifier(transfer)] = transfer
    guard let handle = idleHandles.popLast() ?? CurlHandle(engine: self) else {
      return finish(transfer, transfer.chain.error(.cannotConnect, "no memory for a transfer"))
    }
    transfer.beginHop(now: now)
    transfer.handle = handle
    unsafe handle.prepare(for: transfer, options: options, share: share)
    unsafe vitrine_curl_multi_add_handle(multi, handle.easy)
    hasLaunched = true
    watchTime(of: transfer)
  }

  // MARK: - Hooks

  private func resume(_ transfer: CurlTransfer, after result: RedirectChain.Next) {
    // A transfer that has ended meanwhile has already freed its slot.
    guard transfers[ObjectIdentifier(transfer)] != nil else { return }
    switch result {
    case .success(let next?):
      // A redirect's slot belongs to the host of the hop that has ended. The transfer returns to its old position in the
      // queue, since the next host has limits too.
      releaseSlot(of: transfer)
      transfer.adopt(next)
      enqueue(transfer)
    case .success(nil): deliverHeld(of: transfer)
    case .failure(let error): finish(transfer, error)
    }
  }

  private func deliverHeld(of transfer: CurlTransfer) {
    if transfer.deliverHeld() { finish(transfer, transfer.hop.failure) }
  }

  // MARK: - Ends

  private func gatherEnded() {
    var result = CURLE_OK
    var hasAny = false
    while let easy = unsafe vitrine_curl_multi_next_ended(multi, &result) {
      hasAny = true
      guard let handle = unsafe CurlHandle.of(easy) else { continue }
      guard let transfer = handle.transfer else {
        releaseAbandoned(handle)
        continue
      }
      if handle.isHTTP2 { queue.raiseLimit(ofHost: transfer.url.origin, to: Self.streamLimit) }
      if transfer.hop.failure == nil, let head = transfer.hop.head, transfer.chain.isToFollow(head) {
        resume(transfer, after: transfer.chain.followed(head, options.addressGuard, transfer.hooks, at: now))
      } else if let next = transfer.undecoded {
        resume(transfer, after: .success(next))
      } else if transfer.hop.failure == nil, let head = transfer.hop.head, transfer.isWholeChallenge(head, result) {
        releaseSlot(of: transfer)
        transfer.askForAnswer(head)
      } else {
        finish(transfer, transfer.hop.failure ?? transfer.error(for: result, handle))
      }
    }
    // New commands may be more urgent than the waiting transfers.
    if hasAny { obeyMail() }
  }

  private func finish(_ transfer: CurlTransfer, _ error: HTTPError?) {
    let id = ObjectIdentifier(transfer)
    guard transfers.removeValue(forKey: id) != nil else { return }
    if !queue.remove(id), !preparations.remove(id) { releaseSlot(of: transfer) }
    endPreparation(of: transfer)
    transfer.end(error)
  }

  private func endPreparation(of transfer: CurlTransfer) {
    guard let host = transfer.preparationHost else { return }
    transfer.preparationHost = nil
    preparations.release(host: host)
  }

  /// Removes a transfer from the network.
  ///
  /// A transfer in progress closes its connection or its stream.
  private func releaseSlot(of transfer: CurlTransfer) {
    guard running.removeValue(forKey: ObjectIdentifier(transfer)) != nil else { return }
    queue.release(host: transfer.url.origin)
    guard let handle = transfer.handle else { return }
    transfer.handle = nil
    if let didTransfer = transfer.hooks.didTransfer {
      now = systemUptime()
      didTransfer(handle.metrics(of: transfer, now: now))
    }
    if handle.isResolved || handle.isConnected || transfer.hop.head != nil || transfer.url.isAddress {
      release(handle)
    } else {
      // libcurl still runs the transfer. Further data aborts it.
      handle.transfer = nil
      abandoned.append(handle)
    }
  }

  private func release(_ handle: CurlHandle) {
    unsafe vitrine_curl_multi_remove_handle(multi, handle.easy)
    handle.clear()
    if idleHandles.count < options.connectionLimit { idleHandles.append(handle) }
  }

  private func releaseAbandoned() {
    for handle in abandoned where handle.isResolved { releaseAbandoned(handle) }
  }

  private func releaseAbandoned(_ handle: CurlHandle) {
    abandoned.removeAll { $0 === handle }
    release(handle)
  }

  // MARK: - Time-outs

  private var pollTime: CInt {
    // The end of a look-up wakes libcurl, but does not call the engine.
    guard let next = nextTimeoutCheck else { return 60_000 }
    let wait = (next - now) / .milliseconds(1)
    return CInt(min(max(wait.rounded(.up), 0), 60_000))
  }

  private func watchTime(of transfer: CurlTransfer) {
    // The first byte begins the window of the rate.
    let due = min(timeout(of: transfer).due, now + transfer.request.timeouts.minimumRateWindow)
    nextTimeoutCheck = min(nextTimeoutCheck ?? due, due)
  }

  private func timeout(of transfer: CurlTransfer) -> (due: Duration, kind: HTTPError.Timeout) {
    let timeouts = transfer.request.timeouts
    let never = now + .seconds(1 << 30)
    let total = timeouts.total.map { (transfer.started ?? now) + $0 } ?? never
    // No byte can arrive while a hook runs or the transfer waits for a connection.
    guard transfer.handle != nil else { return (total, .total) }
    // A paused transfer is silent because of its sink.
    let idle = (transfer.isPaused ? now : transfer.hop.lastProgress) + timeouts.idle
    let rate = transfer.endOfRateWindow(now: now) ?? never
    let due = min(idle, rate, total)
    return (due, due == idle ? .idle : due == rate ? .minimumRate : .total)
  }

  private func endTimedOut() {
    guard let check = nextTimeoutCheck, now >= check else { return }
    // Transfers that wait for a hook or after a redirect can time out too.
    for transfer in transfers.values.filter({ $0.started != nil }) {
      let (due, kind) = timeout(of: transfer)
      guard now >= due, kind != .idle || !transfer.noteUpload(now: now),
        kind != .minimumRate || !transfer.passesRate(now: now)
      else { continue }
      if kind == .idle, transfer.handle?.isConnected != true {
        // Before there is a connection, libcurl's own time-out applies. This is a fallback.
        let latest = transfer.hop.started + transfer.request.timeouts.connect + .seconds(1)
        if now >= latest {
          finish(transfer, transfer.chain.error(.timedOut, timeout: .connect, "no connection could be made in time"))
        } else {
          transfer.hop.lastProgress = latest - transfer.request.timeouts.idle
        }
      } else {
        let message = Self.message(of: kind, transfer.request.timeouts)
        finish(transfer, transfer.chain.error(.timedOut, timeout: kind, message))
      }
    }
    nextTimeoutCheck = transfers.values.filter { $0.started != nil }.map { timeout(of: $0).due }.min()
  }

  private static func message(of kind: HTTPError.Timeout, _ timeouts: HTTPTimeouts) -> String {
    switch kind {
    case .idle: "no data for \(timeouts.idle)"
    case .minimumRate: "less than \(timeouts.minimumRate) bytes a second came in \(timeouts.minimumRateWindow)"
    default: "it took longer than allowed"
    }
  }
}
