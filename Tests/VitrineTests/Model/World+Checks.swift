import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTesting

@testable import Vitrine

/// What must hold, whatever happens.
extension World {
  // MARK: What a caller gets

  func check(_ ticket: Ticket, _ result: Result<ImageResponse, LoadError>) {
    if ticket.ends.count > 1 { fail("\(ticket.number) ends \(ticket.ends.count) times") }
    switch result {
    case .success(let response): check(ticket, response)
    case .failure(let error): check(ticket, error)
    }
  }

  private func check(_ ticket: Ticket, _ response: ImageResponse) {
    let wish = ticket.wish
    guard let name = checkPixels(wish, response.image, "\(ticket.number)"), let since = ticket.since else { return }
    if ticket.isCancelled { fail("\(ticket.number) was cancelled and got \(name)") }
    guard name.version != Pictures.put else {
      if response.isStale { fail("\(ticket.number): what somebody put there is never stale") }
      return checkPut(wish, "\(ticket.number)")
    }
    let words = words.filter { $0.flight.address == wish.address && $0.version == name.version }
    let isAllowed =
      response.isStale
      ? isStaleAllowed(wish, words, since)
      : words.contains { isFresh($0, wish, since.time...now.time) || ($0.flight == wish.flight && $0.ended >= since) }
    if !isAllowed {
      fail("\(ticket.number), \(wish), got \(name), \(response.isStale ? "stale" : "fresh"), \(response.origin)")
    }
    checkOrder(ticket, name.version, since, response)
  }

  @discardableResult
  private func checkPixels(_ wish: Wish, _ image: Bitmap, _ who: String) -> Pictures.Name? {
    guard let name = Pictures.name(of: image) else {
      fail("\(who) got pixels that nobody made: \(image[0, 0])")
      return nil
    }
    let steps = wish.steps.reduce(0) { $0 * 4 + $1 }
    let shown = Wish.shown[wish.size]
    if name.address != wish.address || name.steps != steps || (image.width, image.height) != shown {
      fail("\(who) wanted \(wish) and got \(name) in \(image.width)x\(image.height)")
    }
    if wish.steps.contains(Wish.broken) { fail("\(who) got an image that cannot be made") }
    return name
  }

  private func checkPut(_ wish: Wish, _ who: String) {
    let isThere = puts.contains { put in
      put.wish.address == wish.address && put.wish.size == wish.size && wish.steps.starts(with: put.wish.steps)
    }
    if !isThere || wish.policy == .reload { fail("\(who) got what nobody put there for it") }
  }

  /// Whether what the server said at that time was still true at some moment of a span.
  private func isFresh(_ word: Word, _ wish: Wish, _ span: ClosedRange<Double>) -> Bool {
    switch wish.policy {
    case .reload: false
    case .cacheFirst, .cacheOnly: true
    case .standard: word.ended.time <= span.upperBound && word.requested.time + Self.lifetime >= span.lowerBound
    case .maxAge(let age): word.ended.time + age / .seconds(1) >= span.lowerBound
    }
  }

  private func isStaleAllowed(_ wish: Wish, _ versions: [Word], _ since: Moment) -> Bool {
    guard !versions.isEmpty, wish.policy != .reload else { return false }
    if wish.policy == .cacheFirst || wish.policy == .cacheOnly { return true }
    if words.contains(where: { $0.flight == wish.flight && $0.allowsStale && $0.ended >= since }) { return true }
    guard options.servesWhileRevalidating, wish.policy == .standard else { return false }
    isServedWhileRevalidating = true
    return versions.contains { $0.requested.time + Self.lifetime + Self.whileRevalidating >= since.time }
  }

  /// Who asks after somebody was served something newer is not served what is older, but in need, or where the server's
  /// word of it came later.
  private func checkOrder(_ ticket: Ticket, _ version: Int, _ since: Moment, _ response: ImageResponse) {
    guard !response.isStale else { return }
    let address = ticket.wish.address
    if ticket.wish.policy == .standard, let seen = seen[address], seen.at < since, seen.version > version,
      isOrderKnown(of: address, since: seen.at), !isAsNew(version, as: seen.version, of: address, seenAt: seen.at)
    {
      fail("\(ticket.number), \(ticket.wish), got version \(version) after somebody had got \(seen.version)")
    }
    if seen[ticket.wish.address].map({ $0.version < version }) ?? true { seen[ticket.wish.address] = (version, now) }
  }

