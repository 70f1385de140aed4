import Synchronization
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime

/// The image of a request after some of its processors; carries out a ``LoadPlan``.
///
/// It looks in memory and, where that may help, once on disk. Then it serves what it found, revalidates it, resamples a
/// larger image, decodes the bytes, or runs one processor on the result of the previous step's job. So `[a]` and
/// `[a, b]` share the step `a`.
///
/// An image that is made to be encoded has a job of its own, for which no approximate image counts
/// (``ImageRequest/isExact``). While both run, the job that would decode waits for the other's image.
final class ImageJob: Job<ImageResponse>, @unchecked Sendable {
  /// The knowledge with which a job begins; indirect, since jobs that wait long mostly know nothing.
  indirect enum Start: Sendable {
    case unknown
    /// The plan, made by the job that waits for this one.
    case plan(LoadPlan, Stored, FetchJob.KnownOriginal)
    /// The bytes, which are new.
    case bytes(FetchedBytes)
    /// No cached image is usable: the bytes are fetched.
    case anew(FetchJob.KnownOriginal)

    var bytes: FetchedBytes? { if case .bytes(let bytes) = self { bytes } else { nil } }
  }

  /// A stored image after its look-up; decoded if that is quick.
  enum Stored: Sendable {
    case none
    case image(LoadedImage)
    /// An image whose pixels have yet to be decoded.
    case entry(CachedData)
  }

  // @unchecked: like its superclass, guarded by the jobs' lock.
  let request: ImageRequest
  let step: Int
  let context: JobContext
  let record: SourceRecord
  /// The latest ask of the source when the job began; a later one with other content outdates the job's image.
  let ask: SourceRecord.Ask
  private let begin: Start
  /// The current stage: ``Job/trace`` itself, or one below it.
  private(set) var stage: StageTrace?
  /// The findings on disk, until the job needs them no more; boxed, since jobs that wait long have none.
  private var onDisk: Box<Findings>?
  /// The job that makes the same image, while this one waits for it.
  private var twin: Job<ImageResponse>?
  var original = FetchJob.KnownOriginal.unknown
  /// The answer whose stored bytes turned out to be no image, while others are fetched.
  var undecodable: Answer?
  /// The job that fetches the bytes, and the feeds that inspect them as they arrive.
  var fetching: FetchJob?
  var arrivals: [ArrivalFeed] = []
  var isProcessingPreview = false
  /// A stale image, which may be served in place of an error.
  private var fallback: LoadedImage?
  /// The bytes being decoded.
  var bytes: FetchedBytes? {
    get { boxedBytes?.value }
    set { boxedBytes = newValue.map { Box($0) } }
  }
  private var boxedBytes: Box<FetchedBytes>?
  /// The place of an image that is made to be encoded, and the number with which the job waits for one.
  var place: MakingPlace?
  var waiting: UInt64?
  /// The number of bytes that have come from the server, once all have.
  var fetchedByteCount: Int?
  /// True once a caller wants the image itself, not only a file encoded from it; read outside of turns, too.
  private let isWanted = Atomic(false)

  var source: String { request.name }
  override var requestKeys: RequestKeys? { request.keys }

  /// The knowledge about the bytes on disk, as long as no response has come since.
  var knownOriginal: FetchJob.KnownOriginal { record.ask == ask ? original : .unknown }

  init(_ request: ImageRequest, step: Int, _ begin: Start, _ context: JobContext) {
    (self.request, self.step, self.begin, self.context) = (request, step, begin, context)
    record = context.sources.record(of: request.keys.fetch)
    // Bytes may be older than the job that begins with them.
    ask = min(record.ask, begin.bytes?.ask ?? .max)
  }

  override func start(_ turn: inout Turn) {
    if request.isExact, let twin = context.twin(of: request, step: step, &turn) {
      return follow(twin, &turn) { job, image, turn in
        if image.loaded.isApproximate { job.proceed(&turn) } else { job.conclude(.success(image), &turn) }
      }
    }
    proceed(&turn)
  }

