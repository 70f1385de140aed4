import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import Vitrine

/// What a caller asks for.
struct Wish: Hashable, CustomStringConvertible {
  static let sizes: [TargetSize?] = [nil, .pixels(8, 8), .pixels(4, 4)]
  static let shown = [(16, 12), (8, 6), (4, 3)]
  static let steps = [[], [1], [1, 2], [1, 3]]
  static let policies: [(name: String, policy: CachePolicy)] = [
    ("standard", .standard), ("reload", .reload), ("cacheFirst", .cacheFirst), ("cacheOnly", .cacheOnly),
    ("maxAge", .maxAge(.seconds(30))),
  ]
  /// The processor that always fails.
  static let broken = 3

  var address: Int
  var size: Int
  var processing: Int
  var way: Int

  var steps: [Int] { Self.steps[processing] }
  var policy: CachePolicy { Self.policies[way].policy }
  var flight: Flight { Flight(address: address, way: way) }
  var description: String { "\(flight) size \(size) steps \(steps)" }
}

/// What a request of the network is for.
struct Flight: Hashable, CustomStringConvertible {
  var address: Int
  var way: Int
  var description: String { "\(address) \(Wish.policies[way].name)" }
}

/// One who waits for an image, and what came of it.
final class Ticket: @unchecked Sendable {
  // @unchecked: used by the thread of the world only.
  let wish: Wish
  let number: Int
  var priority: Priority
  let isScoped: Bool
  let continues: Bool
  var task: ImageTask?
  /// When the pipeline began; `nil` while a scope holds it back.
  var begun: Moment?
  var ends: [Result<ImageResponse, LoadError>] = []
  var ended: Moment?
  var isCancelled = false
  /// The earliest moment at which what it was given may have been fetched.
  var since: Moment?
  /// Whether nothing at hand could have served it: its bytes must be fetched.
  var isEmptyHanded = false
  /// Those who waited for the same decoded image when it began.
  var companions: [Ticket] = []
  /// Which of the world's prefetchers, if it is one of theirs.
  let prefetcher: Int?
  let isData: Bool

  init(
    _ wish: Wish,
    _ number: Int,
    _ priority: Priority,
    isScoped: Bool = false,
    continues: Bool = false,
    prefetcher: Int? = nil,
    isData: Bool = false,
  ) {
    (self.wish, self.number, self.priority, self.isScoped) = (wish, number, priority, isScoped)
    (self.continues, self.prefetcher, self.isData) = (continues, prefetcher, isData)
  }

  var isWaiting: Bool { begun != nil && ended == nil && !isCancelled }
  /// Whether it waits for its scope.
  var isHeldBack: Bool { isScoped && begun == nil && ended == nil && !isCancelled }
}

/// A point in the history of a world.
struct Moment: Comparable {
  var step: Int
  var time: Double

  static func < (left: Self, right: Self) -> Bool { left.step < right.step }
}

/// A pipeline of which every step is taken by hand, the server behind it, and what is known of both.
final class World: @unchecked Sendable {
  // @unchecked: used by one thread only.
  struct Options {
    var hasMemory = true
    var hasDisk = true
    var storage = StoragePolicy.automatic
    var servesWhileRevalidating = false
    var width = 2
    /// Whether all ask for much the same within a short time, so that they meet.
    var isCrowded = false
    var isTraced = false
  }

  /// What a server has said of an address: this version is the one.
  struct Word {
    var flight: Flight
    var version: Int?
    var failure: LoadError.Code?
    var allowsStale = false
    var requested: Moment
    var ended: Moment
  }

  static let addresses = 3
  static let lifetime = 60.0
  static let whileRevalidating = 60.0

  let options: Options
  var random: SplitMix64
  let executor = StepExecutor()
  let loader = StepLoader()
  let disk = StepDisk()
  let clock = ManualClock()
  let memory: MemoryCache<CachedImage>?
  let pipeline: ImagePipeline
  let scope: LoadScope
  private let hook = Box<(Data?) -> Void>({ _ in })
  let laters = Box<[@Sendable () -> Void]>([])
  let prefetchers: [ImagePrefetcher]

  var step = 0
  var depth = 0
  var isInTask = false
  var versions = Array(repeating: 1, count: addresses)
  var tickets: [Ticket] = []
  var words: [Word] = []
  var transfers: [ObjectIdentifier: Transfer] = [:]
  /// Who put an image into memory, by hand, and when.
  var puts: [(wish: Wish, at: Moment)] = []
  /// Flights that somebody left to go on.
  var kept: Set<Flight> = []
  /// The addresses of which something that is no image may be on disk.
  var damaged: Set<Int> = []
  /// Of each address the latest version that somebody was served, and when.
  var seen: [Int: (version: Int, at: Moment)] = [:]
  /// When something was last taken out of memory or put there, so that nothing there tells what came last.
  var lost: Moment?
  /// Of each address the number of removals under way, and the end of the last: those who asked before it load for
  /// themselves.
  var removals: [Int: (underWay: Int, ended: Moment)] = [:]
  var isServedWhileRevalidating = false
  var scopeLimit = Priority.veryHigh
  var isScopePaused = false
  var dataTasks: [Int: Task<Void, Never>] = [:]
  var streams: [AsyncStream<ImageEvent>] = []
  var lookUps: [CacheKey: (step: Int, entry: CachedData?)] = [:]
  var violations: [String] = []
  var log: [String] = []
  /// How often the priority of a load was known exactly.
  var exactPriorities = 0