  /// Whether what is decoded late can be known for what it is: by what is in memory.
  ///
  /// Until a removal has ended, the disk may still have what was there before, and newer answers to loads of before it are
  /// not kept.
  private func isOrderKnown(of address: Int, since moment: Moment) -> Bool {
    options.hasMemory && removals[address]?.underWay ?? 0 == 0 && lost.map { $0 < moment } ?? true
  }

  /// Whether the server's last word of a version came after that of another was seen, or no later than that by the
  /// clock.
  private func isAsNew(_ version: Int, as seen: Int, of address: Int, seenAt moment: Moment) -> Bool {
    let ofAddress = words.filter { $0.flight.address == address }
    guard let last = ofAddress.last(where: { $0.version == version })?.ended,
      let other = ofAddress.last(where: { $0.version == seen })?.ended
    else { return false }
    return last >= moment || last.time >= other.time
  }

  func check(_ ticket: Ticket, _ error: LoadError) {
    let wish = ticket.wish
    func wasSaid(_ code: LoadError.Code) -> Bool {
      guard let since = ticket.since else { return false }
      return words.contains { $0.flight == wish.flight && $0.failure == code && $0.ended >= since }
    }
    /// Whether bytes that had come before it asked had not been judged then, since another who asked for them waited yet.
    func wasUnjudged() -> Bool {
      guard let since = ticket.since else { return false }
      return words.contains { word in
        word.flight == wish.flight && word.failure == .undecodable
          && tickets.contains { other in
            guard other !== ticket, other.wish.flight == wish.flight, let begun = other.begun else { return false }
            // The verdict on bytes for the disk is a pending write, which outlives its prefetch.
            let isPending = other.prefetcher == 1 && other.ended.map { $0 >= word.ended } ?? true
            return begun <= word.ended && (other.continues || isPending || other.ended.map { $0 >= since } ?? true)
          }
      }
    }
    let isRight =
      switch error.code {
      case .cancelled: ticket.isCancelled
      case .notCached: wish.policy == .cacheOnly
      case .processingFailed: wish.steps.contains(Wish.broken)
      case .badStatus, .fetchFailed: wasSaid(error.code)
      case .undecodable:
        wasSaid(.undecodable) || wasUnjudged() || (wish.policy == .cacheOnly && damaged.contains(wish.address))
      default: false
      }
    if !isRight { fail("\(ticket.number), \(wish), failed: \(error)") }
    // Bytes may have been on their way to who awaits them.
    if ticket.isCancelled, error.code != .cancelled, !ticket.isData {
      fail("\(ticket.number) was cancelled and failed otherwise")
    }
  }

  func checkMemory(_ wish: Wish, _ response: ImageResponse) {
    guard let name = checkPixels(wish, response.image, "who looks in memory") else { return }
    guard name.version != Pictures.put else { return checkPut(wish, "who looks in memory") }
    let isTrue = words.contains {
      $0.flight.address == wish.address && $0.version == name.version && isFresh($0, wish, now.time...now.time)
    }
    if !isTrue, !response.isStale { fail("who looks in memory for \(wish) got \(name) as fresh") }
  }

  // MARK: What is done

  func checkLoadIsNeeded(_ load: StepLoad, _ flight: Flight) {
    let (name, policy) = Wish.policies[flight.way]
    if policy == .cacheOnly { fail("a server was asked for \(name)") }
    // Without a disk, what confirms an image in memory brings no bytes to others, who fetch them beside it.
    let countsValidations = options.hasDisk || isValidation(load)
    let others = loader.running.filter {
      $0 !== load && !$0.isCancelled && self.flight(of: $0) == flight && isRepeat($0) == isRepeat(load)
        && (countsValidations || !isValidation($0))
    }
    let most = options.servesWhileRevalidating ? 1 : 0
    if others.count > most, !hasDetached(flight.address, others) {
      fail("\(flight) is loaded \(others.count + 1) times at once")
    }
    guard options.hasDisk, policy != .reload, !isRepeat(load) else { return }
    let key = request(Wish(address: flight.address, size: 0, processing: 0, way: flight.way)).keys.fetch
    guard let (at, entry) = lookUps[key], at == step else {
      return fail("\(flight) is loaded without a look on the disk")
    }
    guard let entry, !options.servesWhileRevalidating else { return }
    // An answer is as old as its head, however long its body took.
    let age = clock.now.timeIntervalSince(StoredResponse(encoded: entry.metadata)?.received ?? entry.stored)
    let isFresh =
      switch policy {
      case .standard: entry.expires.map { $0 > clock.now } ?? true
      case .cacheFirst: true
      // Confirmed later perhaps than it was stored.
      default: age < 30
      }
    if isFresh { fail("\(flight) is loaded although the disk has it, \(age) s old") }
  }

