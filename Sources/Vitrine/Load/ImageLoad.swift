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
/// An image that is made to be encoded has a load of its own, for which no approximate image counts
/// (``ImageRequest/isExact``). While both run, the load that would decode waits for the other's image.
final class ImageLoad: Sendable {
  /// The knowledge with which a load begins; indirect, since loads that wait long mostly know nothing.
  indirect enum Start: Sendable {
    case unknown
    /// The plan, made by the load that waits for this one.
    case plan(LoadPlan, FinishedSearch.Stored, KnownOriginal)
    /// The bytes, which are new.
    case bytes(FetchedBytes)
    /// No cached image is usable: the bytes are fetched.
    case anew(KnownOriginal)

    var bytes: FetchedBytes? { if case .bytes(let bytes) = self { bytes } else { nil } }
  }

  let request: ImageRequest
  let step: Int
  let start: Start
  let context: LoadContext
  let work: SharedLoad<ImageResponse>.Handle
  let stages: StageSequence?
  let record: SourceRecord
  /// The latest ask of the source when the load began; a later one with other content outdates the load's image.
  let ask: SourceRecord.Ask

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
    // Bytes may be older than the load that begins with them.
    ask = min(record.ask, start.bytes?.ask ?? .max)
  }

  func load() async throws(LoadError) -> ImageResponse {
    do throws(LoadError) {
      let image = try await carryOut(decide())
      stages?.end()
      return image
    } catch {
      stages?.fail(error, isAbandoned: work.hasEnded)
      throw error
    }
  }

  // MARK: Deciding

  /// The step that a plan has decided on; one reference, since the function that carries it out may wait long.
  private indirect enum Step: Sendable {
    case serve(ImageResponse)
    case confirm(LoadedImage, from: ImageResponse.Origin, KnownOriginal)
    case resample(LargerVariant)
    case process(SharedLoad<ImageResponse>)
    case decode(FetchedBytes)
    case fetch(KnownOriginal)
  }

  private func decide() async throws(LoadError) -> Step {
    if request.isExact, let image = try await counterpart(), !image.loaded.isApproximate { return .serve(image) }
    switch start {
    case .unknown:
      let found = await find()
      return try await step(of: plan(of: found), found)
    case .plan(let plan, let stored, let original):
      let found = Box(Found(findings: Findings(), original: original, stored: stored))
      return try await step(of: Box(plan), found)
    case .bytes(let bytes): return making(of: bytes)
    case .anew(let original): return makingAnew(original)
    }
  }

  private typealias Found = FinishedSearch.Found

  // As in a `BytesLoad`, whatever need not wait is a function that is not inlined: the load may wait long for its bytes.

  /// Looks in memory, and on disk if that may help.
  private func find() async -> Box<Found> {
    let (found, search) = findInMemory()
    guard let search else { return found }
    stages?.enter(.finished)
    stage?.enter("look-up")
    return refreshed(await context.elsewhere { Box(await search.value.find()) })
  }

  @inline(never)
  private func findInMemory() -> (Box<Found>, Box<FinishedSearch>?) {
    let findings = context.findingsInMemory(request, step: step, at: context.clock.now)
    let search = FinishedSearch(request, upTo: step, findings, context)
    return (Box(Found(findings: findings, original: .unknown)), search.map { Box($0) })
  }

  /// Returns the findings on disk with those in memory, which may have changed since.
  @inline(never)
  private func refreshed(_ box: Box<Found>) -> Box<Found> {
    var found = box.value
    if case .none = found.stored { stage?.note("found", .flag(false)) } else { stage?.note("found", .flag(true)) }
    context.settlement.drop(found.damaged)
    let inMemory = context.findingsInMemory(request, step: step, at: context.clock.now)
    (found.findings.known, found.findings.larger) = (inMemory.known, inMemory.larger)
    return Box(found)
  }

  @inline(never)
  private func plan(of found: Box<Found>) -> Box<LoadPlan> {
    let (fields, now) = (context.fields(of: request), context.clock.now)
    let plan = LoadPlan(request, upTo: step, found.value.findings, fields: fields, now: now)
    context.settlement.drop(plan.orphans)
    return Box(plan)
  }

  private func step(of plan: Box<LoadPlan>, _ found: Box<Found>) async throws(LoadError) -> Step {
    // A load that waits for this one makes nothing.
    if plan.value.isOfBytes, !request.isExact, let image = try await counterpart() { return .serve(image) }
    if let next = next(of: plan, found) { return next }
    return try await reading(plan, found)
  }

  /// Returns the step of a plan; `nil` if a finished image has to be read first.
  @inline(never)
  private func next(of box: Box<LoadPlan>, _ found: Box<Found>) -> Step? {
    let (plan, original) = (box.value, found.value.original)
    guard plan.step == step else {
      return .process(context.imageLoad(request, step: step - 1, .plan(plan, found.value.stored, original)))
    }
    switch plan.base {
    case .memory(let image, let use): return serving(image, from: .memory, use, original)
    case .finished: return nil
    case .larger(let larger): return .resample(larger)
    case .bytes: return .fetch(original)
    }
  }

  // MARK: Carrying out a plan

  private func carryOut(_ step: Step) async throws(LoadError) -> ImageResponse {
    switch step {
    case .serve(let image): image
    case .confirm(let image, let origin, let original): try await confirm(image, from: origin, original)
    case .resample(let larger): try await resample(larger)
    case .process(let load): try await process(load)
    case .decode(let bytes): try await decode(bytes)
    case .fetch(let original): try await decodeFetched(original)
    }
  }

  /// Waits for the running load of the same image with the opposite ``ImageRequest/isExact``.
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
    _ original: KnownOriginal,
  ) -> Step {
    switch use {
    case .serve(let isStale): .serve(ImageResponse(image, from: origin, isStale: isStale))
    case .serveAndRevalidate: .serve(ImageResponse(image, from: origin, isStale: true, isRevalidationDue: true))
    case .confirm: .confirm(image, from: origin, original)
    }
  }

  func made(_ image: LoadedImage) -> Settlement.Made {
    let isWanted = work.demand.storesResult
    return Settlement.Made(image: image, request: request, step: step, ask: ask, record: record, isWanted: isWanted)
  }

  // MARK: Finished images on disk

  /// Reads the finished image with which a plan begins.
  private func reading(_ plan: Box<LoadPlan>, _ found: Box<Found>) async throws(LoadError) -> Step {
    var image: LoadedImage?
    switch found.value.stored {
    case .image(let stored): image = stored
    case .none: break
    case .entry: image = try await perform(.decode) { _ in found.value.read() }
    }
    guard let step = using(image, plan, found) else {
      // It cannot be read, so the load continues without it.
      let rest = without(plan, found)
      return try await self.step(of: self.plan(of: rest), rest)
    }
    return step
  }

  @inline(never)
  private func using(_ image: LoadedImage?, _ plan: Box<LoadPlan>, _ found: Box<Found>) -> Step? {
    guard let image, case .finished(_, let use) = plan.value.base else { return nil }
    if use != .confirm { context.settlement.keepInMemory(made(image)) }
    return serving(image, from: .disk, use, found.value.original)
  }

  @inline(never)
  private func without(_ plan: Box<LoadPlan>, _ found: Box<Found>) -> Box<Found> {
    guard case .finished(let finished, _) = plan.value.base else { return found }
    context.settlement.drop([finished.key])
    var rest = found.value
    rest.findings.finished.removeAll { $0.key == finished.key }
    rest.stored = .none
    return Box(rest)
  }

  // MARK: Revalidating

  /// Revalidates a stale image: serves it if its bytes are unchanged, else makes it again from the new ones.
  func confirm(
    _ known: LoadedImage,
    from origin: ImageResponse.Origin,
    _ original: KnownOriginal,
  ) async throws(LoadError) -> ImageResponse {
    stages?.enter(.confirm)
    let bytes: FetchedBytes
    do throws(LoadError) {
      // All of the bytes could not confirm an image made from their beginning, and are not wanted.
      guard !known.contentID.isOfBeginning else { return try await carryOut(makingAnew(original)) }
      bytes = try await fetch(original)
    } catch {
      // A reload gets an error rather than a stale image.
      guard request.cachePolicy != .reload, error.allowsStale(known.validity, now: context.clock.now) else {
        throw error
      }
      stage?.note("fallback", .text(error.detail))
      return ImageResponse(known, from: .memory, isStale: true)
    }
    guard bytes.contentID == known.contentID else { return try await carryOut(making(of: bytes)) }
    let image = known.with(bytes.validity, status: bytes.status)
    // The bytes are known to be an image.
    bytes.answer?.accept()
    // A server's response has already renewed the image in memory; an entry on disk has not.
    let isRenewed = origin == .memory && (bytes.origin != .disk || bytes.isStale)
    if !isRenewed { context.settlement.keepInMemory(made(image)) }
    context.settlement.renewFinished(made(image), isInMemory: origin == .memory)
    return ImageResponse(image, from: bytes)
  }

  // MARK: Fetching

  /// Returns the knowledge about the bytes on disk, as long as no response has come since.
  func current(_ original: KnownOriginal) -> KnownOriginal { record.ask == ask ? original : .unknown }

  func fetch(_ original: KnownOriginal) async throws(LoadError) -> FetchedBytes {
    let load = context.bytesLoad(request, original: current(original), record: record)
    return try await work.value(of: load, in: context.bytes, stage, demand: { $0.limited(to: .progress) })
  }

  /// Fetches the bytes, and makes previews of them as they arrive, or the image, once their beginning suffices.
  func arrive(_ load: SharedLoad<FetchedBytes>) async throws(LoadError) -> FetchedBytes {
    let outcome = Deferred<Result<FetchedBytes, LoadError>>()
    let arrival = Arrival(request, context, work, outcome) { [self] in made($0) }
    defer { arrival.stop() }
    return try await work.value(
      of: load,
      in: context.bytes,
      stage,
      demand: { arrival.demand(on: $0) },
      outcome: outcome,
      partial: { arrival.follow($0) },
    )
  }

  /// Makes the image from its bytes, wherever they are, with all processors.
  private func makingAnew(_ original: KnownOriginal) -> Step {
    guard step > 0 else { return .fetch(original) }
    return .process(context.imageLoad(request, step: step - 1, .anew(current(original))))
  }

  /// Makes the image from bytes that have just come.
  private func making(of bytes: FetchedBytes) -> Step {
    guard step == 0 else { return .process(context.imageLoad(request, step: step - 1, .bytes(bytes))) }
    stages?.enter(.decode)
    return .decode(bytes)
  }

  func decodeFetched(_ original: KnownOriginal) async throws(LoadError) -> ImageResponse {
    stages?.enter(.decode)
    return try await decode(try await arrive(context.bytesLoad(request, original: current(original), record: record)))
  }
}
