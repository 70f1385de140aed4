import Testing
import VitrineCaching
import VitrineRuntime
import VitrineTestSupport

@testable import VitrineTiers

struct TierQueueTests {
  private var queue = TierQueue(.init())
  private var loose = TierQueue.Loose()

  private static func limits(
    entries: Int = 1000,
    bytes: Int = 1 << 20,
    removals: Int = 100,
    width: Int = 2,
  )
    -> TieredDataCache.RemoteLimits
  {
    var limits = TieredDataCache.RemoteLimits()
    (limits.queuedEntries, limits.queuedBytes) = (entries, bytes)
    (limits.queuedRemovals, limits.concurrentWrites) = (removals, width)
    return limits
  }

  private func describe(_ work: TierQueue.Work?) -> String {
    switch work {
    case .one(let key, .store(let entry, _)): "store \(key) \(entry.contentID.low % 1000)"
    case .one(let key, .renew): "renew \(key)"
    case .one(let key, .remove): "remove \(key)"
    case .sweep(.all): "remove all"
    case .sweep(.extending(let key)): "remove all of \(key)"
    case nil: "nothing"
    }
  }

  private mutating func next() throws -> TierQueue.Work {
    let work = queue.next()
    return try #require(work)
  }

  private mutating func expectNext(_ description: String, _ location: SourceLocation = #_sourceLocation) throws {
    let found = describe(try next())
    #expect(found == description, sourceLocation: location)
  }

  private mutating func expectNothing() {
    let work = queue.next()
    #expect(work == nil)
  }

  @Test
  mutating func theLatestWriteOfAKeyReplacesTheOneThatWaits() throws {
    queue.store(entry(1), for: key(1), &loose)
    queue.store(entry(2), for: key(2), &loose)
    queue.store(entry(1, version: 1), for: key(1), &loose)
    #expect(queue.writeCount == 2)
    let first = try next()
    #expect(describe(first) == describe(.one(key(1), .store(entry(1, version: 1), removes: false))))
    _ = try next()
    expectNothing()
  }

  @Test
  mutating func aRemovalReplacesAWriteThatWaitsAndIsNotOvertaken() throws {
    queue.store(entry(1), for: key(1), &loose)
    queue.remove(key(1), nil, &loose)
    try expectNext("remove \(key(1))")
    #expect((queue.writeCount, queue.byteCount) == (0, 0))
  }

  @Test
  mutating func whatRunsForAKeyEndsBeforeAnotherOperationOnItBegins() throws {
    queue.store(entry(1), for: key(1), &loose)
    let running = try next()
    queue.remove(key(1), nil, &loose)
    #expect(!queue.hasNext)
    expectNothing()
    queue.finish(running, .done(true), &loose)
    try expectNext("remove \(key(1))")
  }

  @Test
  mutating func aWriteBeyondTheLimitsIsDroppedAndCounted() throws {
    queue = TierQueue(Self.limits(entries: 2, bytes: 1_500))
    queue.store(entry(1), for: key(1), &loose)
    queue.store(entry(2, 5_000), for: key(2), &loose)
    #expect((queue.writeCount, queue.droppedWrites) == (1, 1))
    queue.store(entry(2, 100), for: key(2), &loose)
    queue.store(entry(3, 100), for: key(3), &loose)
    #expect((queue.writeCount, queue.droppedWrites) == (2, 2))
    // One in place of another needs no further room.
    queue.store(entry(2, 100, version: 1), for: key(2), &loose)
    #expect((queue.writeCount, queue.droppedWrites) == (2, 2))
    // A write that runs still counts.
    let first = try next()
    queue.store(entry(3, 100), for: key(3), &loose)
    #expect(queue.droppedWrites == 3)
    queue.finish(first, .done(true), &loose)
    queue.store(entry(3, 100), for: key(3), &loose)
    #expect((queue.writeCount, queue.droppedWrites) == (2, 3))
  }

