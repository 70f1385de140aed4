import Testing
import VitrineTestSupport
@testable import Vitrine
import VitrineImaging
import VitrineRuntime
import VitrineTesting

/// Every order of what can happen to two requests on one slot, against a model.
@MainActor
struct SlotOrderTests {
  private typealias Memory = SlotSetup.Memory
  private typealias Stand = SlotSetup.Stand

  /// Plays an order, and says what went wrong, if anything did.
  private func play(_ order: [SlotEvent], _ setup: SlotSetup, _ requests: [String: ImageRequest]) -> String? {
    let loading = FakeLoading()
    for (name, memory) in setup.memory where memory != .miss {
      loading[memory: name] = .of(name, origin: .memory, isStale: memory == .stale)
    }
    let mailbox = FrameMailbox.manual()
    let slot = ImageSlot(loader: loading, mailbox: mailbox)
    let screen = Screen()
    slot.display = screen
    slot.showsPreviews = true
    slot.whenLeft = setup.whenLeft
    var model = SlotModel(setup)

    func apply(_ event: SlotEvent) -> String? {
      switch event {
      case .bind(let name): slot.load(requests[name], placeholder: setup.placeholder(name), failure: .symbol(name))
      case .preview(let name): loading.oldest(name)?.send(.preview(.tagged(name, 0)))
      case .end(let name, let version):
        guard let load = loading.oldest(name) else { break }
        if let version { loading[memory: name] = .of(name, version: version, origin: .memory) }
        load.end(version)
      case .hop: mailbox.deliver()
      case .hide: slot.isVisible = false
      case .show: slot.isVisible = true
      case .reuse: slot.prepareForReuse()
      case .cancel: slot.cancel()
      case .retry: slot.retry()
      case .elsewhere(let name):
        guard let request = requests[name] else { break }
        mailbox.failedSlots.loaded(request, by: loading, mailbox)
      }
      model.apply(event)
      return complaint(screen, loading, model)
    }

    var played: [SlotEvent] = []
    // Whatever the order, in the end everything has come.
    for event in order + [.show, .hop] {
      played.append(event)
      if let complaint = apply(event) { return "\(setup): \(played): \(complaint)" }
    }
    for load in loading.loads where !load.isEnded {
      let event = SlotEvent.end(load.name, 3)
      played.append(event)
      if let complaint = apply(event) ?? apply(.hop) { return "\(setup): \(played): \(complaint)" }
    }
    if let complaint = finalComplaint(screen, model) { return "\(setup): \(played): \(complaint)" }
    return nil
  }

  /// What differs from the model, and what may never be, whatever the model says.
  private func complaint(_ screen: Screen, _ loading: FakeLoading, _ model: SlotModel) -> String? {
    if screen.seen != model.screen { return "\(screen.seen) instead of \(model.screen)" }
    guard loading.loads.count == model.loads.count else {
      return "\(loading.loads.count) loads instead of \(model.loads.count)"
    }
    for (load, expected) in zip(loading.loads, model.loads) {
      if load.isCancelled != expected.isCancelled { return "cancelled: \(load.isCancelled) for \(expected.name)" }
      if (load.priority < .normal) != expected.isLowered { return "\(load.priority) for \(expected.name)" }
    }
    if model.setup.whenLeft == .cancel, loading.loads.count(where: { !$0.isCancelled && !$0.isEnded }) > 1 {
      return "two loads are under way"
    }
    guard model.setup.stand != .keepCurrent, let wanted = model.wanted else { return nil }
    switch screen.seen {
    case .nothing, .placeholder(wanted), .preview(wanted), .image(wanted, _, _), .failure(wanted): return nil
    default: return "\(screen.seen), but \(wanted) is wanted"
    }
  }

  private func finalComplaint(_ screen: Screen, _ model: SlotModel) -> String? {
    guard let wanted = model.wanted else { return nil }
    switch screen.seen {
    case .image(wanted, _, _), .failure(wanted): return nil
    default: return "\(screen.seen) in the end"
    }
  }

  private func check(_ lanes: [[SlotEvent]], expected: Int, _ setups: [SlotSetup]) async {
    await check(orders: interleavings(lanes), expected: expected, setups)
  }

  private func check(orders: [[SlotEvent]], expected: Int, _ setups: [SlotSetup]) async {
    #expect(orders.count == expected)
    let requests = ["A": ImageRequest.named("A"), "B": .named("B")]
    var complaints: [String] = []
    for setup in setups {
      for (index, order) in orders.enumerated() {
        if let complaint = play(order, setup, requests) { complaints.append(complaint) }
        // Other tests of the main actor want their turn, too.
        if index % 100 == 0 { await Task.yield() }
      }
    }
    let summary = "\(complaints.count) of \(orders.count * setups.count) orders: \(complaints.prefix(3))"
    #expect(complaints.count == 0, "\(summary)")
  }

  nonisolated private static let outcomes: [Int?] = [1, 2, nil]

