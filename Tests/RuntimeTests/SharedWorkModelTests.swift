import Testing
import VitrineRuntime
import VitrineTestSupport

/// Shared work against a model that says who receives what, over random steps of one thread.
struct SharedWorkModelTests {
  @Test(arguments: 0..<200 as Range<UInt64>)
  func eachSubscriberReceivesItsEventsInOrder(seed: UInt64) {
    let history = SharedHistory(seed)
    for _ in 0..<400 { history.step() }
    history.finish()
    #expect(history.faults == [], "seed \(seed)")
  }

  @Test
  func theModelReachesEveryKindOfStep() {
    var counts: [String: Int] = [:]
    for seed in 1000..<1020 as Range<UInt64> {
      let history = SharedHistory(seed)
      for _ in 0..<400 { history.step() }
      history.finish()
      counts.merge(history.counts, uniquingKeysWith: +)
    }
    let kinds = [
      "join", "start", "leave", "cancel", "priority", "watch", "progress", "partial", "end", "nested",
      "finished", "keep", "cancel all", "late end", "go on",
    ]
    for kind in kinds { #expect(counts[kind, default: 0] > 20, "\(kind)") }
  }
}

private typealias Work = SharedWork<Int, Int, SharedFailure>

private struct SharedFailure: Error, Equatable { let number: Int }

/// Runs the parts of tasks one by one.
// @unchecked: one thread, that of the test, uses it.
private final class Steps: TaskExecutor, @unchecked Sendable {
  private var jobs: [UnownedJob] = []
  var count: Int { jobs.count }

  func enqueue(_ job: consuming ExecutorJob) { jobs.append(UnownedJob(job)) }

  func run(_ index: Int) {
    let job = jobs.remove(at: index)
    unsafe job.runSynchronously(on: asUnownedTaskExecutor())
  }
}

/// What is to happen, and what the model says of it.
// @unchecked: one thread, that of the test, uses it.
private final class SharedHistory: @unchecked Sendable {
  private enum Told: Equatable {
    case progress(Int, Int)
    case partial(Int)
    case finished(Result<Int, SharedFailure>)
  }

  // @unchecked, like the next: one thread, that of the test, uses it.
  private final class Member: @unchecked Sendable {
    let run: Run
    var priority: Priority
    var isWatching: Bool
    var isActive = true
    var subscription: SharedWorkSubscription<Int, Int, SharedFailure>?
    /// What it has yet to receive; those that were sent before it watched need not come.
    var expected: [(told: Told, isCertain: Bool)] = []

    init(_ run: Run, _ priority: Priority, isWatching: Bool) {
      (self.run, self.priority, self.isWatching) = (run, priority, isWatching)
    }
  }

  // @unchecked: see above.
  private final class Run: @unchecked Sendable {
    let key: Int
    /// The first task of the work ends long before the work.
    let outlivesTask: Bool
    let gate = Deferred<Result<Int, SharedFailure>>()
    var handle: WorkHandle<Int, Int, SharedFailure>?
    var members: [Member] = []
    var progress: (Int, Int)?
    var (hasEnded, isAsked, isKept, isCancelled, sawCancel) = (false, false, false, false, false)
    var toldPriority: Priority?
    /// A call to it is under way, and must be the only one.
    var isTelling = false

    init(_ key: Int, outlivesTask: Bool) { (self.key, self.outlivesTask) = (key, outlivesTask) }

    var active: [Member] { members.filter(\.isActive) }
  }

  // @unchecked: see above.
  private final class Dependency: WorkDependency, @unchecked Sendable {
    let history: SharedHistory
    let run: Run
    let progress: WorkProgress? = nil

    init(_ history: SharedHistory, _ run: Run) { (self.history, self.run) = (history, run) }

    func setDemand(_ demand: WorkDemand?) {
      guard let demand else {
        if !run.isCancelled { history.faults.append("given up, though somebody wants it") }
        return run.sawCancel = true
      }
      if run.isTelling { history.faults.append("two calls told of the priority at once") }
      run.isTelling = true
      run.toldPriority = demand.priority
      history.reenter()
      run.isTelling = false
    }
  }

