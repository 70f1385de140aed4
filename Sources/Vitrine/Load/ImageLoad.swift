import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime

/// The load of a request's image after some of its processors; carries out a ``LoadPlan``.
///
/// It looks in memory and, where that may help, once on disk. Then it serves what it found, revalidates it, resamples a
/// larger image, decodes the bytes, or runs one processor on the result of the previous step's load. So `[a]` and
/// `[a, b]` share the step `a`.
///
/// As in a ``BytesLoad``, no task waits for the bytes: the load goes on in ``fetched(_:replacing:playing:)``.
///
/// An image that is made to be encoded has a load of its own, for which no approximate image counts
/// (``ImageRequest/requiresExactPixels``). While both run, the load that would decode waits for the other's image.
final class ImageLoad: Sendable {
  /// The knowledge with which a load begins; indirect, since loads that wait long mostly know nothing.
  indirect enum Start: Sendable {
    case unknown
    /// The plan of the load that waits for this one, made after the request of the source with that number.
    case plan(LoadPlan, FinishedSearch.Stored, StoredOriginal, since: SourceRecord.Sequence)
    /// The bytes, which are new.
    case bytes(FetchedBytes)
    /// No cached image is usable: the bytes are fetched.
    case anew(StoredOriginal)

    /// The number of the request that brought the knowledge, or of the latest one when it was found; `nil` if unknown.
    var sequence: SourceRecord.Sequence? {
      switch self {
      case .bytes(let bytes): bytes.sequence
      case .plan(_, _, _, let sequence): sequence
      case .unknown, .anew: nil
      }
    }
    var looksOnDisk: Bool { if case .unknown = self { true } else { false } }
  }

  let request: ImageRequest
  let step: Int
  let start: Start
  let context: LoadContext
  let work: SharedLoad<ImageResponse>.Handle
  let stages: StageSequence?
  let record: SourceRecord
  /// The number of the latest request of the source when the load began; a later one with other content outdates the
  /// load's image.
  let sequence: SourceRecord.Sequence

  var source: String { request.name }
  var stage: StageTrace? { stages?.current }

  init(
    _ request: ImageRequest,
    step: Int,
    _ start: Start,
    _ context: LoadContext,
    _ work: SharedLoad<ImageResponse>.Handle,
  ) {
    (self.request, self.step, self.start, self.context, self.work) = (request, step, start, context, work)
    stages = context.recorder.map { StageSequence($0, request.name) { work.identify(as: $0) } }
    record = context.sources.record(of: request.keys.fetch)
    // Bytes and plans may be older than the load that begins with them.
    sequence = min(record.sequence, start.sequence ?? .max)
    if request.requiresExactPixels { context.countExactLoads(1) }
  }

  deinit {
    if request.requiresExactPixels { context.countExactLoads(-1) }
  }

  func load() {
    if let step = stepAtOnce() { return carryOut(step) }
    // With a plan of another load, nothing is looked for on disk: between that load's look and a request no time passes.
    goOn(mayBlock: start.looksOnDisk) { [self] () throws(LoadError) in carryOut(try await decide()) }
  }

  /// Continues in a task, on Swift's own threads if it may block.
  func goOn(mayBlock: Bool = false, _ body: @escaping @Sendable () async throws(LoadError) -> Void) {
    let isWanted = work.goOn(on: mayBlock ? context.stepper : .inline) { [self] in
      do throws(LoadError) {
        try await body()
      } catch {
        end(.failure(error))
      }
    }
    if !isWanted { end(.failure(.cancelled)) }
  }

  /// Ends the load, once for all of its callers.
  func end(_ result: Result<ImageResponse, LoadError>) {
    switch result {
    case .success: stages?.end()
    case .failure(let error): stages?.fail(error, isAbandoned: work.hasEnded)
    }
    work.end(result)
  }

  // MARK: Deciding

  /// The step that a plan has decided on.
  private enum Step: Sendable {
    case serve(ImageResponse)
    case revalidate(LoadedImage, from: ImageResponse.Origin, StoredOriginal)
    case resample(LargerVariant)
    case process(SharedLoad<ImageResponse>)
    case decode(FetchedBytes)
    case fetch(StoredOriginal)
  }

  private typealias Found = FinishedSearch.Found

  /// Returns the step if nothing has to be awaited for it.
  private func stepAtOnce() -> Step? {
    guard case .unknown = start, !request.requiresExactPixels, !context.hasExactLoads else { return nil }
    let found = findInMemory()
    guard FinishedSearch(request, upTo: step, found.findings, context) == nil else { return nil }
    return next(of: plan(of: found), found)
  }

  // What no `async` function awaits is not inlined into it: it keeps room for all values, and its task an allocation.

