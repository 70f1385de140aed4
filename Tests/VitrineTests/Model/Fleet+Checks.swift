import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting
import VitrineTiers

@testable import Vitrine

/// What must hold in a fleet, whatever happens.
extension Fleet {
  /// Times are stored as whole milliseconds.
  private static let rounding = 0.002

  // MARK: What a caller gets

  func check(_ ticket: Ticket, _ name: Pictures.Name, isStale: Bool, _ origin: String) {
    let (wish, machine) = (ticket.wish, ticket.machine)
    if name.address != wish.address { return fail("\(ticket.description) got \(name)") }
    let words = words.filter { word in
      guard word.flight.address == wish.address, word.version == name.version else { return false }
      switch word.terms.kind {
      case .plain, .noCache: return true
      // Nobody but who has asked may have it.
      case .isPrivate: return word.flight.machine == machine.number
      case .noStore: return word.flight == ticket.flight && word.ended >= ticket.since
      }
    }
    let isAllowed = isStale ? isStaleAllowed(ticket, words) : words.contains { isFresh($0, ticket) }
    if !isAllowed {
      fail("\(ticket.description) got version \(name.version), \(isStale ? "stale" : "fresh"), from \(origin)")
    }
    checkRemoval(ticket, name.version, words)
    if !isStale { checkOrder(ticket, name.version) }
  }

  /// Whether what the server said at that time was still true at some moment of the wait.
  private func isFresh(_ word: Word, _ ticket: Ticket) -> Bool {
    if word.flight == ticket.flight, word.ended >= ticket.since { return true }
    switch ticket.wish.policy {
    case .reload: return false
    case .cacheFirst, .cacheOnly: return true
    case .standard:
      guard word.terms.kind != .noCache else { return false }
      return word.requested.time + word.terms.lifetime + Self.rounding >= ticket.since.time
    case .maxAge(let age): return word.ended.time + age / .seconds(1) + Self.rounding >= ticket.since.time
    }
  }

  private func isStaleAllowed(_ ticket: Ticket, _ versions: [Word]) -> Bool {
    let policy = ticket.wish.policy
    guard !versions.isEmpty, policy != .reload else { return false }
    if policy == .cacheFirst || policy == .cacheOnly { return true }
    let hasFailed = words.contains { $0.flight == ticket.flight && $0.allowsStale && $0.ended >= ticket.since }
    if hasFailed, versions.contains(where: { $0.terms.kind != .noCache }) { return true }
    guard policy == .standard else { return false }
    return versions.contains { word in
      let terms = word.terms
      guard terms.kind != .noCache, terms.whileRevalidating > 0 else { return false }
      return word.requested.time + terms.lifetime + terms.whileRevalidating + Self.rounding >= ticket.since.time
    }
  }

  /// After a removal a machine serves only what the server has confirmed since, whatever others still hold.
  private func checkRemoval(_ ticket: Ticket, _ version: Int, _ words: [Word]) {
    guard options.keepsOrder, let removed = ticket.machine.removed[ticket.wish.address],
      ticket.since > removed.ended, ticket.machine.refusals == removed.refusals
    else { return }
    if !words.contains(where: { isLeft($0, by: removed.begun) }) {
      fail("\(ticket.description) got version \(version), which had been removed")
    }
  }

  /// Whether what the server said may be served after a removal: it came later, and no removal on the machine that had asked
  /// took place between the question and the answer, since then that machine stores nothing of it.
  private func isLeft(_ word: Word, by removal: Moment) -> Bool {
    guard word.ended.time >= removal.time else { return false }
    let own = machines[word.flight.machine].removed[word.flight.address]
    return own.map { word.requested >= $0.begun || word.ended <= $0.ended } ?? true
  }

  /// Who asks a machine after it has served something newer is not served what is older, where its caches still know.
  private func checkOrder(_ ticket: Ticket, _ version: Int) {
    let (machine, address) = (ticket.machine, ticket.wish.address)
    if options.hasMemory, ticket.wish.policy == .standard, let seen = machine.seen[address], seen.at < ticket.since,
      seen.version > version, machine.lost.map({ $0 < seen.at }) ?? true,
      !isAsNew(version, as: seen.version, of: address, seenAt: seen.at)
    {
      fail("\(ticket.description) got version \(version) after \(seen.version) had been served")
    }
    if machine.seen[address].map({ $0.version < version }) ?? true { machine.seen[address] = (version, now) }
  }

  private func isAsNew(_ version: Int, as seen: Int, of address: Int, seenAt moment: Moment) -> Bool {
    let ofAddress = words.filter { $0.flight.address == address }
    guard let last = ofAddress.last(where: { $0.version == version })?.ended,
      let other = ofAddress.last(where: { $0.version == seen })
    else { return false }
    // Nothing tells of what was not stored.
    return other.terms.kind == .noStore || last >= moment || last.time >= other.ended.time
  }