  private(set) var faults: [String] = []
  private(set) var counts: [String: Int] = [:]
  private var random: SplitMix64
  private let steps = Steps()
  private let work: Work
  private var listed: [Int: Run] = [:]
  private var runs: [Run] = []
  private var members: [Member] = []
  private var depth = 0
  private var number = 0

  init(_ seed: UInt64) {
    random = SplitMix64(seed: seed)
    work = Work(executor: steps)
  }

  private func pick<Element>(_ elements: [Element]) -> Element? { elements.randomElement(using: &random) }

  private func count(_ what: String) { counts[what, default: 0] += 1 }

  func step() {
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<4: join()
    case 4..<6: leave()
    case 6: setPriority()
    case 7: watch()
    case 8..<10: sendProgress()
    case 10..<12: sendPartial()
    case 12..<14: ask()
    case 15 where Int.random(in: 0..<4, using: &random) == 0: keep()
    case 16 where depth == 0 && Int.random(in: 0..<4, using: &random) == 0: cancelAll()
    default: if depth == 0, steps.count > 0 { steps.run(Int.random(in: 0..<steps.count, using: &random)) }
    }
    if depth == 0 { check() }
  }

  func finish() {
    // No more is begun within a call.
    depth = 3
    for run in runs where !run.isAsked {
      run.isAsked = true
      run.gate.resolve(.success(0))
      goOn(run)
    }
    while steps.count > 0 { steps.run(0) }
    check()
    if work.count != 0 { faults.append("\(work.count) runs are left") }
    for run in runs where run.isCancelled && run.handle != nil && !run.sawCancel {
      faults.append("a run was not cancelled")
    }
    for run in runs where !run.active.isEmpty { faults.append("a subscriber was not told of the end") }
  }

  // MARK: Steps

  private func join() {
    let key = Int.random(in: 0..<3, using: &random)
    let run = listed[key] ?? Run(key, outlivesTask: .random(using: &random))
    let isNew = listed[key] == nil
    if isNew {
      listed[key] = run
      runs.append(run)
    }
    count(isNew ? "start" : "join")
    let member = Member(
      run,
      Priority.allCases.randomElement(using: &random) ?? .normal,
      isWatching: .random(using: &random),
    )
    run.members.append(member)
    members.append(member)
    if member.isWatching, let (completed, total) = run.progress {
      member.expected.append((.progress(completed, total), true))
    }
    let demand = WorkDemand(member.priority, member.isWatching ? .partials : .none)
    let subscription = work.subscribe(to: key, demand) { event in
      self.receive(event, member)
    } start: { handle in
      if !isNew || run.handle != nil { self.faults.append("the work of a key began twice") }
      run.handle = handle
      handle.depend(on: Dependency(self, run))
      if run.outlivesTask { return }
      handle.goOn { _ throws(SharedFailure) in try await self.run(run) }
    }
    member.subscription = subscription
  }

  private func run(_ run: Run) async throws(SharedFailure) -> Int {
    let outcome = await withTaskCancellationHandler {
      await run.gate.value()
    } onCancel: {
      run.sawCancel = true
      if !run.isCancelled { self.faults.append("cancelled, though somebody wants it") }
    }
    end(run, outcome)
    return try outcome.get()
  }

  private func end(_ run: Run, _ outcome: Result<Int, SharedFailure>) {
    guard !run.isCancelled else { return }
    count("end")
    run.hasEnded = true
    if listed[run.key] === run { listed[run.key] = nil }
    for member in run.active { member.expected.append((.finished(outcome), true)) }
  }

  private func leave() {
    guard let member = pick(members.filter { $0.isActive && $0.subscription != nil }) else { return }
    count("leave")
    let run = member.run
    (member.isActive, member.expected) = (false, [])
    if run.active.isEmpty, !run.hasEnded, !run.isKept {
      count("cancel")
      run.isCancelled = true
      if listed[run.key] === run { listed[run.key] = nil }
    }
    member.subscription?.cancel()
  }

  private func setPriority() {
    guard let member = pick(members.filter { $0.isActive && $0.subscription != nil }) else { return }
    count("priority")
    member.priority = Priority.allCases.randomElement(using: &random) ?? .low
    member.subscription?.setPriority(member.priority)
  }