  init(seed: UInt64, isTraced: Bool = false) {
    var random = SplitMix64(seed: seed)
    var options = Options(isTraced: isTraced)
    options.hasMemory = random.chance(3, in: 4)
    options.hasDisk = random.chance(3, in: 4)
    options.storage = StoragePolicy.allCases[random.below(4)]
    options.servesWhileRevalidating = random.chance(1, in: 4)
    options.width = 1 + random.below(3)
    options.isCrowded = random.chance(1, in: 2)
    (self.random, self.options) = (random, options)
    let memory = options.hasMemory ? MemoryCache<CachedImage>(costLimit: 1 << 20, clock: clock) : nil
    self.memory = memory
    let pipeline = ImagePipeline(.ephemeral) { [executor, loader, disk, clock, hook] in
      $0.memoryCache = memory
      $0.memoryPressure = nil
      $0.diskCache = options.hasDisk ? disk : nil
      $0.loader = loader
      $0.clock = clock
      // Every step is the test's, and what fails is asked for again when the test does.
      ($0.retryPolicy, $0.remembersFailures) = (.never, false)
      $0.maxConcurrentDecodes = options.width
      $0.storagePolicy = options.storage
      $0.stepper = executor
      $0.decoders = DecoderRegistry([CountingDecoder { hook.value($0) }])
    }
    self.pipeline = pipeline
    scope = LoadScope(pipeline)
    prefetchers = [ImagePrefetcher.Destination.memory, .disk].map { [laters] destination in
      ImagePrefetcher(pipeline, destination: destination, maxConcurrentLoads: options.width) { laters.value.append($0) }
    }
    hook.value = { [unowned self] bytes in whileWorking(on: bytes) }
    loader.whenBegun = { [unowned self] in begun($0) }
    disk.whenRead = { [unowned self] key, entry in lookUps[key] = (step, entry) }
  }

  // MARK: What is known

  var now: Moment { Moment(step: step, time: clock.uptime / .seconds(1)) }

  func note(_ line: @autoclosure () -> String) {
    if options.isTraced { log.append("\(step)\(String(repeating: "  ", count: depth)) \(line())") }
  }

  func fail(_ line: String) {
    note("WRONG: \(line)")
    violations.append("step \(step): \(line)")
  }

  func request(_ wish: Wish, priority: Priority = .normal, continues: Bool = false) -> ImageRequest {
    let processors = wish.steps.map { number in
      Pictures.mark(number) { [hook] _ in
        hook.value(nil)
        if number == Wish.broken { throw BrokenProcessor() }
      }
    }
    var request = ImageRequest(
      url: "https://example.org/\(wish.address)",
      size: Wish.sizes[wish.size],
      processors: processors,
      priority: priority,
    )
    request.cachePolicy = wish.policy
    request.headers["X-Way"] = "\(wish.way)"
    request.continuesDownload = continues
    return request
  }

  struct BrokenProcessor: Error {}

  /// How urgent what a ticket waits for may be.
  func effectivePriority(_ ticket: Ticket) -> Priority {
    guard ticket.isScoped else { return ticket.priority }
    return min(ticket.priority, isScopePaused ? .veryLow : scopeLimit)
  }

  func waiting(for flight: Flight) -> [Ticket] { tickets.filter { $0.isWaiting && $0.wish.flight == flight } }

  /// Whether a caller who asks for this is served what is in memory, or made of it.
  func isAnythingInMemory(of address: Int) -> Bool {
    let wish = Wish(address: address, size: 0, processing: 0, way: 0)
    return memory.map { !$0.variants(of: request(wish).keys.fetch).isEmpty } ?? false
  }

  func flight(of load: StepLoad) -> Flight {
    let path = load.request.url.string.split(separator: "/").last ?? ""
    return Flight(address: Int(path) ?? 0, way: load.request.headers["X-Way"].flatMap(Int.init) ?? 0)
  }

  /// Whether a load asks in place of stored bytes that were no image.
  func isRepeat(_ load: StepLoad) -> Bool {
    Wish.policies[flight(of: load).way].policy != .reload && load.request.headers["Cache-Control"] == "no-cache"
  }

  /// Whether a load asks if known bytes are still current.
  func isValidation(_ load: StepLoad) -> Bool { load.request.headers["If-None-Match"] != nil }

  /// In the middle of decoding or processing anything may happen on other threads.
  private func whileWorking(on bytes: Data?) {
    if let bytes { checkWorkIsWanted(bytes) }
    guard depth < 2 else { return }
    for _ in 0..<random.below(3) { act() }
  }
}
