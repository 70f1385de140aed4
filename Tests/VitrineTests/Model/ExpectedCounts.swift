import VitrineHTTP

@testable import Vitrine

/// What is where when somebody asks, and what they ask for.
///
/// In the caches is version 1, on the server version 2.
struct Situation: CustomStringConvertible {
  enum Memory: CaseIterable { case nothing, final, larger, prefix, stale }
  enum Disk: CaseIterable { case nothing, fresh, stale, finished, orphaned, garbage }
  enum Network: CaseIterable { case answers, confirms, notFound, unreachable, cancelled }
  enum Asked: CaseIterable { case plain, resized, processed }

  var memory: Memory
  var disk: Disk
  var network: Network
  var policy: CachePolicy
  var storage: StoragePolicy
  var asked: Asked
  var caches = CacheAccess.all

  static let policies: [CachePolicy] = [.standard, .reload, .cacheFirst, .cacheOnly, .maxAge(.seconds(30))]

  /// How many processors there are.
  var steps: Int { asked == .processed ? 2 : 0 }
  var isChanged: Bool { asked != .plain }
  var ignoresAge: Bool { policy == .cacheFirst || policy == .cacheOnly }

  /// Whether it can be: nothing is larger than the whole, and only what is changed has parts and is kept as shown.
  var makesSense: Bool {
    switch (memory, disk, asked) {
    case (.larger, _, .plain), (_, .finished, .plain), (_, .orphaned, .plain): false
    case (.prefix, _, _): asked == .processed
    default: true
    }
  }

  /// All of them for requests that use the caches like that.
  static func all(_ caches: CacheAccess) -> [Situation] {
    // Where they are used in part only, those policies that the others are made of.
    let isWhole = caches == .all
    let storages: [StoragePolicy] = isWhole ? StoragePolicy.allCases : [.automatic, .finished]
    let policies: [CachePolicy] = isWhole ? policies : [.standard, .reload, .cacheOnly]
    var all: [Situation] = []
    for memory in Memory.allCases {
      for disk in Disk.allCases {
        for network in Network.allCases {
          for policy in policies {
            for storage in storages {
              for asked in Asked.allCases {
                var one = Situation(
                  memory: memory,
                  disk: disk,
                  network: network,
                  policy: policy,
                  storage: storage,
                  asked: asked,
                )
                one.caches = caches
                if one.makesSense { all.append(one) }
              }
            }
          }
        }
      }
    }
    return all
  }

  var description: String {
    """
    memory \(memory), disk \(disk), network \(network), \(policy), keeps \(storage), \(asked), \
    caches \(String(caches.rawValue, radix: 2))
    """
  }
}

/// What each layer did, and what came of it.
struct Counts: Equatable, CustomStringConvertible {
  enum End: Equatable {
    case image(version: Int, ImageResponse.Origin, isStale: Bool)
    case error(LoadError.Code)
  }

  var memoryReads = 0
  var memoryWrites = 0
  var diskLookUps = 0
  var diskReads = 0
  var diskWrites = 0
  var renewals = 0
  var removals = 0
  var requests = 0
  var decodes = 0
  var processed = 0
  var end = End.error(.cancelled)

  var description: String {
    """
    memory \(memoryReads) read \(memoryWrites) written, disk \(diskLookUps) looked up \(diskReads) read \(diskWrites) written \(renewals) renewed \
    \(removals) removed, \(requests) requests, \(decodes) decodes, \(processed) processed: \(end)
    """
  }
}

/// What DESIGN.md promises, as a function: the best thing at hand is looked for before each stage, and nothing is done
/// twice.
struct Expectation {
  let situation: Situation
  private(set) var counts = Counts()
  /// Whether the disk has bytes that are not those of the server.
  private var hasOtherBytes: Bool
  /// Whether the disk has version 1 as it is shown.
  private var hasFinished: Bool

  /// Bytes on their way up; `nil` as a version for what is no image.
  private struct Bytes {
    var version: Int?
    var origin: ImageResponse.Origin
    var isStale = false
  }

  private typealias Image = (version: Int, origin: ImageResponse.Origin, isStale: Bool)

  init(_ situation: Situation) {
    self.situation = situation
    hasOtherBytes = [.fresh, .stale, .garbage].contains(situation.disk)
    hasFinished = [.finished, .orphaned].contains(situation.disk)
    do throws(Failure) {
      let image = try ask()
      counts.end = .image(version: image.version, image.origin, isStale: image.isStale)
    } catch {
      counts.end = .error(error.code)
    }
  }

  private struct Failure: Error {
    var code: LoadError.Code
    var allowsStale = false
  }

  private func uses(_ use: CacheAccess) -> Bool { situation.caches.contains(use) }

  private mutating func ask() throws(Failure) -> Image {
    if situation.policy != .reload, uses(.memoryReads) {
      // The caller looks before any load begins.
      counts.memoryReads += 1
      if situation.memory == .final || (situation.memory == .stale && situation.ignoresAge) {
        return (1, .memory, false)
      }
    }
    return try image(situation.steps)
  }

  private var keepsAsShown: Bool { situation.storage != .original && situation.isChanged }

  private mutating func stored(_ step: Int, version: Int) {
    if uses(.memoryWrites) { counts.memoryWrites += 1 }
    guard step == situation.steps else { return }
    guard uses(.diskWrites) else {
      // Nothing takes the place of what is out of date.
      if hasFinished, version != 1 { (hasFinished, counts.removals) = (false, counts.removals + 1) }
      return
    }
    guard keepsAsShown else { return }
    // A small image that is only resized is quicker decoded again.
    if situation.storage == .automatic, situation.asked == .resized { return }
    counts.diskWrites += 1
  }

