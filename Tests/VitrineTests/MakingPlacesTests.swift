import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import Vitrine

/// The places of images that are made to be encoded.
@Suite(.patient)
struct MakingPlacesTests {
  private let begun = Watched<[(name: String, place: MakingPlace)]>([])

  private func places(_ limit: Int, guests: Int = 0, bytes: Int = 1 << 40, waiting: Int? = nil) -> MakingPlaces {
    MakingPlaces(limit: limit, guestLimit: guests, byteLimit: bytes, queueLimit: waiting)
  }

  /// Enters; returns the number of one that waits.
  @discardableResult
  private func enter(_ places: MakingPlaces, _ lane: String, _ name: String) -> UInt64? {
    let entry = places.enter(ByteString(lane)) { [begun] place in begun.change { $0.append((name, place)) } }
    switch entry {
    case .place(let place): begun.change { $0.append((name, place)) }
    case .waiting(let number): return number
    case .full: Issue.record("there was no place")
    }
    return nil
  }

  private var names: [String] { begun.value.map(\.name) }

  /// Ends the first of those that have begun.
  private func end() { _ = begun.change { $0.removeFirst() } }

  @Test
  func lanesHaveTheirTurns() {
    let places = places(1)
    for name in ["a1", "a2", "a3"] { enter(places, "a", name) }
    enter(places, "b", "b1")
    var order: [String] = []
    while let name = names.first {
      #expect(names.count == 1 && places.count == 1)
      order.append(name)
      end()
    }
    #expect(order == ["a1", "a2", "b1", "a3"])
    #expect(places.count == 0)
  }

  @Test
  func aLaneWithoutAPlaceIsAGuest() {
    let places = places(1, guests: 1)
    for name in ["a1", "a2", "a3"] { enter(places, "a", name) }
    enter(places, "b", "b1")
    enter(places, "b", "b2")
    enter(places, "c", "c1")
    #expect(names == ["a1", "b1"] && begun.value.allSatisfy(\.place.isFirst))
    #expect(places.count == 2)
    // The guest's place goes to the first lane that has none; the other one has turns.
    _ = begun.change { $0.remove(at: 1) }
    #expect(names == ["a1", "b2"])
    end()
    #expect(names == ["b2", "a2"])
    end()
    #expect(names == ["a2", "c1"] && begun.value.allSatisfy(\.place.isFirst))
    end()
    #expect(names == ["c1", "a3"])
    enter(places, "c", "c2")
    #expect(names == ["c1", "a3"])
    end()
    #expect(names == ["a3", "c2"])
    end()
    // The second of one lane is not its first.
    enter(places, "c", "c3")
    #expect(names == ["c2", "c3"] && !begun.value[1].place.isFirst)
    end()
    end()
    #expect(places.count == 0)
  }

  @Test
  func guestsHaveAQuarterOfTheMemoryMore() {
    let places = places(4, guests: 2, bytes: 1000)
    enter(places, "a", "a1")
    begun.value[0].place.hold(1249)
    enter(places, "b", "b1")
    #expect(names == ["a1", "b1"])
    begun.value[1].place.hold(1)
    enter(places, "c", "c1")
    #expect(names == ["a1", "b1"])
    begun.value[1].place.hold(0)
    #expect(names == ["a1", "b1", "c1"])
  }

  @Test
  func whoLeavesIsNotCalled() {
    let places = places(1)
    enter(places, "a", "first")
    let number = enter(places, "a", "second")
    enter(places, "a", "third")
    if let number { places.leave("a", number) }
    end()
    #expect(names == ["third"])
    end()
    #expect(places.count == 0)
  }

  @Test
  func noImageBeginsWhilePicturesTakeUpTheMemory() {
    let places = places(4, bytes: 1000)
    enter(places, "a", "large")
    begun.value[0].place.hold(1000)
    enter(places, "a", "small")
    #expect(names == ["large"])
    // Smaller by a processor.
    begun.value[0].place.hold(999)
    #expect(names == ["large", "small"])
    end()
    // One that is larger than all memory is alone.
    begun.value[0].place.hold(5000)
    enter(places, "b", "next")
    #expect(names == ["small"])
    end()
    #expect(names == ["next"])
  }

  @Test
  func moreThanMayWaitAreRefused() {
    let places = places(1, waiting: 1)
    enter(places, "a", "first")
    enter(places, "a", "second")
    guard case .full = places.enter("b", { _ in }) else {
      Issue.record("there was a place")
      return
    }
    end()
    #expect(names == ["second"])
  }