  func check(_ ticket: Ticket, _ error: LoadError) {
    func wasSaid(_ code: LoadError.Code) -> Bool {
      words.contains { $0.flight == ticket.flight && $0.failure == code && $0.ended >= ticket.since }
    }
    let isRight =
      switch error.code {
      case .cancelled: ticket.isCancelled
      case .notCached: ticket.wish.policy == .cacheOnly
      case .badStatus, .fetchFailed: wasSaid(error.code)
      default: false
      }
    if !isRight { fail("\(ticket.description) failed: \(error)") }
  }

  // MARK: What is stored

  /// Notes what the shared tier must not go back behind, and looks at what it stores.
  func checkShared(_ key: CacheKey, _ entry: CachedData) {
    outdated.refused.remove(key)
    outdated.newest[key] = max(outdated.newest[key] ?? .distantPast, entry.stored)
    guard let source = contents[entry.contentID] else { return fail("an entry of unknown content is shared") }
    note("version \(source.version) of \(source.address) is shared as \(entry.kind)")
    if entry.kind == .original {
      guard let stored = StoredResponse(encoded: entry.metadata) else { return fail("an original has no response") }
      if stored.isPrivate { fail("a private response of \(source) is shared") }
      if !stored.isStorable { fail("a response of \(source) that forbids it is shared") }
      if Pictures.name(of: entry.data) != source { fail("the bytes of \(source) are others") }
      if stored.headers["ETag"] != tag(source.address, source.version) { fail("\(source) has the tag of another") }
    } else {
      let header = EncodedImage.Header(encoded: entry.metadata)
      if header?.validity(until: nil).isPrivate ?? true { fail("a private or unreadable file of \(source) is shared") }
      let image = try? DecoderRegistry([PNGDecoder()]).decode(entry.data)
      if image.flatMap({ Pictures.name(of: $0.bitmap) }) != source { fail("the file of \(source) shows another") }
    }
  }

  /// A tier that keeps the order of things gives out nothing that was removed, replaced, or could not be replaced.
  func checkGiven(_ key: CacheKey, _ head: CachedDataHead) {
    guard options.keepsOrder else { return }
    let name = contents[head.contentID].map { "\($0)" } ?? "unknown content"
    if outdated.refused.contains(key) { return fail("\(name) is shared although its replacement was refused") }
    if let newest = outdated.newest[key], head.stored < newest { fail("\(name) is shared after a newer one") }
    for removal in outdated.removals
    where head.stored < removal.at && (removal.of.map { key.isExtension(of: $0) } ?? true) {
      return fail("\(name) is shared after its removal")
    }
  }

  /// What was removed has gone everywhere it had to, once nothing is under way.
  func checkRemovals() {
    guard options.keepsOrder else { return }
    for machine in machines where machine.refusals == 0 {
      for (address, time) in machine.purged where time > outdated.restart {
        for entry in shared.entries.values where contents[entry.contentID]?.address == address && entry.stored < time {
          fail("\(contents[entry.contentID].map { "\($0)" } ?? "") is shared after its removal")
        }
      }
      for entry in machine.disk.entries.values {
        guard let name = contents[entry.contentID], let removed = machine.removed[name.address] else { continue }
        let isConfirmed = words.contains {
          $0.flight.address == name.address && $0.version == name.version && isLeft($0, by: removed.begun)
        }
        if !isConfirmed { fail("machine \(machine.number) still has \(name), which was removed") }
      }
    }
  }

  // MARK: What is done

  func checkLoadIsNeeded(_ load: StepLoad, _ flight: Flight, _ machine: Machine) {
    if Wish.policies[flight.way].policy == .cacheOnly { fail("\(flight) asks the server") }
    let others = machine.loader.running.filter {
      $0 !== load && !$0.isCancelled && self.flight(of: $0, machine) == flight
    }
    // One for callers and one behind them, between any two moments over which nobody joins others.
    if others.count + 1 > 2 * (machine.separations[flight.address, default: 0] + 1) {
      fail("\(flight) is loaded \(others.count + 1) times at once")
    }
  }

  func checkEnd() {
    for ticket in tickets where !ticket.isEnded { fail("\(ticket.description) never ended") }
    for machine in machines {
      if machine.pipeline.loadCount != 0 { fail("\(machine.pipeline.loadCount) loads are left") }
      let counts = machine.cache.tierStatistics[1]
      if counts.queuedWrites + counts.queuedRemovals > 0 { fail("writes are left: \(counts)") }
      if counts.breaker != .closed { fail("machine \(machine.number) still leaves the tier alone: \(counts)") }
    }
    if executor.count > 0 { fail("something still runs") }
  }

