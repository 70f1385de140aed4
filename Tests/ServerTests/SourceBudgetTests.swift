import Testing
import VitrineHTTP
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineServing

@Suite
struct SourceBudgetTests {
  private let loader = FakeLoader()
  private let cat = "http://images.invalid/cat.jpg"
  private let dog = "http://images.invalid/dog.jpg"

  private func load(_ url: String, _ budget: SourceBudget) async throws(HTTPError) -> Int {
    try await BudgetedLoader(loader, budget).data(for: try HTTPRequest(url)).1.count
  }

  @Test
  func whatExceedsTheBudgetIsRefusedUntilOthersEnd() async throws {
    let budget = SourceBudget(limit: 1000)
    for url in [cat, dog] { loader.answer(url, with: Data(count: 600)) }
    budget.begin(cat, for: "a")
    #expect(try await load(cat, budget) == 600)
    budget.begin(dog, for: "a")
    let error = await #expect(throws: HTTPError.self) { try await load(dog, budget) }
    #expect(error?.code == .overloaded)
    budget.end(dog)
    #expect(budget.byteCount == 600)
    budget.end(cat)
    #expect(budget.byteCount == 0)
    budget.begin(dog, for: "a")
    #expect(try await load(dog, budget) == 600)
    budget.end(dog)
    #expect(budget.byteCount == 0)
  }

  /// The load of the one who holds the most ends, not that of the one who comes last.
  @Test
  func aClientWithManySourcesGivesWayToAnother() async throws {
    let budget = SourceBudget(limit: 1000)
    let urls = (0..<3).map { "http://images.invalid/\($0)" }
    let sinks = try urls.map { url in
      budget.begin(url, for: "greedy")
      let sink = RecordingSink()
      BudgetedLoader(loader, budget).load(try HTTPRequest(url), into: sink)
      return sink
    }
    var loads: [FakeLoad] = []
    for (index, url) in urls.enumerated() {
      let load = try await loader.nextLoad(of: url)
      load.respond()
      load.send(Data(count: 300 + index))
      loads.append(load)
    }
    // More of the same client does not fit.
    loader.answer(dog, with: Data(count: 200))
    budget.begin(dog, for: "greedy")
    let error = await #expect(throws: HTTPError.self) { try await load(dog, budget) }
    #expect(error?.code == .overloaded)
    budget.end(dog)
    // Another client's does, in the place of the largest.
    loader.answer(cat, with: Data(count: 200))
    budget.begin(cat, for: "modest")
    #expect(try await load(cat, budget) == 200)
    #expect(await sinks[2].end() == .overloaded)
    #expect(budget.byteCount == 801)
    loads[0].send(Data(count: 10))
    loads[0].finish()
    #expect(await sinks[0].end() == nil)
    for url in urls + [cat] { budget.end(url) }
    #expect(budget.byteCount == 0)
  }

  @Test
  func namesThatLookTheSameAreTwoSources() async throws {
    let budget = SourceBudget(limit: 1000)
    for name in ["caf\u{E9}", "cafe\u{301}"] { budget.begin(name, for: "a") }
    budget.end("caf\u{E9}")
    let started = Watched(0)
    budget.whenThereIsRoom(for: "cafe\u{301}") { started.change { $0 += 1 } }
    #expect(started.value == 1)
  }

  @Test
  func aSourceCountsUntilItsLastUserEnds() async throws {
    let budget = SourceBudget(limit: 1000)
    loader.answer(cat, with: Data(count: 600))
    for _ in 0..<2 { budget.begin(cat, for: "a") }
    _ = try await load(cat, budget)
    budget.end(cat)
    #expect(budget.byteCount == 600)
    budget.end(cat)
    #expect(budget.byteCount == 0)
  }

  @Test
  func oneSourceFitsHoweverLarge() async throws {
    let budget = SourceBudget(limit: 100)
    loader.answer(cat, with: Data(count: 600))
    budget.begin(cat, for: "a")
    #expect(try await load(cat, budget) == 600)
    budget.end(cat)
  }

  @Test
  func sourcesThatCanWaitTakePlacesInTurn() {
    let budget = SourceBudget(limit: 1000, places: 1)
    let started = Watched<[String]>([])
    func ask(_ url: String) { budget.whenThereIsRoom(for: url) { started.change { $0.append(url) } } }
    for url in [cat, cat, dog, "bird"] { budget.begin(url, for: "a") }
    ask(cat)
    ask(dog)
    // The place is the source's.
    ask(cat)
    // A revalidation in the background has no user, and waits for nobody.
    ask("fish")
    #expect(started.value == [cat, cat, "fish"])
    ask("bird")
    budget.end(cat)
    #expect(started.value.count == 3)
    budget.end(cat)
    #expect(started.value == [cat, cat, "fish", dog])
    // It does not wait any more, and takes no place.
    budget.end("bird")
    #expect(started.value == [cat, cat, "fish", dog, "bird"])
    budget.end(dog)
    budget.begin(cat, for: "a")
    ask(cat)
    #expect(started.value.last == cat)
  }

  @Test
  func aClientWithoutAPlaceDoesNotWaitForAnothers() {
    let budget = SourceBudget(limit: 1000, places: 2, guestPlaces: 1)
    let started = Watched<[String]>([])
    func ask(_ url: String, _ client: ByteString) {
      budget.begin(url, for: client)
      budget.whenThereIsRoom(for: url) { started.change { $0.append(url) } }
    }
    for number in 1...4 { ask("a\(number)", "a") }
    #expect(started.value == ["a1", "a2"])
    for url in ["b1", "b2"] { ask(url, "b") }
    ask("c1", "c")
    #expect(started.value == ["a1", "a2", "b1"])
    // There is a third one as long as it is the guest's.
    budget.end("a1")
    #expect(started.value == ["a1", "a2", "b1", "c1"])
    budget.end("b1")
    #expect(started.value == ["a1", "a2", "b1", "c1", "b2"])
    for url in ["c1", "b2"] { budget.end(url) }
    #expect(started.value == ["a1", "a2", "b1", "c1", "b2", "a3"])
    budget.end("a2")
    #expect(started.value.last == "a4")
  }
}
