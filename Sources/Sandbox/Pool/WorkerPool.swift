import VitrineImaging
import VitrineRuntime

/// The workers of a sandbox: some decode, some wait, and one more is started before it is needed.
///
/// Those of a group decode as many images at once as there may be processes. Beyond that number, the last process of each
/// kind stays, so that images of several formats in turn do not start processes all the time.
final class WorkerPool: Sendable {
  private struct Workers {
    var idle: [WorkerProcess] = []
    /// The number of processes, idle, busy or being started.
    var count = 0
    /// Those being started.
    var starting = 0

    /// Takes the idle worker that has the animation of a session, or else one that has none, or else any.
    ///
    /// A session is not given a worker with another's animation if there will be one without: that other would decode
    /// all its frames again.
    mutating func takeIdle(for session: FrameSession?, mayStart: Bool) -> WorkerProcess? {
      func last(_ has: (FrameSession?) -> Bool) -> Int? {
        idle.lastIndex { worker in has(worker.state.withLock { $0.session }) }
      }
      var index = (session == nil ? nil : last { $0 == session }) ?? last { $0 == nil }
      let willBeMore = starting > 0 || mayStart
      if index == nil, session == nil || !willBeMore { index = idle.indices.last }
      return index.map { idle.remove(at: $0) }
    }

    mutating func willStart() { (count, starting) = (count + 1, starting + 1) }

    mutating func hasFailed() { (count, starting) = (count - 1, starting - 1) }
  }

  private struct State {
    var workers: [WorkerKind: Workers] = [:]
    var counts = Sandbox.Counts()
    var missingLayers: Set<Sandbox.Layer> = []
    /// The processes that are ready, idle or busy.
    var identifiers: Set<pid_t> = []

    /// The number of processes of the group of a kind.
    func count(with kind: WorkerKind) -> Int { workers(with: kind).reduce(0) { $0 + $1.count } }

    /// The number of those that decode, or are being started.
    func busyCount(with kind: WorkerKind) -> Int { workers(with: kind).reduce(0) { $0 + $1.count - $1.idle.count } }

    private func workers(with kind: WorkerKind) -> [Workers] {
      workers.filter { $0.key.group == kind.group }.map(\.value)
    }

    /// Removes an idle worker of the group of a kind that is not the last of its own kind, the longest idle one of it.
    mutating func removeSpare(with kind: WorkerKind) -> WorkerProcess? {
      let kinds = WorkerKind.allCases.filter { $0.group == kind.group && $0 != kind }
      let spares = kinds.filter { workers[$0].map { $0.count > 1 && !$0.idle.isEmpty } ?? false }
      let most = spares.max { workers[$0]?.idle.count ?? 0 < workers[$1]?.idle.count ?? 0 }
      return most.flatMap { workers[$0]?.idle.removeFirst() }
    }
  }

  let path: ByteString
  private let configuration: Sandbox.Configuration
  private let monitor = Monitor(State())
  /// Starts processes ahead of need, and waits for the ends of those that are not needed any more.
  private let background = WorkQueue(label: "vitrine.sandbox", width: 1)

  init(_ path: ByteString, _ configuration: Sandbox.Configuration) {
    (self.path, self.configuration) = (path, configuration)
  }

  var counts: Sandbox.Counts {
    monitor.withLock { state in
      var counts = state.counts
      counts.processes = state.workers.values.reduce(0) { $0 + $1.count }
      return counts
    }
  }

  var processIdentifiers: [pid_t] { monitor.withLock { $0.identifiers.sorted() } }

  /// The layers that workers of the pool lack.
  var missingLayers: Set<Sandbox.Layer> { monitor.withLock { $0.missingLayers } }

  func count(_ change: (inout Sandbox.Counts) -> Void) {
    monitor.withLock { state in change(&state.counts) }
  }

  /// Returns an idle worker, or a new one; waits while there are as many as there may be.
  ///
  /// The worker that decoded a frame of `session` last is the first choice, and one that decoded no frame the second.
  /// `check` is called now and then meanwhile; it throws to stop.
  func take(
    _ kind: WorkerKind,
    _ session: FrameSession? = nil,
    check: () throws(ImageError) -> Void,
  ) throws(ImageError) -> WorkerProcess {
    while true {
      try check()
      let deadline = systemUptime() + .milliseconds(20)
      let step = monitor.wait { [limit = configuration.processes] state -> MonitorStep<Step> in
        let mayStart = state.busyCount(with: kind) < limit
        var workers = state.workers[kind] ?? Workers()
        let idle = mayStart ? workers.takeIdle(for: session, mayStart: workers.count < limit) : nil
        // A session waits for the worker that is being started, rather than for a second.
        let starts = idle == nil && mayStart && (workers.starting == 0 || session == nil || workers.idle.isEmpty)
        if starts { workers.willStart() }
        state.workers[kind] = workers
        if let idle { return .leave(.use(idle)) }
        guard starts else { return systemUptime() < deadline ? .waitUntil(deadline) : .leave(.askAgain) }
        return .leave(.start(inPlaceOf: state.count(with: kind) > limit ? state.removeSpare(with: kind) : nil))
      }
      switch step {
      case .askAgain: continue
      case .use(let worker):
        // It may have been killed while it was idle, which concerns no image.
        guard !worker.channel.isEnded else {
          retire(worker)
          continue
        }
        startAhead(kind)
        return worker
      case .start(let spare):
        if let spare { end(spare) }
        startAhead(kind)
        let worker = try start(kind, check: check)
        monitor.withLock { state in state.workers[kind, default: Workers()].starting -= 1 }
        monitor.broadcast()
        return worker
      }
    }
  }