  /// The image after so many processors: memory was asked once, by the caller; the disk is asked once for all that may
  /// be there.
  private mutating func image(_ last: Int) throws(Failure) -> Image {
    let known: Int? =
      switch situation.memory {
      case .final, .stale: uses(.memoryReads) ? last : nil
      case .prefix: uses(.memoryReads) ? 1 : nil
      case .nothing, .larger: nil
      }
    let hasLarger = situation.memory == .larger && situation.policy != .reload && uses(.memoryReads)
    var hasLookedUp = false
    // Better than what is known would be an image after more processors.
    let least = known.map { $0 + 1 } ?? (hasLarger ? 1 : 0)
    if situation.policy != .reload, keepsAsShown, uses(.diskReads), least <= last {
      counts.diskLookUps += 1
      hasLookedUp = true
      if situation.disk == .finished {
        counts.diskReads += 1
        if uses(.memoryWrites) { counts.memoryWrites += 1 }
        return (1, .disk, false)
      }
      if situation.disk == .orphaned { (hasFinished, counts.removals) = (false, counts.removals + 1) }
    }
    var image: Image
    var step = known ?? 0
    if let known {
      if situation.memory == .prefix, situation.policy != .reload {
        image = (1, .memory, false)
      } else {
        image = try confirmed(known, hasLookedUp)
      }
    } else if hasLarger {
      stored(0, version: 1)
      image = (1, .memory, false)
    } else {
      image = try decoded(try fetched(asksDisk: true, hasLookedUp))
    }
    while step < last {
      step += 1
      image = processed(step, image)
    }
    return image
  }

  private mutating func processed(_ step: Int, _ input: Image) -> Image {
    counts.processed += 1
    stored(step, version: input.version)
    return input
  }

  /// The image in memory if the server has no other.
  private mutating func confirmed(_ step: Int, _ hasLookedUp: Bool) throws(Failure) -> Image {
    let bytes: Bytes
    do throws(Failure) {
      bytes = try fetched(asksDisk: true, hasLookedUp)
    } catch {
      guard error.allowsStale, situation.policy != .reload else { throw error }
      return (1, .memory, true)
    }
    if bytes.version == 1 {
      // A server's word renews what is there; what the disk knows better is put there anew.
      if uses(.memoryWrites), bytes.origin == .disk, !bytes.isStale { counts.memoryWrites += 1 }
      return (1, bytes.origin, bytes.isStale)
    }
    var image = try decoded(bytes)
    for step in stride(from: 1, through: step, by: 1) { image = processed(step, image) }
    return image
  }

  private mutating func decoded(_ bytes: Bytes) throws(Failure) -> Image {
    guard let version = bytes.version else { return try decodedInPlaceOfGarbage() }
    counts.decodes += 1
    stored(0, version: version)
    keep(bytes)
    return (version, bytes.origin, bytes.isStale)
  }

  private var keepsBytes: Bool { uses(.diskWrites) && (situation.storage != .finished || !situation.isChanged) }

  private mutating func keep(_ bytes: Bytes) {
    guard bytes.origin == .network else { return }
    if keepsBytes { counts.diskWrites += 1 }
    // Nothing takes the place of what its server has replaced.
    if !keepsBytes, hasOtherBytes { counts.removals += 1 }
  }

  private mutating func decodedInPlaceOfGarbage() throws(Failure) -> Image {
    guard situation.policy != .cacheOnly else {
      counts.removals += 1
      throw Failure(code: .undecodable)
    }
    do throws(Failure) {
      let bytes = try fetched(asksDisk: false, false)
      // What is kept takes its place.
      if !keepsBytes { (hasOtherBytes, counts.removals) = (false, counts.removals + 1) }
      return try decoded(bytes)
    } catch {
      if error.code != .cancelled { counts.removals += 1 }
      throw error
    }
  }

  private mutating func fetched(asksDisk: Bool, _ hasLookedUp: Bool) throws(Failure) -> Bytes {
    guard asksDisk, situation.policy != .reload, uses(.diskReads) else {
      // It is the disk that may not be asked, or the server.
      if asksDisk, situation.policy == .cacheOnly { throw Failure(code: .notCached) }
      return try requested(isConditional: false)
    }
    // What is known to be missing is not looked for again.
    let isMissing = situation.disk == .nothing || situation.disk == .finished
    if !(hasLookedUp && isMissing) { counts.diskReads += 1 }
    switch situation.disk {
    case .nothing, .finished:
      if situation.policy == .cacheOnly { throw Failure(code: .notCached) }
      return try requested(isConditional: false)
    case .fresh: return Bytes(version: 1, origin: .disk)
    case .orphaned: return Bytes(version: 2, origin: .disk)
    case .garbage: return Bytes(version: nil, origin: .disk)
    case .stale where situation.ignoresAge: return Bytes(version: 1, origin: .disk, isStale: true)
    case .stale: return try requested(isConditional: true)
    }
  }

  private mutating func requested(isConditional: Bool) throws(Failure) -> Bytes {
    counts.requests += 1
    switch situation.network {
    case .cancelled: throw Failure(code: .cancelled)
    case .answers: return Bytes(version: 2, origin: .network)
    case .confirms:
      // To a question that was not asked this is no answer.
      guard isConditional else { throw Failure(code: .fetchFailed, allowsStale: true) }
      if uses(.diskWrites) { counts.renewals += 1 }
      return Bytes(version: 1, origin: .revalidated)
    case .notFound: throw Failure(code: .badStatus)
    case .unreachable:
      guard isConditional else { throw Failure(code: .fetchFailed, allowsStale: true) }
      return Bytes(version: 1, origin: .disk, isStale: true)
    }
  }
}