  private func watch() {
    guard let member = pick(members.filter { $0.isActive && !$0.isWatching && $0.subscription != nil }) else { return }
    count("watch")
    member.isWatching = true
    if !member.run.hasEnded, let (completed, total) = member.run.progress {
      member.expected.append((.progress(completed, total), true))
    }
    member.subscription?.watch()
  }

  private func sendProgress() {
    guard let run = pick(runs.filter { $0.handle != nil && !$0.hasEnded && !$0.isCancelled }) else { return }
    count("progress")
    number += 1
    run.progress = (number, 10_000)
    expect(.progress(number, 10_000), run)
    run.handle?.send(progress: number, of: 10_000)
  }

  private func sendPartial() {
    guard let run = pick(runs.filter { $0.handle != nil && !$0.hasEnded && !$0.isCancelled }) else { return }
    count("partial")
    number += 1
    expect(.partial(number), run)
    run.handle?.send(partial: number)
  }

  private func expect(_ told: Told, _ run: Run) {
    for member in run.active { member.expected.append((told, member.isWatching)) }
  }

  /// Lets a run end, once it has begun.
  private func ask() {
    guard let run = pick(runs.filter { !$0.isAsked }) else { return }
    run.isAsked = true
    number += 1
    let outcome = Bool.random(using: &random) ? .success(number) : Result.failure(SharedFailure(number: number))
    guard run.outlivesTask, let handle = run.handle, Bool.random(using: &random) else {
      run.gate.resolve(outcome)
      return goOn(run)
    }
    count("late end")
    if !run.hasEnded { end(run, outcome) }
    handle.end(outcome)
  }

  /// Begins another task of a run whose first one has ended.
  private func goOn(_ run: Run) {
    guard run.outlivesTask, let handle = run.handle else { return }
    count("go on")
    handle.goOn { _ throws(SharedFailure) in try await self.run(run) }
  }

  /// Lets a run go on for nobody.
  private func keep() {
    guard let run = pick(runs.filter { $0.handle != nil && !$0.hasEnded && !$0.isCancelled }) else { return }
    count("keep")
    run.isKept = true
    run.handle?.keepRunning()
  }

  private func cancelAll() {
    count("cancel all")
    number += 1
    let outcome = Result<Int, SharedFailure>.failure(SharedFailure(number: number))
    for run in listed.values {
      end(run, outcome)
      run.isCancelled = true
    }
    work.cancelAll(SharedFailure(number: number))
  }

  // MARK: What is received

  private func receive(_ event: Work.Event, _ member: Member) {
    let told: Told =
      switch event {
      case .progress(let completed, let total): .progress(completed, total)
      case .partial(let value): .partial(value)
      case .finished(let result): .finished(result)
      case .identified: preconditionFailure("no work here names an object")
      }
    if !member.isActive { faults.append("\(told) came to one that has left") }
    if let index = member.expected.firstIndex(where: { $0.told == told }) {
      // Who begins to watch while something is being told gets it once or twice.
      for later in member.expected.indices[index...] where member.expected[later].told == told {
        if !member.expected[index].isCertain { member.expected[later].isCertain = false }
      }
      if member.expected[..<index].contains(where: \.isCertain) { faults.append("\(told) came too early") }
      member.expected.removeSubrange(...index)
    } else {
      faults.append("\(told) came, which nobody sent")
    }
    if case .finished = event {
      count("finished")
      member.isActive = false
    }
    reenter()
  }

  /// Does something within a call.
  private func reenter() {
    guard depth < 3, Int.random(in: 0..<3, using: &random) == 0 else { return }
    depth += 1
    count("nested")
    step()
    depth -= 1
  }

  /// Checks what must hold when no call is under way.
  private func check() {
    for member in members where member.isActive && member.expected.contains(where: \.isCertain) {
      faults.append("\(member.expected) did not come")
    }
    for run in runs where run.handle != nil && !run.hasEnded && !run.isCancelled {
      guard let highest = run.active.map(\.priority).max() else { continue }
      if run.toldPriority != highest || run.handle?.priority != highest { faults.append("another priority was told") }
    }
    for key in 0..<3 where work.isRunning(key) != (listed[key] != nil) { faults.append("\(key) is listed wrongly") }
    members.removeAll { !$0.isActive }
  }
}
