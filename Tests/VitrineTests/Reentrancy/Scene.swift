import Testing
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import Vitrine

/// A pipeline with a task whose hook is to act, a bystander that is being loaded, and an unrelated request that is
/// begun while the hook acts and must end before a hook that blocks does.
final class Scene: Sendable {
  private struct State {
    var isCalled = false
    var hasActed = false
    var records: [TaskRecord] = []
    var endedCount = 0
    var isUnrelatedEnded = false
    /// What an action has begun beside loads.
    var errands = 0
    var failures: [String] = []
    var request = Scene.request("subject")
    var subject: Grip?
    var bystander: Grip?
    var unrelated = Scene.request("unrelated")
    var owner: Owner?
  }

  /// The one of this process, for its watchdog.
  static let latest = Lock<Scene?>(nil)

  let action: Action
  let trigger: Trigger
  let parts: PipelineParts
  let pipeline: ImagePipeline
  private let state = Watched(State())
  private let called = Gate()
  private let unrelatedEnded = Gate()
  private let bystanderLoad: FakeLoad

  /// Makes a pipeline whose hooks pull `trigger`, which does nothing yet, and begins to load the bystander.
  init(
    _ action: Action,
    _ trigger: Trigger,
    _ parts: PipelineParts = PipelineParts(),
    _ configure: (inout ImagePipeline.Configuration) -> Void = { _ in },
  ) async throws {
    (self.action, self.trigger, self.parts) = (action, trigger, parts)
    pipeline = .testing(parts) {
      $0.maxConcurrentDecodes = 2
      configure(&$0)
    }
    for name in ["another", "last", "unrelated"] { try Self.answer(name, parts.loader) }
    let record = TaskRecord("bystander")
    let (pipeline, state) = (pipeline, state)
    let load = pipeline.startLoading(Self.request("bystander"), isWatching: true, in: nil) { event in
      Self.note(event, record, state)
    }
    state.change { state in
      state.records.append(record)
      state.bystander = Grip(load)
    }
    bystanderLoad = try await parts.loader.nextLoad(of: Self.url("bystander"))
    Self.latest.withLock { $0 = self }
  }

  // MARK: What is loaded

  static func url(_ name: String) -> String { "https://example.org/\(name).png" }

  static func request(_ name: String) -> ImageRequest { ImageRequest(url: url(name), size: .pixels(4, 4)) }

  /// Small, since a thousand processes make one.
  private static let picture = Result { try Bitmap.testPattern(width: 8, height: 6).encoded(as: .png) }

  static func file() throws -> Data { try picture.get() }

  static let headers: HTTPFields = ["ETag": "\"1\"", "Cache-Control": "max-age=60"]

  private static func answer(_ name: String, _ loader: FakeLoader) throws {
    loader.answer(url(name), with: try file(), headers: headers)
  }

  /// Answers every load of an address from now on.
  func answer(_ name: String) throws { try Self.answer(name, parts.loader) }

  /// What the hook belongs to, and what is asked for again by ``Action/loadsTheSame``.
  var request: ImageRequest {
    get { state.value.request }
    set { state.change { $0.request = newValue } }
  }

  /// The task whose hook is called; while nobody has it, it goes by its request.
  var subject: Grip {
    get { state.value.subject ?? Grip(cancel: { [pipeline, request] in pipeline.cancel(for: request) }) }
    set { state.change { $0.subject = newValue } }
  }

  var bystander: Grip { state.value.bystander ?? Grip(cancel: {}) }

  // MARK: What is done

  /// Lets the next call of the hook act.
  func arm() {
    if action == .dropsWhatCancelsAndLoads {
      let owner = Owner(self)
      state.change { $0.owner = owner }
    }
    let hasThread = startThread(named: "unrelated") { [self] in
      // Whoever waits for the hook for ever, the watchdog ends.
      guard called.wait(atMost: .seconds(3600)) else { return }
      load(state.value.unrelated, as: "unrelated") { [self] event in
        guard case .finished = event else { return }
        unrelatedEnded.open()
        state.change { $0.isUnrelatedEnded = true }
      }
    }
    #expect(hasThread)
    trigger.arm { [self] in
      state.change { $0.isCalled = true }
      called.open()
      action.run(in: self)
      state.change { $0.hasActed = true }
    }
  }

