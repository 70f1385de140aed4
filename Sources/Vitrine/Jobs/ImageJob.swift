import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime

/// The image of a request after some of its processors: carries a ``LoadPlan`` out.
///
/// It looks in memory and, where that may help, once on disk; then it serves what it found, confirms it, makes the image of a
/// larger one, decodes its bytes, or runs one processor on what the job of the step before gives. So `[a]` and `[a, b]` share
/// the step `a`.
final class ImageJob: Job<ImageResponse>, @unchecked Sendable {
  /// What is known when the job begins.
  enum Start: Sendable {
    case unknown
    /// What is to be done, by the job that waits for this one.
    case plan(LoadPlan, Stored, FetchJob.KnownOriginal)
    /// The bytes, which are new.
    case bytes(FetchedBytes)
    /// Nothing that is at hand will do: its bytes are fetched.
    case anew(FetchJob.KnownOriginal)
  }

  /// A stored image that has been looked for, read as far as it is quickly read.
  enum Stored: Sendable {
    case none
    case image(LoadedImage)
    /// One whose pixels have to be decoded.
    case entry(CachedData)
  }

  // @unchecked: like its superclass, guarded by the jobs' lock.
  let request: ImageRequest
  let step: Int
  let context: JobContext
  let record: SourceRecord
  /// The latest answer of the source when the job began: what comes later and is other content makes its image outdated.
  let ask: SourceRecord.Ask
  private let begin: Start
  /// The stage that goes on; it is ``Job/trace`` itself, or one below.
  private(set) var stage: StageTrace?
  private var findings = Findings()
  var original = FetchJob.KnownOriginal.unknown
  /// Stored bytes that turned out to be no image, while others are fetched in their place.
  var undecodable: Answer?
  /// What brings the bytes, and what looks at them while they arrive.
  var fetching: FetchJob?
  var arrivals: [ArrivalFeed] = []
  var isProcessingPreview = false
  /// An image whose time is over, which may stand in for an error.
  private var fallback: LoadedImage?
  /// The bytes that are being decoded.
  var bytes: FetchedBytes?
  /// The number of bytes that have come from the server, once all have.
  var fetchedByteCount: Int?

  var source: String { request.name }
  override var requestKeys: RequestKeys? { request.keys }

  /// What is known of the bytes on disk, as long as no answer has come since.
  var knownOriginal: FetchJob.KnownOriginal { record.ask == ask ? original : .unknown }

  init(_ request: ImageRequest, step: Int, _ begin: Start, _ context: JobContext) {
    (self.request, self.step, self.begin, self.context) = (request, step, begin, context)
    record = context.sources.record(of: request.keys.fetch)
    ask = record.ask
  }

  override func start(_ turn: inout Turn) {
    switch begin {
    case .unknown: decide(.none, &turn)
    case .plan(let plan, let stored, let original):
      self.original = original
      carryOut(plan, stored, &turn)
    case .bytes(let bytes): make(of: bytes, &turn)
    case .anew(let original):
      self.original = original
      makeAnew(&turn)
    }
  }

  override func stop(_ turn: inout Turn) {
    stopFollowing(&turn)
    endStage(&turn)
  }

  override func priorityChanged(_ turn: inout Turn) {
    for arrival in arrivals { arrival.setPriority(priority) }
  }

  override func watchingBegan(_ turn: inout Turn) { followForPreviews(&turn) }

  override func progress(_ turn: inout Turn) -> LoadProgress? {
    super.progress(&turn) ?? fetchedByteCount.map { LoadProgress(completed: $0, total: $0) }
  }

  // MARK: Stages

  /// Begins what the job does next: its own stage, or one below that.
  func enter(_ kind: StageKind, _ turn: inout Turn) {
    guard let recorder = context.recorder else { return }
    if trace == nil {
      trace = recorder.stage(kind, source, at: turn.uptime)
      stage = trace
    } else {
      endStage(&turn)
      stage = trace?.stage(kind, at: turn.uptime)
    }
  }

  private func endStage(_ turn: inout Turn) {
    if let stage, stage !== trace { stage.end(at: turn.uptime) }
  }

  func conclude(_ result: Result<ImageResponse, LoadError>, _ turn: inout Turn) {
    guard isRunning else { return }
    if let stage, stage !== trace, case .failure(let error) = result {
      stage.note("error", .text("\(error)"), at: turn.uptime)
    }
    endStage(&turn)
    finish(result, &turn)
  }

  // MARK: Deciding

  /// Makes a plan of what there is, and carries it out; looks on disk before, if that was not done and may help.
  private func decide(_ stored: Stored, _ turn: inout Turn) {
    let (inMemory, rest) = context.findingsInMemory(request, step: step, at: turn.now)
    // What was found before, and what is found now and not used, is perhaps in no cache any more.
    if !rest.isEmpty || findings.known != nil || findings.larger != nil { turn.release((rest, findings)) }
    (findings.known, findings.larger) = (inMemory.known, inMemory.larger)
    if !findings.hasLookedUp, let search = FinishedSearch(request, upTo: step, findings, context) {
      return lookUp(search, &turn)
    }
    let plan = LoadPlan(request, upTo: step, findings, fields: context.fields(of: request), now: turn.now)
    if !plan.orphans.isEmpty {
      let orphans = plan.orphans
      findings.finished.removeAll { orphans.contains($0.key) }
      turn.afterwards { [settlement = context.settlement] in settlement.drop(orphans) }
    }
    carryOut(plan, stored, &turn)
  }