  @Test
  mutating func aDroppedWriteTakesTheOlderOneThatWaitsWithIt() throws {
    queue = TierQueue(Self.limits(bytes: 1_000))
    queue.store(entry(1), for: key(1), &loose)
    queue.store(entry(1, 5_000, version: 1), for: key(1), &loose)
    try expectNext("remove \(key(1))")
    expectNothing()
  }

  @Test
  mutating func removalsBeyondTheirLimitAreGivenUpAndCounted() throws {
    queue = TierQueue(Self.limits(removals: 1))
    let waiter = Deferred<Bool>()
    queue.remove(key(1), nil, &loose)
    queue.remove(key(1), nil, &loose)
    queue.remove(key(2), waiter, &loose)
    loose.resolve()
    #expect((queue.removalCount, queue.droppedRemovals) == (1, 1))
    queue.sweep(.extending(key(3)), nil, &loose)
    #expect((queue.removalCount, queue.droppedRemovals) == (1, 2))
    queue.sweep(.all, nil, &loose)
    #expect((queue.removalCount, queue.droppedRemovals) == (1, 2))
    try expectNext("remove all")
  }

  @Test
  mutating func aRemovalThatFailsIsTriedAgainAndOneThatIsRefusedIsNot() throws {
    queue.remove(key(1), nil, &loose)
    queue.finish(try next(), .failed, &loose)
    #expect(queue.removalCount == 1)
    queue.finish(try next(), .refused, &loose)
    #expect(queue.isEmpty)
    #expect((queue.removalCount, queue.droppedRemovals) == (0, 1))
  }

  @Test(arguments: [false, true])
  mutating func aWriteInPlaceOfARemovalRemovesIfItFails(isLater: Bool) throws {
    queue.remove(key(1), nil, &loose)
    if isLater {
      let removal = try next()
      queue.store(entry(1), for: key(1), &loose)
      queue.finish(removal, .failed, &loose)
    } else {
      queue.store(entry(1), for: key(1), &loose)
    }
    let write = try next()
    #expect(describe(write).hasPrefix("store"))
    queue.finish(write, .failed, &loose)
    try expectNext("remove \(key(1))")
    #expect(queue.droppedWrites == 1)
  }

  @Test
  mutating func aRenewalChangesTheWriteThatWaits() throws {
    let (same, other) = (Deferred<Bool>(), Deferred<Bool>())
    queue.store(entry(1), for: key(1), &loose)
    let expires = Date(timeIntervalSince1970: 7)
    queue.renew(key(1), entry(1).contentID, expires, Data("new".utf8), same, &loose)
    queue.renew(key(1), entry(2).contentID, nil, Data(), other, &loose)
    guard case .one(_, .store(let written, _)) = try next() else {
      Issue.record("not a write")
      return
    }
    #expect((written.expires, written.metadata) == (expires, Data("new".utf8)))
    expectNothing()
  }