  private func decide() async throws(LoadError) -> Step {
    if request.requiresExactPixels, let image = try await counterpart(), !image.loaded.isLossy { return .serve(image) }
    switch start {
    case .unknown:
      let found = await find()
      return try await step(of: plan(of: found), found)
    case .plan(let plan, let stored, let original, _):
      return try await step(of: plan, Found(findings: CacheLookup(), original: original, stored: stored))
    case .bytes(let bytes): return making(of: bytes)
    case .anew(let original): return makingAnew(original)
    }
  }

  @inline(never)
  private func findInMemory() -> Found {
    Found(findings: context.findingsInMemory(request, step: step, at: context.clock.now), original: .unknown)
  }

  /// Looks in memory, and on disk if that may help.
  private func find() async -> Found {
    var found = findInMemory()
    guard let search = FinishedSearch(request, upTo: step, found.findings, context) else { return found }
    stages?.enter(.finished)
    stage?.enter("look-up")
    found = await search.find()
    // Later loads must not get entries from before a removal.
    guard !record.wasRemoved(since: sequence) else { return findInMemory() }
    if case .none = found.stored { stage?.note("found", .flag(false)) } else { stage?.note("found", .flag(true)) }
    context.cacheWriter.drop(found.damaged)
    // The findings in memory may have changed since.
    let inMemory = findInMemory().findings
    (found.findings.known, found.findings.larger) = (inMemory.known, inMemory.larger)
    return found
  }

  @inline(never)
  private func plan(of found: Found) -> LoadPlan {
    let (fields, now) = (context.fields(of: request), context.clock.now)
    let plan = LoadPlan(request, upTo: step, found.findings, fields: fields, now: now)
    context.cacheWriter.drop(plan.orphans)
    return plan
  }

  private func step(of plan: LoadPlan, _ found: Found) async throws(LoadError) -> Step {
    // A load that waits for this one makes nothing.
    if plan.isOfBytes, !request.requiresExactPixels, let image = try await counterpart() { return .serve(image) }
    if let next = next(of: plan, found) { return next }
    return try await reading(plan, found)
  }

  /// Returns the step of a plan; `nil` if a finished image has to be read first.
  @inline(never)
  private func next(of plan: LoadPlan, _ found: Found) -> Step? {
    guard plan.step == step else {
      let start = Start.plan(plan, found.stored, found.original, since: sequence)
      return .process(context.imageLoad(request, step: step - 1, start))
    }
    switch plan.base {
    case .memory(let image, let use): return serving(image, from: .memory, use, found.original)
    case .finished: return nil
    case .larger(let larger): return .resample(larger)
    case .bytes: return .fetch(found.original)
    }
  }

  // MARK: Carrying out a plan

  @inline(never)
  private func carryOut(_ step: Step) {
    switch step {
    case .serve(let image): end(.success(image))
    case .revalidate(let image, let origin, let original):
      goOn { [self] () throws(LoadError) in try await revalidate(image, from: origin, original) }
    case .resample(let larger): goOn { [self] () throws(LoadError) in end(.success(try await resample(larger))) }
    case .process(let load): goOn { [self] () throws(LoadError) in end(.success(try await process(load))) }
    case .decode(let bytes): fetched(.success(bytes))
    case .fetch(let original):
      stages?.enter(.decode)
      arrive(context.bytesLoad(request, original: current(original), record: record, lends: request.needsPixelsAlone))
    }
  }

  /// Waits for the running load of the same image with the opposite ``ImageRequest/requiresExactPixels``.
  ///
  /// - Returns: Its image; `nil` if there is no such load.
  func counterpart() async throws(LoadError) -> ImageResponse? {
    let other = context.counterpartKey(of: request, step: step)
    guard context.images.isRunning(other) else { return nil }
    let key = context.imageKey(of: request, step: step)
    guard context.counterparts.begin(key, for: other) else { return nil }
    defer { context.counterparts.end(key) }
    stages?.enter(step == 0 ? .decode : .process)
    return try await work.value(
      ofRunning: other,
      in: context.images,
      stage,
      partial: { [work] in work.send(partial: $0) },
    )
  }

  /// Serves a cached image, or revalidates it first.
  private func serving(
    _ image: LoadedImage,
    from origin: ImageResponse.Origin,
    _ use: LoadPlan.Use,
    _ original: StoredOriginal,
  ) -> Step {
    switch use {
    case .serve(let isStale): .serve(ImageResponse(image, from: origin, isStale: isStale))
    case .serveAndRevalidate: .serve(ImageResponse(image, from: origin, isStale: true, isRevalidationDue: true))
    case .revalidate: .revalidate(image, from: origin, original)
    }
  }

  func made(_ image: LoadedImage) -> CacheWriter.NewImage {
    CacheWriter.NewImage(
      image: image,
      request: request,
      step: step,
      sequence: sequence,
      record: record,
      hasImageSubscriber: work.demand.storesResult,
    )
  }

  // MARK: Finished images on disk