  private func proceed(_ turn: inout Turn) {
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
    stopFollowingTwin(&turn)
    endStage(&turn)
    if let waiting = waiting.take() {
      turn.afterwards { [places = context.places, lane = request.lane] in places.leave(lane, waiting) }
    }
  }

  override func priorityChanged(_ turn: inout Turn) {
    for arrival in arrivals { arrival.setPriority(priority) }
  }

  override func watchingBegan(_ turn: inout Turn) { followForPreviews(&turn) }

  override func progress(_ turn: inout Turn) -> LoadProgress? {
    super.progress(&turn) ?? fetchedByteCount.map { LoadProgress(completed: $0, total: $0) }
  }

  // MARK: Stages

  /// Begins the next stage: the job's own, or one below it.
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
    let place = place.take()
    guard case .success(var image) = result else {
      if let place { turn.keep(place) }
      return finish(result, &turn)
    }
    if let place {
      place.offer(image.image.byteCount)
      image.place = place
    }
    // A caller may hold an image that is not encoded for as long as it likes.
    if !request.isExact { image.place = nil }
    finish(.success(image), &turn)
  }

  // MARK: Deciding

  /// Makes a plan and carries it out; looks on disk first if that may help and has not been done.
  private func decide(_ stored: Stored, _ turn: inout Turn) {
    let (inMemory, rest) = context.findingsInMemory(request, step: step, at: turn.now)
    // The caches may have evicted these images by now, so the last reference to one may go here.
    if !rest.isEmpty || inMemory.known != nil || inMemory.larger != nil { turn.release((rest, inMemory)) }
    var findings = onDisk?.value ?? Findings()
    (findings.known, findings.larger) = (inMemory.known, inMemory.larger)
    if !findings.hasLookedUp, let search = FinishedSearch(request, upTo: step, findings, context) {
      return lookUp(search, &turn)
    }
    let plan = LoadPlan(request, upTo: step, findings, fields: context.fields(of: request), now: turn.now)
    if !plan.orphans.isEmpty {
      let orphans = plan.orphans
      forget(&turn) { orphans.contains($0.key) }
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
    // Memory is looked up again; the caller holds what was found there until the turn is over.
    var findings = found.findings
    (findings.known, findings.larger) = (nil, nil)
    (onDisk, original) = (Box(findings), found.original)
    let isFound = if case .none = found.stored { false } else { true }
    stage?.note("found", .flag(isFound), at: turn.uptime)
    if !found.damaged.isEmpty {
      turn.afterwards { [settlement = context.settlement, damaged = found.damaged] in settlement.drop(damaged) }
    }
    decide(found.stored, &turn)
  }

  // MARK: Carrying out a plan

  private func carryOut(_ plan: LoadPlan, _ stored: Stored, _ turn: inout Turn) {
    // A job that waits for this one makes nothing.
    if case .bytes = plan.base, !request.isExact, let twin = context.twin(of: request, step: step, &turn),
      (twin as? ImageJob)?.twin == nil
    {
      return follow(twin, &turn) { $0.conclude(.success($1), &$2) }
    }
    guard plan.step == step else {
      return process(context.imageJob(request, step: step - 1, .plan(plan, stored, original), &turn), &turn)
    }
    switch plan.base {
    case .memory(let image, let use): serve(image, from: .memory, use, &turn)
    case .finished(let finished, let use): read(stored, finished, use, &turn)
    case .larger(let larger): resample(larger, &turn)
    case .bytes:
      if let box = onDisk.take() { turn.release(box) }
      fetch(&turn)
    }
  }

  /// Waits for the job that makes the same image.
  private func follow(
    _ twin: Job<ImageResponse>,
    _ turn: inout Turn,
    _ receive: @escaping (ImageJob, ImageResponse, inout Turn) -> Void,
  ) {
    self.twin = twin
    enter(step == 0 ? .decode : .process, &turn)
    if isWanted.load(ordering: .relaxed) { (twin as? ImageJob)?.want() }
    wait(for: twin, &turn) { job, result, turn in
      job.stopFollowingTwin(&turn)
      switch result {
      case .success(let image): receive(job, image, &turn)
      case .failure(let error): job.fail(error, &turn)
      }
    } part: { job, preview, turn in
      job.send(partial: preview, &turn)
    }
  }

  private func stopFollowingTwin(_ turn: inout Turn) {
    if let twin = twin.take() { turn.keep(twin) }
  }

  /// Serves a cached image, or revalidates it first.
  private func serve(_ image: LoadedImage, from origin: ImageResponse.Origin, _ use: LoadPlan.Use, _ turn: inout Turn) {
    switch use {
    case .serve(let isStale):
      conclude(.success(ImageResponse(image, from: origin, isStale: isStale)), &turn)
    case .serveAndRevalidate:
      conclude(.success(ImageResponse(image, from: origin, isStale: true, isRevalidationDue: true)), &turn)
    case .confirm: confirm(image, from: origin, &turn)
    }
  }

  /// Notes that a caller wants the image itself.
  func want() {
    isWanted.store(true, ordering: .relaxed)
    (twin as? ImageJob)?.want()
  }

  func made(_ image: LoadedImage) -> Settlement.Made {
    let isWanted = isWanted.load(ordering: .relaxed)
    return Settlement.Made(image: image, request: request, step: step, ask: ask, record: record, isWanted: isWanted)
  }

  // MARK: Finished images on disk

  private func read(_ stored: Stored, _ finished: Findings.Finished, _ use: LoadPlan.Use, _ turn: inout Turn) {
    switch stored {
    case .image(let image): found(image, use, &turn)
    case .none: forget(finished, &turn)
    case .entry(let entry):
      work(.decode, &turn) { _ in
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

  /// Continues without a stored image that cannot be read.
  private func forget(_ finished: Findings.Finished, _ turn: inout Turn) {
    turn.afterwards { [settlement = context.settlement] in settlement.drop([finished.key]) }
    forget(&turn) { $0.key == finished.key }
    decide(.none, &turn)
  }

  private func forget(_ turn: inout Turn, _ isForgotten: (Findings.Finished) -> Bool) {
    guard let box = onDisk else { return }
    turn.release(box)
    var findings = box.value
    findings.finished.removeAll(where: isForgotten)
    onDisk = Box(findings)
  }

  private func found(_ image: LoadedImage, _ use: LoadPlan.Use, _ turn: inout Turn) {
    if use != .confirm {
      turn.afterwards { [made = made(image), settlement = context.settlement] in settlement.keepInMemory(made) }
    }
    serve(image, from: .disk, use, &turn)
  }

  // MARK: Revalidating

  /// Revalidates a stale image: serves it if its bytes are unchanged, else makes it again from the new ones.
  private func confirm(_ known: LoadedImage, from origin: ImageResponse.Origin, _ turn: inout Turn) {
    enter(.confirm, &turn)
    fallback = known
    // All of the bytes could not confirm an image made from their beginning, and are not wanted.
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
    // A server's response has already renewed the image in memory; an entry on disk has not.
    let isRenewed = origin == .memory && (bytes.origin != .disk || bytes.isStale)
    turn.afterwards { [made = made(image), settlement = context.settlement] in
      // The bytes are known to be an image.
      bytes.answer?.accept()
      if !isRenewed { settlement.keepInMemory(made) }
      settlement.renewFinished(made, isInMemory: origin == .memory)
    }
    conclude(.success(ImageResponse(image, from: bytes)), &turn)
  }

  /// Finishes with the stale image, if it may stand in for the error.
  func fail(_ error: LoadError, _ turn: inout Turn) {
    // A reload gets an error rather than a stale image.
    guard let known = fallback, request.cachePolicy != .reload,
      error.allowsStale(known.validity, now: turn.now)
    else { return conclude(.failure(error), &turn) }
    stage?.note("fallback", .text(error.detail), at: turn.uptime)
    conclude(.success(ImageResponse(known, from: .memory, isStale: true)), &turn)
  }
}