  // MARK: The end

  /// Lets everything come to its end, with a server and a shared tier that work; time passes where nothing else does.
  func drain() {
    condition = .working
    shared.fate = { _ in .now }
    for _ in 0..<200 {
      settle()
      guard tickets.contains(where: { !$0.isEnded }) || machines.contains(where: { isBusy($0) }) else { break }
      clock.advance(by: .seconds(1))
    }
    // What had failed and happens at last must do no harm, either.
    while !shared.late.isEmpty { shared.happen(0) }
    settle()
    checkRemovals()
    lookAround()
  }

  /// Has a machine that knows nothing ask for everything, so that nothing wrong stays hidden in the shared tier.
  private func lookAround() {
    guard violations.isEmpty else { return }
    clear([machines[0]])
    for address in 0..<2 {
      for size in 0..<2 {
        for isEncoded in [true, false] {
          step += 1
          ask(Wish(address: address, size: size, processing: 0, way: 0), on: machines[0], isEncoded: isEncoded)
          settle()
        }
      }
    }
  }

  private func isBusy(_ machine: Machine) -> Bool {
    let counts = machine.cache.tierStatistics[1]
    return machine.pipeline.loadCount > 0 || counts.queuedWrites + counts.queuedRemovals > 0
  }

  /// Lets everything happen for which no time has to pass.
  func settle() {
    var looks = 0
    for _ in 0..<20_000 {
      step += 1
      if !shared.held.isEmpty {
        shared.release(0)
      } else if executor.count > 0 {
        executor.run(random.below(executor.count))
      } else if let load = machines.lazy.compactMap(\.loader.running.first).first {
        answer(load, isFriendly: true)
      } else if !machines.contains(where: {
        $0.pipeline.context.decodeQueue.runNext() || $0.pipeline.context.processQueue.runNext()
      }) {
        // Those who wait for another machine look again; one that has gone holds its lease for a while.
        clock.advance(by: .zero)
        looks += 1
        guard executor.count > 0, looks < 300 else { return }
      }
    }
    fail("it does not come to rest")
  }

  /// After all of it, the fleet works as if nothing had happened: with leases, each answer is asked for once.
  func checkRecovery() {
    // The breaker's last trial, on an address that nobody has touched.
    for machine in machines {
      clock.advance(by: .seconds(60))
      ask(Wish(address: 2, size: 1, processing: 0, way: 0), on: machine, isEncoded: true)
      settle()
    }
    checkEnd()
    guard violations.isEmpty else { return }
    (versions[0], terms[0]) = (versions[0] + 1, Terms(lifetime: 10_000))
    learn(0)
    clear(machines)
    restartShared()
    if options.hasLeases {
      checkLoads(1, "of a new image by all machines") { for machine in machines { askTwice(on: machine) } }
    } else {
      for machine in machines { askTwice(on: machine) }
      settle()
    }
    checkLoads(0, "of an image that all have") { for machine in machines { askTwice(on: machine) } }
    clear(machines)
    checkLoads(0, "of an image that the shared tier has") { for machine in machines { askTwice(on: machine) } }
    versions[0] += 1
    learn(0)
    checkLoads(1, "by reload") {
      ask(Wish(address: 0, size: 1, processing: 0, way: 1), on: machines[0], isEncoded: true)
    }
    // What is stored of a changed image alone is made anew only where it is asked for.
    clear(Array(machines.dropFirst()))
    checkLoads(0, "of what another has reloaded") { for machine in machines { askTwice(on: machine) } }
    for ticket in tickets.suffix(machines.count * 2) where served[ticket.number] != versions[0] {
      fail("\(ticket.description) got \(served[ticket.number] ?? 0) after \(versions[0]) had been reloaded")
    }
  }

  private func clear(_ machines: [Machine]) {
    for machine in machines {
      machine.disk.entries = [:]
      machine.memory?.removeAll()
      machine.lost = now
    }
  }

  private func askTwice(on machine: Machine) {
    for _ in 0..<2 {
      step += 1
      ask(Wish(address: 0, size: 1, processing: 0, way: 0), on: machine, isEncoded: true)
    }
  }

  private func checkLoads(_ count: Int, _ what: String, _ body: () -> Void) {
    let before = loadCount
    body()
    settle()
    if loadCount - before != count { fail("\(loadCount - before) loads \(what), expected \(count)") }
    for ticket in tickets where !ticket.isEnded { fail("\(ticket.description) never ended") }
  }
}