  /// Reads the finished image with which a plan begins.
  private func reading(_ plan: LoadPlan, _ found: Found) async throws(LoadError) -> Step {
    guard case .finished(let finished, let use) = plan.base else { return .fetch(found.original) }
    var image: LoadedImage?
    switch found.stored {
    case .image(let stored): image = stored
    case .none: break
    case .entry: image = try await perform(.decode) { _ in found.read() }
    }
    guard let image else {
      // It cannot be read, so the load continues without it.
      context.cacheWriter.drop([finished.key])
      var rest = found
      rest.findings.finished.removeAll { $0.key == finished.key }
      rest.stored = .none
      return try await step(of: self.plan(of: rest), rest)
    }
    if use != .revalidate { context.cacheWriter.keepInMemory(made(image)) }
    return serving(image, from: .disk, use, found.original)
  }

  // MARK: Revalidating

  /// Revalidates a stale image: serves it if its bytes are unchanged, else makes it again from the new ones.
  func revalidate(
    _ known: LoadedImage,
    from origin: ImageResponse.Origin,
    _ original: StoredOriginal,
  ) async throws(LoadError) {
    stages?.enter(.revalidate)
    let bytes: FetchedBytes
    do throws(LoadError) {
      // All of the bytes could not confirm an image made from their beginning, and are not wanted.
      guard !known.contentID.isOfPartialBody else { return end(.success(try await madeAnew(original))) }
      bytes = try await fetch(record.sequence == sequence ? context.head(of: known, request) ?? original : original)
    } catch {
      // A reload gets an error rather than a stale image.
      guard request.cachePolicy != .reload, error.allowsStale(known.validity, now: context.clock.now) else {
        throw error
      }
      stage?.note("fallback", .text(error.detail))
      return end(.success(ImageResponse(known, from: .memory, isStale: true)))
    }
    guard bytes.contentID == known.contentID else { return carryOut(making(of: bytes)) }
    let image = known.with(bytes.validity, status: bytes.status)
    // The bytes are known to be an image.
    bytes.commit?.accept()
    // A server's response has already renewed the image in memory; an entry on disk has not.
    let isRenewed = origin == .memory && (bytes.origin != .disk || bytes.isStale)
    if !isRenewed { context.cacheWriter.keepInMemory(made(image)) }
    context.cacheWriter.renewFinished(made(image), isInMemory: origin == .memory)
    end(.success(ImageResponse(image, from: bytes)))
  }

  /// Returns the image that another load makes from the bytes, wherever they are.
  private func madeAnew(_ original: StoredOriginal) async throws(LoadError) -> ImageResponse {
    let load = context.imageLoad(request, step: step, .anew(current(original)), isShared: false)
    return try await work.value(of: load, in: context.images, stage, partial: { [work] in work.send(partial: $0) })
  }

  // MARK: Fetching

  /// Returns the knowledge about the bytes on disk, as long as no response has come since.
  func current(_ original: StoredOriginal) -> StoredOriginal { record.sequence == sequence ? original : .unknown }

  func fetch(_ original: StoredOriginal) async throws(LoadError) -> FetchedBytes {
    let load = context.bytesLoad(request, original: current(original), record: record)
    return try await work.value(of: load, in: context.bytes, stage, limit: .progress)
  }

  /// Fetches the bytes, and makes previews of them as they arrive, or the image, once their beginning suffices.
  ///
  /// - Parameters:
  ///   - load: The load of the bytes.
  ///   - stored: The stored bytes that are no image, in whose place others are fetched.
  func arrive(_ load: SharedLoad<FetchedBytes>, replacing stored: FetchedBytes? = nil) {
    guard !work.hasEnded else { return end(.failure(.cancelled)) }
    stage?.enter("wait")
    Arrival(self, replacing: stored).begin(load)
  }

  /// Goes on with the bytes, and with the animation that has played while they arrived.
  func fetched(
    _ result: Result<FetchedBytes, LoadError>,
    replacing stored: FetchedBytes? = nil,
    playing animation: ArrivingAnimation? = nil,
  ) {
    switch result {
    case .success(let bytes): decode(bytes, replacing: stored, playing: animation)
    case .failure(let error):
      if !error.isCancellation { stored?.commit?.reject() }
      end(.failure(error))
    }
  }

  /// Makes the image from its bytes, wherever they are, with all processors.
  private func makingAnew(_ original: StoredOriginal) -> Step {
    guard step > 0 else { return .fetch(original) }
    return .process(context.imageLoad(request, step: step - 1, .anew(current(original))))
  }

  /// Makes the image from bytes that have just come.
  private func making(of bytes: FetchedBytes) -> Step {
    guard step == 0 else { return .process(context.imageLoad(request, step: step - 1, .bytes(bytes))) }
    stages?.enter(.decode)
    return .decode(bytes)
  }
}

extension ImageRequest {
  /// A Boolean value that indicates whether one question to a decoder makes the image, for which nothing else reads the file.
  fileprivate var needsPixelsAlone: Bool {
    !animates && dynamicRange == .standard && !keepsEncodedData
  }
}