  /// Whether somebody may be loading who asked before a removal, and whom nobody joins.
  func hasDetached(_ address: Int, _ loads: [StepLoad]) -> Bool {
    guard let removals = removals[address] else { return false }
    if removals.underWay > 0 || options.servesWhileRevalidating { return true }
    func isBefore(_ moment: Moment?) -> Bool { moment.map { $0 <= removals.ended } ?? false }
    return loads.contains { isBefore(transfers[ObjectIdentifier($0)]?.begun) }
      || tickets.contains { ($0.isWaiting || $0.continues) && $0.wish.address == address && isBefore($0.begun) }
  }

  func checkWorkIsWanted(_ bytes: Data) {
    guard let name = Pictures.name(of: bytes), !options.servesWhileRevalidating else { return }
    let isWanted = tickets.contains {
      $0.isWaiting && $0.wish.address == name.address && !$0.isData && $0.prefetcher != 1
    }
    if !isWanted { fail("\(name) is decoded for nobody") }
  }

  func checkAll() {
    for load in loader.running where !load.isCancelled { checkPriority(load) }
    guard !options.servesWhileRevalidating, kept.isEmpty, !tickets.contains(where: \.isWaiting) else { return }
    if pipeline.context.decodeQueue.pendingCount > 0 { fail("something waits to be decoded for nobody") }
    if pipeline.loadCount > 0 { fail("\(pipeline.loadCount) loads are under way for nobody") }
  }

  /// Whether an image in memory is being revalidated, without bytes for others, who wait for another load.
  private func isValidated(_ flight: Flight) -> Bool {
    loader.running.contains { !$0.isCancelled && self.flight(of: $0) == flight && isValidation($0) }
  }

  private func checkPriority(_ load: StepLoad) {
    let flight = flight(of: load)
    let waiting = waiting(for: flight)
    var priorities = waiting.map(effectivePriority)
    if kept.contains(flight) { priorities.append(.veryLow) }
    if options.servesWhileRevalidating { priorities.append(.low) }
    guard let highest = priorities.max() else { return fail("load \(load.number) of \(flight) is for nobody") }
    if load.priority > highest { fail("load \(load.number) is \(load.priority), those who wait are \(highest)") }
    guard let transfer = transfers[ObjectIdentifier(load)], transfer.requiresExactPixels,
      !hasDetached(flight.address, [load]), options.hasDisk || !isValidated(flight)
    else { return }
    let certain = transfer.certain.filter(\.isWaiting)
    if let least = certain.map(effectivePriority).max(), load.priority < least {
      fail("load \(load.number) is \(load.priority), and someone who waits is \(least)")
    }
    if certain.count == waiting.count { exactPriorities += 1 }
  }

  func checkEnd() {
    for ticket in tickets where ticket.ended == nil { fail("\(ticket.number), \(ticket.wish), never ended") }
    if pipeline.loadCount != 0 { fail("\(pipeline.loadCount) loads are left") }
    if !loader.running.isEmpty || executor.count > 0 { fail("something still runs") }
    let context = pipeline.context
    if context.decodeQueue.pendingCount + context.processQueue.pendingCount > 0 { fail("something still waits") }
    if scope.taskCount > 0 { fail("the scope has \(scope.taskCount) tasks left") }
    for prefetcher in prefetchers where prefetcher.statistics.waiting + prefetcher.statistics.running > 0 {
      fail("a prefetcher has something left: \(prefetcher.statistics)")
    }
  }
}