  /// Begins a load whose events are recorded, and handed on to `then`.
  @discardableResult
  func load(
    _ request: ImageRequest,
    as name: String,
    in pipeline: ImagePipeline? = nil,
    scope: LoadScope? = nil,
    isWatching: Bool = true,
    then: @escaping @Sendable (ImageEvent) -> Void = { _ in },
  ) -> any RunningLoad {
    let (state, note) = (state, record(name))
    return (pipeline ?? self.pipeline).startLoading(request, isWatching: isWatching, in: scope) { event in
      note(event)
      then(event)
      if case .finished = event { state.change { $0.endedCount += 1 } }
    }
  }

  /// Begins the load that the hook belongs to.
  func begin(in scope: LoadScope? = nil, then: @escaping @Sendable (ImageEvent) -> Void = { _ in }) {
    subject = Grip(load(request, as: "subject", scope: scope, then: then))
  }

  /// Begins it with a completion instead of an observer.
  func beginWithCompletion(_ then: @escaping @Sendable () -> Void) {
    let (state, note) = (state, record("subject"))
    let task = pipeline.loadImage(for: request) { result in
      note(.finished(result))
      then()
      state.change { $0.endedCount += 1 }
    }
    subject = Grip(task)
  }

  /// Notes what a task of its own tells; its end counts when ``ended()`` says so.
  func record(_ name: String) -> @Sendable (ImageEvent) -> Void {
    let record = TaskRecord(name)
    state.change { $0.records.append(record) }
    return { record.note($0) }
  }

  func ended() { state.change { $0.endedCount += 1 } }

  private static func note(_ event: ImageEvent, _ record: TaskRecord, _ state: Watched<State>) {
    record.note(event)
    if case .finished = event { state.change { $0.endedCount += 1 } }
  }

  /// Does something whose end is waited for.
  func whileAtIt(_ errand: @escaping @Sendable () async -> Void) {
    state.change { $0.errands += 1 }
    let state = state
    Task {
      await errand()
      state.change { $0.errands -= 1 }
    }
  }

  /// Released with no lock of this test's held.
  func dropOwner() { _ = state.change { $0.owner.take() } }

  /// Blocks the hook until the unrelated request has ended.
  func block() {
    guard !unrelatedEnded.wait(atMost: .seconds(60)) else { return }
    state.change { $0.failures.append("the unrelated request waited for the hook that blocked") }
  }

  // MARK: How it ends

  /// Waits until the hook has been called and has done what it does.
  func hasActed() async { await state.wait { $0.hasActed } }

  /// Waits until everything has come to its end, and verifies how.
  func end() async throws {
    await hasActed()
    await state.wait { $0.isUnrelatedEnded }
    send(to: bystanderLoad)
    await state.wait { $0.endedCount >= $0.records.count && $0.errands == 0 }
    await pipeline.cache.flush()
    // A load may be about to leave the table.
    try await until { pipeline.loadCount == 0 }
    let last = state.value
    for complaint in last.records.compactMap(\.complaint) + last.failures { Issue.record("\(complaint)") }
  }

  /// Whether a task has not ended.
  func isWaiting(_ name: String) -> Bool { state.value.records.contains { $0.name == name && !$0.isEnded } }

  /// For whoever looks at one that hangs.
  var whereItStands: String {
    let state = state.value
    let waiting = state.records.filter { !$0.isEnded }.map { "'\($0.name)'" }.joined(separator: ", ")
    let hook = state.hasActed ? "has acted" : state.isCalled ? "does not come back from its action" : "was never called"
    return "the hook \(hook); not ended: \(waiting.isEmpty ? "nothing" : waiting)"
  }
}
