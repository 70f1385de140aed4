import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting
import VitrineTiers

@testable import Vitrine

/// Several pipelines over one shared tier, of which every step is taken by hand; a server that changes its mind; and
/// what is known of all of them.
final class Fleet: @unchecked Sendable {
  // @unchecked: used by one thread only.

  /// One machine: a pipeline with a memory and a disk of its own.
  final class Machine: @unchecked Sendable {
    // @unchecked: used by one thread only.
    let number: Int
    let loader = StepLoader()
    let disk = StepDisk()
    let memory: MemoryCache<CachedImage>?
    let cache: TieredDataCache
    let pipeline: ImagePipeline
    /// Of each address the latest version that somebody was served, and when.
    var seen: [Int: (version: Int, at: Moment)] = [:]
    /// When something was last taken out of the machine's caches, so that nothing there tells what came last.
    var lost: Moment?
    /// Of each address the last removal that has ended, and how many the shared tier had refused before it.
    var removed: [Int: (begun: Moment, ended: Moment, refusals: Int)] = [:]
    /// Of each address how many removals have begun and ended since there last was no job: who asks after one of these
    /// moments joins nobody who asked before it.
    var separations: [Int: Int] = [:]
    /// The number of removals that the shared tier has refused: what it keeps comes back.
    var refusals: Int { cache.tierStatistics[1].droppedRemovals }
    /// Of each address the time of the last removal that has ended, in spite of a restart meanwhile, too.
    var purged: [Int: Date] = [:]

    init(_ number: Int, _ fleet: Options, _ shared: SharedTier, _ clock: ManualClock, _ executor: StepExecutor) {
      self.number = number
      memory = fleet.hasMemory ? MemoryCache<CachedImage>(costLimit: 1 << 20, clock: clock) : nil
      var limits = TieredDataCache.RemoteLimits()
      (limits.failureLimit, limits.concurrentWrites, limits.queuedEntries) = (2, 2, fleet.queueLimit)
      let cache = TieredDataCache(
        [.local(disk, name: "disk"), .remote(shared, name: "shared", limits: limits)],
        clock: clock,
        stepper: executor,
      )
      self.cache = cache
      pipeline = ImagePipeline(.ephemeral) { [memory, loader] in
        $0.memoryCache = memory
        $0.memoryPressure = nil
        $0.diskCache = cache
        $0.loader = loader
        $0.clock = clock
        ($0.retryPolicy, $0.remembersFailures) = (.never, false)
        $0.maxConcurrentDecodes = 2
        $0.storagePolicy = fleet.storage
        $0.stepper = executor
        $0.decoders = DecoderRegistry([PNGDecoder()])
        guard fleet.hasLeases else { return }
        var coordination = WorkCoordination(cache)
        // The order of things is the test's, not that of random pauses.
        coordination.pauses = .zero ... .zero
        $0.coordination = coordination
      }
    }
  }

  struct Options {
    var machines = 2
    var hasMemory = true
    var hasLeases = true
    var keepsOrder = true
    var queueLimit = 1000
    var storage = StoragePolicy.automatic
    var isTraced = false
  }

  /// What the server says about how an answer may be kept.
  struct Terms: Hashable {
    enum Kind: CaseIterable { case plain, isPrivate, noStore, noCache }
    var kind = Kind.plain
    var lifetime = 60.0
    var whileRevalidating = 0.0

    var control: String {
      switch kind {
      case .noStore: return "no-store"
      case .noCache: return "no-cache"
      case .plain, .isPrivate:
        let more = whileRevalidating > 0 ? ", stale-while-revalidate=\(Int(whileRevalidating))" : ""
        return "\(kind == .isPrivate ? "private" : "public"), max-age=\(Int(lifetime))\(more)"
      }
    }
  }

  struct Flight: Hashable, CustomStringConvertible {
    var machine: Int
    var address: Int
    var way: Int
    var description: String { "\(address) \(Wish.policies[way].name) of machine \(machine)" }
  }

  /// What the server has said: until when this version is the one.
  struct Word {
    var flight: Flight
    var version: Int?
    var terms = Terms()
    var failure: LoadError.Code?
    var allowsStale = false
    var requested: Moment
    var ended: Moment
  }

  /// What has happened to a shared tier that it has to remember.
  struct Outdated {
    /// The time at which what extends a key was removed, or everything.
    var removals: [(of: CacheKey?, at: Date)] = []
    /// The time at which the newest entry of a key was stored, until it is lost.
    var newest: [CacheKey: Date] = [:]
    /// The keys that have no entry, since one was refused.
    var refused: Set<CacheKey> = []
    /// The time of the last restart, after which nothing is remembered.
    var restart = Date.distantPast
  }

  /// One who waits on a machine, and what came of it.
  final class Ticket: @unchecked Sendable {
    // @unchecked: used by one thread only.
    let number: Int
    let machine: Machine
    let wish: Wish
    let isEncoded: Bool
    let begun: Moment
    /// The earliest moment at which what it is given may have been asked for.
    var since: Moment
    var task: Task<Void, Never>?
    var isCancelled = false
    var isEnded = false

