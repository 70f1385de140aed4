import Testing
import VitrineHTTP
import VitrineRuntime
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
    budget.begin(cat)
    #expect(try await load(cat, budget) == 600)
    budget.begin(dog)
    let error = await #expect(throws: HTTPError.self) { try await load(dog, budget) }
    #expect(error?.code == .overloaded)
    budget.end(dog)
    #expect(budget.byteCount == 600)
    budget.end(cat)
    #expect(budget.byteCount == 0)
    budget.begin(dog)
    #expect(try await load(dog, budget) == 600)
    budget.end(dog)
    #expect(budget.byteCount == 0)
  }

  @Test
  func aSourceCountsUntilItsLastUserEnds() async throws {
    let budget = SourceBudget(limit: 1000)
    loader.answer(cat, with: Data(count: 600))
    for _ in 0..<2 { budget.begin(cat) }
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
    budget.begin(cat)
    #expect(try await load(cat, budget) == 600)
    budget.end(cat)
  }

  @Test
  func sourcesThatCanWaitTakePlacesInTurn() {
    let budget = SourceBudget(limit: 1000, places: 1)
    let started = Watched<[String]>([])
    func ask(_ url: String) { budget.whenThereIsRoom(for: url) { started.change { $0.append(url) } } }
    for url in [cat, cat, dog, "bird"] { budget.begin(url) }
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
    budget.begin(cat)
    ask(cat)
    #expect(started.value.last == cat)
  }
}