  // MARK: In a pipeline

  private static func request(
    _ number: Int,
    _ gate: Gate<Void>,
    _ entered: Counter,
    fails: Bool = false,
  ) -> ImageRequest {
    var request = ImageRequest(.data(TestPicture.png, id: "\(number)"))
    request.processors = [
      .custom(id: "held \(fails)") { bitmap in
        entered.increase()
        gate.wait()
        if fails { throw CancellationError() }
        return bitmap
      }
    ]
    return request
  }

  @Test
  func noMoreThanTwiceTheDecodesAreMadeAtOnce() async throws {
    let pipeline = ImagePipeline.testing { ($0.maxConcurrentDecodes, $0.memoryCache, $0.diskCache) = (1, nil, nil) }
    let (gate, entered) = (Gate<Void>(), Counter())
    let tasks = (0..<8).map { number in
      Task {
        try await pipeline.encoded(for: Self.request(number, gate, entered, fails: number == 5), as: .png()).data
      }
    }
    await entered.reaches(1)
    // One is processed, one is decoded and waits; the others wait for their places.
    try await until { pipeline.makingCount == 2 }
    try await until { pipeline.loadCount > 8 }
    tasks[7].cancel()
    gate.open()
    for (number, task) in tasks.enumerated() {
      let data = try? await task.value
      #expect((data == nil) == (number == 5 || number == 7) || number == 7, "\(number)")
    }
    try await until { pipeline.makingCount == 0 }
    #expect(pipeline.loadCount == 0)
  }

  /// One client's images are held in their processor; another's is made all the same, by every kind of step.
  @Test
  func anImageOfAnotherLaneDoesNotWait() async throws {
    let pipeline = ImagePipeline.testing { ($0.maxConcurrentDecodes, $0.memoryCache, $0.diskCache) = (1, nil, nil) }
    let (gate, entered) = (Gate<Void>(), Counter())
    let tasks = (0..<8).map { number in
      var request = Self.request(number, gate, entered)
      request.lane = "greedy"
      return Task { [request] in try await pipeline.encoded(for: request, as: .png().metadata(.keep)).data }
    }
    await entered.reaches(1)
    try await until { pipeline.makingCount == 2 }
    var other = ImageRequest(.data(TestPicture.png, id: "other"), size: .pixels(2, 2))
    other.processors = [.custom(id: "through") { $0 }]
    other.lane = "modest"
    // It would never come behind the others.
    let image = try await pipeline.encoded(for: other, as: .png().metadata(.keep))
    #expect(image.width == 2)
    gate.open()
    for task in tasks { _ = try await task.value }
    try await until { pipeline.makingCount == 0 }
  }

  /// One decode, whose picture many processors enlarge.
  @Test
  func variantsOfOnePictureHaveAPlaceEach() async throws {
    let pipeline = ImagePipeline.testing { ($0.maxConcurrentDecodes, $0.memoryCache, $0.diskCache) = (1, nil, nil) }
    let (gate, entered) = (Gate<Void>(), Counter())
    let tasks = (0..<8).map { number in
      var request = ImageRequest(.data(TestPicture.png, id: "one"))
      request.processors = [
        .custom(id: "first \(number)") { bitmap in
          entered.increase()
          return bitmap
        },
        .custom(id: "second") { bitmap in
          gate.wait()
          return bitmap
        },
      ]
      return Task { [request] in try await pipeline.encoded(for: request, as: .png()).data }
    }
    try await until { pipeline.makingCount == 2 }
    await entered.reaches(1)
    gate.open()
    for task in tasks { _ = try await task.value }
    #expect(entered.count == 8)
    try await until { pipeline.makingCount == 0 }
  }

  @Test
  func anImageThatACallerKeepsTakesNoPlace() async throws {
    let pipeline = ImagePipeline.testing { ($0.maxConcurrentDecodes, $0.diskCache) = (1, nil) }
    let (gate, entered) = (Gate<Void>(), Counter())
    let request = Self.request(0, gate, entered)
    let file = Task { try await pipeline.encoded(for: request, as: .png()) }
    await entered.reaches(1)
    // It waits for the same picture.
    let image = Task { try await pipeline.image(for: request) }
    try await until { pipeline.loadCount >= 3 }
    gate.open()
    let kept = try await image.value
    _ = try await file.value
    try await until { pipeline.makingCount == 0 }
    withExtendedLifetime(kept) {}
  }
}