  private enum Step: Sendable {
    case use(WorkerProcess)
    case start(inPlaceOf: WorkerProcess?)
    case askAgain
  }

  /// Takes back a worker that is ready for another image.
  func giveBack(_ worker: WorkerProcess) {
    let count = worker.state.withLock { $0.imageCount }
    // Looking costs as much as a small image.
    let isTooLarge = count % 8 == 0 && worker.residentByteCount > configuration.bytesPerProcess
    guard count < configuration.imagesPerProcess, !isTooLarge else {
      monitor.withLock { $0.counts.recycled += 1 }
      return retire(worker)
    }
    monitor.withLock { state in state.workers[worker.kind, default: Workers()].idle.append(worker) }
    monitor.broadcast()
  }

  /// Ends a worker; another is started in its place if that may be needed.
  func retire(_ worker: WorkerProcess) {
    end(worker)
    startAhead(worker.kind)
  }

  private func end(_ worker: WorkerProcess) {
    forget(worker)
    // At once, since it may be busy; its end is waited for when the thread is free.
    worker.kill()
    _ = try? background.enqueue { _ in _ = worker.end() }
  }

  /// Starts a worker, which has been counted, and counts as being started until the caller has it.
  private func start(
    _ kind: WorkerKind,
    check: () throws(ImageError) -> Void,
  ) throws(ImageError) -> WorkerProcess {
    var isStarted = false
    defer {
      if !isStarted {
        monitor.withLock { state in state.workers[kind, default: Workers()].hasFailed() }
        monitor.broadcast()
      }
    }
    let deadline = ContinuousClock.now + Self.startLimit
    var result = Result<WorkerProcess, WorkerProcess.StartFailure>.failure(.noWorker)
    for _ in 0..<Self.startAttempts {
      result = try WorkerProcess.start(path, kind) { () throws(ImageError) in
        try check()
        if ContinuousClock.now >= deadline {
          throw ImageError(.decoderFailed, "\(name) did not become ready in \(Self.startLimit)")
        }
      }
      // Somebody may have killed it.
      guard case .failure(.noWorker) = result else { break }
    }
    switch result {
    case .failure(let failure):
      throw ImageError(.decoderFailed, "\(name) \(failure.text)")
    case .success(let worker):
      let missing = worker.hello.missingLayers
      let lacking = configuration.requiredLayers.intersection(missing)
      monitor.withLock { state in
        state.missingLayers.formUnion(missing)
        if lacking.isEmpty { state.identifiers.insert(worker.identifier) }
        state.counts.started += 1
      }
      guard lacking.isEmpty else {
        _ = worker.end()
        throw ImageError(
          .decoderFailed,
          "this system does not offer \(Sandbox.Layer.list(lacking)), which the sandbox requires",
        )
      }
      isStarted = true
      return worker
    }
  }

  private func forget(_ worker: WorkerProcess) {
    monitor.withLock { state in
      state.workers[worker.kind, default: Workers()].count -= 1
      state.identifiers.remove(worker.identifier)
    }
    monitor.broadcast()
  }

  /// The time within which a process must be ready.
  private static let startLimit = Duration.seconds(10)
  /// The number of times that a process is started which ends before it is ready.
  private static let startAttempts = 3

  /// Starts a worker of the kind if none is idle, so that the next image need not wait for it.
  func startAhead(_ kind: WorkerKind) {
    guard configuration.startsAhead else { return }
    let isNeeded = monitor.withLock { [limit = configuration.processes] state in
      var workers = state.workers[kind] ?? Workers()
      guard workers.idle.isEmpty, state.count(with: kind) < limit else { return false }
      workers.willStart()
      state.workers[kind] = workers
      return true
    }
    guard isNeeded else { return }
    let isQueued = try? background.enqueue { [weak self] _ in
      guard let self, let worker = try? start(kind, check: { () throws(ImageError) in }) else { return }
      monitor.withLock { state in
        state.workers[kind, default: Workers()].starting -= 1
        state.workers[kind, default: Workers()].idle.append(worker)
      }
      monitor.broadcast()
    }
    if isQueued == nil { monitor.withLock { state in state.workers[kind, default: Workers()].hasFailed() } }
  }

  private var name: String { "the program \(path.readable), which decodes and encodes images," }
}

extension WorkerProcess.StartFailure {
  var text: String {
    switch self {
    case .system(let code): "cannot be started: \(unsafe String(cString: strerror(code)))"
    case .noWorker: "ended at its start, or is not vitrine-codecs"
    case .version(let version): "is of another version of Vitrine (\(version) in place of \(Hello.version))"
    case .memory: "cannot be given memory"
    }
  }
}