  @Test
  mutating func aRemovalOfManyComesBeforeAllThatWaits() throws {
    let thumbnail = key(1).extended { $0.append(300) }
    queue.store(entry(1), for: thumbnail, &loose)
    queue.store(entry(2), for: key(2), &loose)
    let running = try next()
    queue.store(entry(1), for: thumbnail, &loose)
    queue.sweep(.extending(key(1)), nil, &loose)
    queue.store(entry(3), for: thumbnail, &loose)
    // It waits for what runs.
    #expect(!queue.hasNext)
    queue.finish(running, .done(true), &loose)
    let sweep = try next()
    #expect(describe(sweep) == "remove all of \(key(1))")
    #expect(!queue.hasNext)
    queue.finish(sweep, .done(true), &loose)
    let rest = [describe(try next()), describe(try next())]
    #expect(
      rest.sorted()
        == [
          describe(.one(thumbnail, .store(entry(3), removes: false))),
          describe(.one(key(2), .store(entry(2), removes: false))),
        ].sorted()
    )
    #expect(!queue.hasNext)
  }

  @Test
  mutating func whatWaitsIsWhatAReaderSees() throws {
    func pending(_ key: CacheKey) -> String {
      switch queue.pending(key) {
      case .none: "none"
      case .stored(let entry): "\(entry.data.count)"
      case .renewed: "renewed"
      case .removed: "removed"
      }
    }
    let thumbnail = key(1).extended { $0.append(300) }
    #expect(pending(thumbnail) == "none")
    queue.store(entry(1, 10), for: thumbnail, &loose)
    #expect(pending(thumbnail) == "10")
    let running = try next()
    #expect(pending(thumbnail) == "10")
    queue.renew(thumbnail, entry(1, 10).contentID, nil, Data(), nil, &loose)
    #expect(pending(thumbnail) == "renewed")
    queue.sweep(.extending(key(1)), nil, &loose)
    #expect(pending(thumbnail) == "removed")
    #expect(pending(key(1)) == "none")
    queue.finish(running, .done(true), &loose)
    let sweep = try next()
    #expect(pending(thumbnail) == "removed")
    queue.store(entry(2, 20), for: thumbnail, &loose)
    #expect(pending(thumbnail) == "20")
    queue.finish(sweep, .failed, &loose)
    #expect(pending(thumbnail) == "20")
    #expect(pending(key(1).extended { $0.append(400) }) == "removed")
  }

  // MARK: Random histories

  /// A tier that carries out what the queue says, a few at a time and in any order, with failures.
  @Test(arguments: 0..<200)
  mutating func afterAnyHistoryTheTierHasNothingThatWasRemovedOrReplaced(seed: Int) throws {
    var random = SplitMix64(seed: UInt64(seed))
    queue = TierQueue(Self.limits(entries: 4, bytes: 3_000, width: 3))
    var tier: [CacheKey: CachedData] = [:]
    /// The latest that was asked for each key; `nil` for a removal.
    var wanted: [CacheKey: CachedData?] = [:]
    var running: [TierQueue.Work] = []
    let keys = (0..<4).flatMap { number in [key(number), key(number).extended { $0.append(1) }] }

    func end(_ index: Int, _ ending: TierQueue.Ending) {
      let work = running.remove(at: index)
      if case .done = ending {
        switch work {
        case .one(let key, .store(let entry, _)): tier[key] = entry
        case .one(let key, .remove): tier[key] = nil
        case .one(_, .renew): break
        case .sweep(let sweep): for key in tier.keys where sweep.covers(key) { tier[key] = nil }
        }
      }
      queue.finish(work, ending, &loose)
    }
    for step in 0..<120 {
      let key = keys.randomElement(using: &random)!
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<3:
        let new = entry(step, Int.random(in: 1...900, using: &random))
        queue.store(new, for: key, &loose)
        wanted[key] = .some(new)
      case 3:
        queue.remove(key, nil, &loose)
        wanted[key] = .some(nil)
      case 4:
        let sweep = step % 3 == 0 ? TierQueue.Sweep.all : .extending(key)
        queue.sweep(sweep, nil, &loose)
        for key in keys where sweep.covers(key) { wanted[key] = .some(nil) }
      case 5:
        queue.renew(key, entry(step).contentID, nil, Data(), nil, &loose)
      case 6, 7:
        if let work = queue.next() {
          if case .one(let key, _) = work {
            #expect(!running.contains { if case .one(key, _) = $0 { true } else { false } })
          } else {
            #expect(running.isEmpty)
          }
          running.append(work)
        }
      default:
        guard !running.isEmpty else { continue }
        end(running.indices.randomElement(using: &random)!, step % 4 == 0 ? .failed : .done(true))
      }
    }
    // From now on everything works.
    while true {
      if let work = queue.next() {
        running.append(work)
      } else if running.isEmpty {
        break
      } else {
        end(0, .done(true))
      }
    }
    #expect(queue.isEmpty)
    #expect((queue.writeCount, queue.byteCount, queue.removalCount) == (0, 0, 0))
    // A write may be lost; a removal may not, and nothing that was removed comes back.
    for key in tier.keys {
      let latest = try #require(wanted[key], "never asked for")
      #expect(latest != nil, "\(key) was removed")
    }
  }
}