  @Test(arguments: Memory.allCases, Memory.allCases)
  private func twoBindsAndTheirEndsInEveryOrder(a: Memory, b: Memory) async {
    let setups = Stand.allCases.map { SlotSetup(memory: ["A": a, "B": b], stand: $0) }
    for first in Self.outcomes {
      for second in Self.outcomes {
        let lanes: [[SlotEvent]] = [[.bind("A"), .end("A", first)], [.bind("B"), .end("B", second)], [.hop, .hop]]
        await check(lanes, expected: 90, setups)
      }
    }
  }

  @Test(arguments: outcomes, outcomes)
  func previewsInEveryOrder(first: Int?, second: Int?) async {
    let setups = Stand.allCases.map { SlotSetup(stand: $0) } + [SlotSetup(memory: ["B": .stale], stand: .keepCurrent)]
    await check(
      [
        [.bind("A"), .preview("A"), .end("A", first)], [.bind("B"), .preview("B"), .end("B", second)], [.hop, .hop],
      ],
      expected: 560,
      setups,
    )
  }

  @Test(arguments: outcomes, [ImageSlot.Leaving.cancel, .lower, .keepGoing])
  func hidingAndShowingInEveryOrder(first: Int?, leaving: ImageSlot.Leaving) async {
    let setups = [Memory.miss, .stale].flatMap { memory in
      [Stand.keepCurrent, .symbol].map { SlotSetup(memory: ["A": memory], stand: $0, whenLeft: leaving) }
    }
    for second in [2, nil] {
      let lanes: [[SlotEvent]] = [
        [.bind("A"), .end("A", first)], [.bind("B"), .end("B", second)], [.hop], [.hide, .show],
      ]
      await check(lanes, expected: 630, setups)
    }
  }

  @Test(arguments: [SlotEvent.cancel, .reuse, .bind("A")], [ImageSlot.Leaving.cancel, .lower, .keepGoing])
  func cancellingReusingAndBindingAgainInEveryOrder(event: SlotEvent, leaving: ImageSlot.Leaving) async {
    let setups = [Stand.keepCurrent, .symbol].map { SlotSetup(stand: $0, whenLeft: leaving) }
    for first in Self.outcomes {
      let lanes: [[SlotEvent]] = [
        [.bind("A"), .end("A", first)], [.bind("B"), .end("B", 2)], [.hop, .hop], [event],
      ]
      await check(lanes, expected: 630, setups)
    }
  }

  @Test(arguments: outcomes)
  func thereAndBackAgainInEveryOrder(outcome: Int?) async {
    let setups = Stand.allCases.map { SlotSetup(stand: $0) }
    let lanes: [[SlotEvent]] = [
      [.bind("A"), .bind("B"), .bind("A")], [.end("A", outcome), .preview("A"), .end("A", 2)], [.end("B", 1)],
      [.hop, .hop],
    ]
    await check(lanes, expected: 5_040, setups)
  }

  @Test(arguments: [SlotEvent.retry, .elsewhere("A")], Memory.allCases)
  private func tryingAgainInEveryOrder(event: SlotEvent, memory: Memory) async {
    let setups = Stand.allCases.map { SlotSetup(memory: ["A": memory], stand: $0) }
    for second in Self.outcomes {
      let lanes: [[SlotEvent]] = [
        [.bind("A"), .end("A", nil), .hop, event, .hop], [.end("A", second)], [.hide, .show],
      ]
      await check(lanes, expected: 168, setups)
      let others: [[SlotEvent]] = [
        [.bind("A"), .end("A", nil), .hop, event, .bind("B")], [.end("A", second), .hop],
      ]
      await check(others, expected: 21, setups)
    }
  }

  @Test
  func everyShortSequenceAfterAFailure() async {
    let events: [SlotEvent] = [
      .bind("A"), .bind("B"), .end("A", 2), .end("A", nil), .hop, .hide, .show, .reuse, .cancel, .retry,
      .elsewhere("A"),
    ]
    var sequences: [[SlotEvent]] = [[.bind("A"), .end("A", nil), .hop]]
    for _ in 0..<4 { sequences = sequences.flatMap { sequence in events.map { sequence + [$0] } } }
    await check(orders: sequences, expected: 14_641, [SlotSetup(stand: .symbol), SlotSetup(stand: .keepCurrent)])
  }

  @Test
  func everyShortSequenceOfEvents() async {
    let events: [SlotEvent] = [
      .bind("A"), .bind("B"), .preview("A"), .end("A", 2), .end("A", nil), .end("B", 2), .hop, .hide, .show, .reuse,
      .cancel,
    ]
    var sequences: [[SlotEvent]] = [[.bind("A")], [.bind("B")]]
    for _ in 1..<5 { sequences = sequences.flatMap { sequence in events.map { sequence + [$0] } } }
    await check(orders: sequences, expected: 29_282, [SlotSetup(memory: ["B": .stale], stand: .keepCurrent)])
  }
}

/// All orders of the elements of several lanes, each lane in its own order.
func interleavings<Element>(_ lanes: [[Element]]) -> [[Element]] {
  guard lanes.contains(where: { !$0.isEmpty }) else { return [[]] }
  return lanes.indices.flatMap { index -> [[Element]] in
    var rest = lanes
    guard !rest[index].isEmpty else { return [] }
    let first = rest[index].removeFirst()
    return interleavings(rest).map { [first] + $0 }
  }
}