  private func lookUp(_ search: FinishedSearch, _ turn: inout Turn) {
    enter(.finished, &turn)
    stage?.enter("look-up", at: turn.uptime)
    task = Task(executorPreference: context.stepper) { [self, context] in
      let found = await search.find()
      context.turn { lookedUp(found, &$0) }
    }
  }

  private func lookedUp(_ found: FinishedSearch.Found, _ turn: inout Turn) {
    guard isRunning else { return }
    task = nil
    (findings, original) = (found.findings, found.original)
    let isFound = if case .none = found.stored { false } else { true }
    stage?.note("found", .flag(isFound), at: turn.uptime)
    if !found.damaged.isEmpty {
      turn.afterwards { [settlement = context.settlement, damaged = found.damaged] in settlement.drop(damaged) }
    }
    decide(found.stored, &turn)
  }

  // MARK: Carrying a plan out

  private func carryOut(_ plan: LoadPlan, _ stored: Stored, _ turn: inout Turn) {
    guard plan.step == step else {
      return process(context.imageJob(request, step: step - 1, .plan(plan, stored, original), &turn), &turn)
    }
    switch plan.base {
    case .memory(let image, let use): serve(image, from: .memory, use, &turn)
    case .finished(let finished, let use): read(stored, finished, use, &turn)
    case .larger(let larger): resample(larger, &turn)
    case .bytes: fetch(&turn)
    }
  }

  /// Serves an image that is at hand, or asks whether it is still the same.
  private func serve(_ image: LoadedImage, from origin: ImageResponse.Origin, _ use: LoadPlan.Use, _ turn: inout Turn) {
    switch use {
    case .serve(let isStale):
      conclude(.success(ImageResponse(image, from: origin, isStale: isStale)), &turn)
    case .serveAndRevalidate:
      conclude(.success(ImageResponse(image, from: origin, isStale: true, isRevalidationDue: true)), &turn)
    case .confirm: confirm(image, from: origin, &turn)
    }
  }

  func made(_ image: LoadedImage) -> Settlement.Made {
    Settlement.Made(image: image, request: request, step: step, ask: ask, record: record)
  }

  // MARK: On disk as it is shown

  private func read(_ stored: Stored, _ finished: Findings.Finished, _ use: LoadPlan.Use, _ turn: inout Turn) {
    switch stored {
    case .image(let image): found(image, use, &turn)
    case .none: forget(finished, &turn)
    case .entry(let entry):
      work(.decode, bytes: entry.data.count, &turn) { _ in
        FinishedImage.image(of: entry)
      } end: { job, result, turn in
        switch result {
        case .success(let image?): job.found(image, use, &turn)
        case .success(nil): job.forget(finished, &turn)
        case .failure(let error): job.conclude(.failure(error), &turn)
        }
      }
    }
  }

  /// Goes on without a stored image that cannot be read.
  private func forget(_ finished: Findings.Finished, _ turn: inout Turn) {
    turn.afterwards { [settlement = context.settlement] in settlement.drop([finished.key]) }
    findings.finished.removeAll { $0.key == finished.key }
    decide(.none, &turn)
  }

  private func found(_ image: LoadedImage, _ use: LoadPlan.Use, _ turn: inout Turn) {
    if use != .confirm {
      turn.afterwards { [made = made(image), settlement = context.settlement] in settlement.keepInMemory(made) }
    }
    serve(image, from: .disk, use, &turn)
  }

  // MARK: Confirming

  /// Asks for the bytes of an image whose time is over: it is served if they are the same, else made anew of the new ones.
  private func confirm(_ known: LoadedImage, from origin: ImageResponse.Origin, _ turn: inout Turn) {
    enter(.confirm, &turn)
    fallback = known
    // All of its bytes would not tell whether they are the same as a beginning, and they are not wanted.
    guard !known.contentID.isOfBeginning else { return makeAnew(&turn) }
    wait(for: context.fetchJob(request, original: knownOriginal, record: record, &turn), &turn) { job, result, turn in
      switch result {
      case .success(let bytes): job.compare(bytes, with: known, from: origin, &turn)
      case .failure(let error): job.fail(error, &turn)
      }
    }
  }

  private func compare(
    _ bytes: FetchedBytes,
    with known: LoadedImage,
    from origin: ImageResponse.Origin,
    _ turn: inout Turn,
  ) {
    guard bytes.contentID == known.contentID else {
      fallback = nil
      return make(of: bytes, &turn)
    }
    let image = known.with(bytes.validity, status: bytes.status)
    // An answer of the server has renewed what is in memory; what the disk says has not.
    let isRenewed = origin == .memory && (bytes.origin != .disk || bytes.isStale)
    turn.afterwards { [made = made(image), settlement = context.settlement] in
      // They made an image before.
      bytes.answer?.accept()
      if !isRenewed { settlement.keepInMemory(made) }
      settlement.renewFinished(made)
    }
    conclude(.success(ImageResponse(image, from: bytes)), &turn)
  }

  /// Ends with what was there, if it may stand in for the error.
  func fail(_ error: LoadError, _ turn: inout Turn) {
    // Who asks for it anew gets an error rather than what was there.
    guard let known = fallback, request.cachePolicy != .reload,
      error.allowsStale(until: known.validity.usableOnErrorUntil, now: turn.now)
    else { return conclude(.failure(error), &turn) }
    stage?.note("fallback", .text(error.detail), at: turn.uptime)
    conclude(.success(ImageResponse(known, from: .memory, isStale: true)), &turn)
  }
}