    init(_ number: Int, _ machine: Machine, _ wish: Wish, isEncoded: Bool, _ begun: Moment, since: Moment) {
      (self.number, self.machine, self.wish, self.isEncoded) = (number, machine, wish, isEncoded)
      (self.begun, self.since) = (begun, since)
    }

    var flight: Flight { Flight(machine: machine.number, address: wish.address, way: wish.way) }
    var description: String { "\(number), \(isEncoded ? "a file of " : "")\(flight) size \(wish.size)" }
  }

  final class Transfer {
    let machine: Machine
    let load: StepLoad
    let flight: Flight
    let begun: Moment
    var status = 0
    var version: Int?
    var terms = Terms()
    var body = Data()
    var hasHead = false

    init(_ machine: Machine, _ load: StepLoad, _ flight: Flight, _ begun: Moment) {
      (self.machine, self.load, self.flight, self.begun) = (machine, load, flight, begun)
    }
  }

  /// The last one is for the end, when nothing has happened to it yet.
  static let addresses = 3

  let options: Options
  var random: SplitMix64
  let executor = StepExecutor()
  let clock = ManualClock()
  let shared: SharedTier
  let machines: [Machine]

  var step = 0
  var condition = SharedTier.Condition.working
  var versions = Array(repeating: 1, count: addresses)
  var terms = Array(repeating: Terms(), count: addresses)
  var tickets: [Ticket] = []
  var words: [Word] = []
  var transfers: [ObjectIdentifier: Transfer] = [:]
  /// Of the content of originals, what it is.
  var contents: [ContentID: Pictures.Name] = [:]
  /// What the shared tier must not give out any more, if it keeps the order of things.
  var outdated = Outdated()
  /// The version that each ticket got.
  var served: [Int: Int] = [:]
  var violations: [String] = []
  var log: [String] = []
  /// How often something was found in the shared tier that its own machine did not have.
  var sharedHits: Int { machines.reduce(0) { $0 + $1.cache.tierStatistics[1].hits } }
  var loadCount: Int { machines.reduce(0) { $0 + $1.loader.count } }

  init(seed: UInt64, isTraced: Bool = false) {
    var random = SplitMix64(seed: seed)
    var options = Options(isTraced: isTraced)
    options.machines = random.chance(1, in: 4) ? 3 : 2
    options.hasMemory = random.chance(1, in: 2)
    options.hasLeases = random.chance(3, in: 4)
    options.keepsOrder = random.chance(2, in: 3)
    options.queueLimit = random.chance(1, in: 5) ? 1 : 1000
    options.storage = StoragePolicy.allCases[random.below(4)]
    (self.random, self.options) = (random, options)
    let shared = SharedTier(clock, keepsOrder: options.keepsOrder)
    self.shared = shared
    machines = (0..<options.machines).map { [clock, executor] in Machine($0, options, shared, clock, executor) }
    for machine in machines { machine.loader.whenBegun = { [unowned self, unowned machine] in begun($0, machine) } }
    shared.fate = { [unowned self] in fate(changes: $0) }
    shared.whenWritten = { [unowned self] in checkShared($0, $1) }
    shared.whenRead = { [unowned self] in checkGiven($0, $1) }
    shared.whenRemoved = { [unowned self] in outdated.removals.append(($0, clock.now)) }
    shared.whenErased = { [unowned self] in outdated.newest[$0] = nil }
    shared.whenRefused = { [unowned self] in
      outdated.refused.insert($0)
      outdated.newest[$0] = nil
    }
    for address in 0..<Self.addresses { learn(address) }
  }

  // MARK: What is known

  var now: Moment { Moment(step: step, time: clock.uptime / .seconds(1)) }

  func note(_ line: @autoclosure () -> String) { if options.isTraced { log.append("\(step) \(line())") } }

  func fail(_ line: String) {
    note("WRONG: \(line)")
    violations.append("step \(step): \(line)")
  }

  /// Learns of the present version of an address, whose bytes have a name from now on.
  func learn(_ address: Int) {
    let file = Pictures.file(address, versions[address])
    contents[ContentID(of: file)] = Pictures.Name(address: address, version: versions[address])
  }

  func tag(_ address: Int, _ version: Int) -> String { "\"\(address)-\(version)\"" }

  func request(_ wish: Wish) -> ImageRequest {
    var request = ImageRequest(url: "https://example.org/\(wish.address)", size: Wish.sizes[wish.size])
    request.cachePolicy = wish.policy
    request.headers["X-Way"] = "\(wish.way)"
    return request
  }

  func flight(of load: StepLoad, _ machine: Machine) -> Flight {
    let path = load.request.url.string.split(separator: "/").last ?? ""
    let way = load.request.headers["X-Way"].flatMap(Int.init) ?? 0
    return Flight(machine: machine.number, address: Int(path) ?? 0, way: way)
  }

  // MARK: The shared tier

  private func fate(changes: Bool) -> SharedTier.Fate {
    switch condition {
    case .working: random.chance(1, in: 6) ? (random.chance(1, in: 2) ? .later : .answeredLater) : .now
    case .slow: random.chance(1, in: 4) ? .now : random.chance(1, in: 2) ? .later : .answeredLater
    case .failing: changes && random.chance(1, in: 2) ? .failsAndHappens : .fails
    case .refusing: changes ? .refused : .now
    }
  }
}
