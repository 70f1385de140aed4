import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime

/// An image as a file: from disk, or encoded from the image of an ``ImageJob``, once for all who ask.
///
/// It carries out an ``EncodePlan``. If metadata of the original is wanted, the original's bytes are fetched first, and
/// served as they are where nothing has to change.
///
/// Equal encodings give the same bytes for the same picture, whatever the caches hold. So nothing is encoded from
/// pixels that were stored with losses or resampled from others (``ImageRequest/isExact``).
final class EncodeJob: Job<EncodedImage>, @unchecked Sendable {
  /// The findings in the original's bytes.
  private enum Inspection: Sendable {
    /// Nothing has to change.
    case original(ImageInfo)
    case metadata(ImageMetadata?)
  }

  // @unchecked: like its superclass, guarded by the jobs' lock.
  private let request: ImageRequest
  private let encoding: ImageEncoding
  private let key: CacheKey
  private let context: JobContext
  private let record: SourceRecord
  /// The latest ask of the source when the job began; see ``ImageJob/ask``.
  private let ask: SourceRecord.Ask
  private var original = FetchJob.KnownOriginal.unknown
  /// A stale encoded image, which may stand in for an error.
  private var fallback: EncodedImage?
  /// The metadata of the original, and the content that it belongs to.
  private var metadata: (ImageMetadata?, of: ContentID)?
  /// True once other machines have been asked whether they are at work on it.
  private var isCoordinated = false
  /// The right to make the image for all machines.
  private var lease: WorkLease?
  /// The number of times that the bytes had changed when the image came.
  private var changes = 0

  private var source: String { request.name }
  override var requestKeys: RequestKeys? { request.keys }

  private var knownOriginal: FetchJob.KnownOriginal { record.ask == ask ? original : .unknown }

  init(_ request: ImageRequest, _ encoding: ImageEncoding, _ key: CacheKey, _ context: JobContext) {
    var request = request
    request.isExact = true
    (self.request, self.encoding, self.key, self.context) = (request, encoding, key, context)
    record = context.sources.record(of: request.keys.fetch)
    ask = record.ask
  }

  override func start(_ turn: inout Turn) {
    trace = context.recorder?.stage(.encode, source, at: turn.uptime)
    guard let search = EncodedSearch(request, key, context) else { return make(&turn) }
    trace?.enter("look-up", at: turn.uptime)
    task = Task(executorPreference: context.stepper) { [self, context] in
      let found = await search.find()
      context.turn { lookedUp(found, &$0) }
    }
  }

  private func lookedUp(_ found: EncodedSearch.Found, _ turn: inout Turn) {
    guard isRunning else { return }
    task = nil
    original = found.original
    trace?.note("found", .flag(found.plan.use != nil), at: turn.uptime)
    if found.plan.isUseless {
      turn.afterwards { [settlement = context.settlement, key] in settlement.drop([key]) }
    }
    guard let use = found.plan.use, let data = found.data, let stored = found.stored, let header = stored.header,
      let validity = found.plan.validity
    else { return coordinate(&turn) }
    // Another machine has made it.
    endLease(&turn) { $0.pass() }
    let image = EncodedImage(data, header, stored.contentID, validity, from: .disk)
    switch use {
    case .serve(let isStale): serve(image, isStale: isStale, isRenewed: found.plan.isRenewed, &turn)
    case .serveAndRevalidate: finish(.success(image.served(isStale: true, isRevalidationDue: true)), &turn)
    case .confirm: confirm(image, &turn)
    }
  }

  private func serve(_ image: EncodedImage, isStale: Bool, isRenewed: Bool, _ turn: inout Turn) {
    if isRenewed { renew(image, &turn) }
    finish(.success(image.served(isStale: isStale)), &turn)
  }

  private func renew(_ image: EncodedImage, _ turn: inout Turn) {
    turn.afterwards { [made = made(image), settlement = context.settlement] in settlement.renewEncoded(made) }
  }

  private func made(_ image: EncodedImage) -> Settlement.Encoded {
    Settlement.Encoded(image: image, key: key, request: request, ask: ask, record: record)
  }

  // MARK: Revalidating

  private func confirm(_ known: EncodedImage, _ turn: inout Turn) {
    fallback = known
    // All of the bytes could not confirm an image made from their beginning.
    guard !known.source.isOfBeginning else { return make(&turn) }
    let job = context.fetchJob(request, original: knownOriginal, record: record, &turn)
    wait(for: job, &turn) { job, bytes, turn in
      guard bytes.contentID == known.source else {
        job.fallback = nil
        return job.inspect(bytes, &turn)
      }
      let image = known.served(bytes)
      turn.afterwards { [keeps = job.context.keepsOriginal(of: job.request)] in bytes.answer?.accept(keeps: keeps) }
      job.renew(image, &turn)
      job.finish(.success(image), &turn)
    }
  }

  /// Finishes with the stale image, if it may stand in for the error.
  private func fail(_ error: LoadError, _ turn: inout Turn) {
    endLease(&turn) { $0.giveUp() }
    guard let known = fallback, request.cachePolicy != .reload, error.allowsStale(known.validity, now: turn.now) else {
      return finish(.failure(error), &turn)
    }
    trace?.note("fallback", .text(error.detail), at: turn.uptime)
    finish(.success(known.served(isStale: true)), &turn)
  }

  // MARK: Making

  /// Waits until the image may be made, and looks again for what other machines have stored meanwhile.
  private func coordinate(_ turn: inout Turn) {
    guard !isCoordinated, let coordinator = context.coordinator(for: request),
      let search = EncodedSearch(request, key, context)
    else { return make(&turn) }
    isCoordinated = true
    trace?.enter("lease", at: turn.uptime)
    task = Task(executorPreference: context.stepper) { [self, context] in
      let lease = await coordinator.enter(key)
      let found = await search.find()
      context.turn { turn in
        self.lease = lease
        guard isRunning else { return endLease(&turn) { $0.pass() } }
        lookedUp(found, &turn)
      }
    }
  }

  override func stop(_ turn: inout Turn) { endLease(&turn) { $0.pass() } }

  private func endLease(_ turn: inout Turn, _ end: @escaping @Sendable (WorkLease) -> Void) {
    guard let lease = lease.take() else { return }
    turn.afterwards { end(lease) }
  }

  private func make(_ turn: inout Turn) {
    guard encoding.metadata != .strip else { return encodeImage(.unknown, &turn) }
    fetch(&turn)
  }

  private func fetch(_ turn: inout Turn) {
    let job = context.fetchJob(request, original: knownOriginal, record: record, &turn)
    wait(for: job, &turn) { $0.inspect($1, &$2) }
  }

  /// Reads what the plan needs of the original's bytes, before its pixels.
  private func inspect(_ bytes: FetchedBytes, _ turn: inout Turn) {
    guard encoding.metadata != .strip else { return encodeImage(of: bytes, &turn) }
    work(&turn) { [self] _ -> Inspection in
      let decoders = context.decoders.decoders(for: request, of: bytes.data)
      let limits = context.configuration.decodeLimits
      // What is no image is the decoder's business, which may fetch it again.
      guard let info = try? decoders.info(of: bytes.data, limits: limits) else { return .metadata(nil) }
      if request.isAnswered(by: info, as: encoding, context.configuration.encoders) { return .original(info) }
      return .metadata(try? decoders.metadata(of: bytes.data, limits: limits))
    } end: { job, inspection, turn in
      switch inspection {
      case .original(let info):
        job.endLease(&turn) { $0.giveUp() }
        turn.afterwards { [keeps = job.context.keepsOriginal(of: job.request)] in bytes.answer?.accept(keeps: keeps) }
        job.finish(.success(EncodedImage(original: bytes, info)), &turn)
      case .metadata(let metadata):
        job.metadata = (metadata, bytes.contentID)
        job.encodeImage(of: bytes, &turn)
      }
    }
  }

  /// Encodes the image that is made of some bytes, unless it is in memory already.
  private func encodeImage(of bytes: FetchedBytes, _ turn: inout Turn) {
    let last = request.processors.count
    let (found, rest) = context.findingsInMemory(request, step: last, at: turn.now)
    turn.release((found, rest))
    if let known = found.known, known.step == last, known.image.contentID == bytes.contentID, bytes.contentID != .none {
      turn.afterwards { [keeps = context.keepsOriginal(of: request)] in bytes.answer?.accept(keeps: keeps) }
      let image = known.image.with(bytes.validity, status: bytes.status)
      return encode(ImageResponse(image, from: bytes), &turn)
    }
    encodeImage(.bytes(bytes), &turn)
  }

  private func encodeImage(_ start: ImageJob.Start, _ turn: inout Turn) {
    let job = context.imageJob(request, step: request.processors.count, start, storesFinished: false, &turn)
    wait(for: job, &turn) { $0.encode($1, &$2) }
  }

  private func encode(_ image: ImageResponse, _ turn: inout Turn) {
    if let metadata, metadata.of != image.contentID {
      // Other bytes have come meanwhile.
      changes += 1
      guard changes > 2 else { return fetch(&turn) }
      self.metadata = (nil, image.contentID)
    }
    let metadata = metadata?.0
    work(&turn) { [self] item -> EncodedImage in
      var container = image.container
      if metadata != nil { container.metadata = metadata }
      let share = MemoryShare(of: context.decodeBudget)
      defer { share.release() }
      let (data, format) = try context.configuration.encoders.encode(
        container,
        as: encoding,
        within: share,
        limit: context.configuration.maxEncodeBytes,
        isCancelled: { item.isCancelled },
      )
      let encoded = EncodedImage(data, format, of: image)
      context.settlement.keep(made(encoded))
      return encoded
    } end: { job, encoded, turn in
      job.endLease(&turn) { $0.finish() }
      job.finish(.success(encoded), &turn)
    }
  }

  // MARK: Waiting and working

  /// Waits for a job and passes its progress on; calls `receive` with its value, and fails with its error.
  private func wait<Input>(
    for job: Job<Input>,
    _ turn: inout Turn,
    _ receive: @escaping (EncodeJob, Input, inout Turn) -> Void,
  ) {
    trace?.enter("wait", at: turn.uptime)
    leave(&turn)
    let subscription = job.subscribe(priority: priority, isWatching: isWatched, for: trace, &turn) {
      [self] event, turn in
      guard isRunning else { return }
      switch event {
      case .progress(let completed, let total): send(progress: completed, of: total, &turn)
      case .partial: break
      case .finished(.success(let value)):
        dependency = nil
        receive(self, value, &turn)
      case .finished(.failure(let error)):
        dependency = nil
        fail(error, &turn)
      }
    }
    // A job that ends at once may have begun the next wait already.
    if job.isRunning { dependency = subscription }
  }

  /// Runs work on the process queue, and passes its result to `end`.
  private func work<Output: Sendable>(
    _ turn: inout Turn,
    _ body: @escaping @Sendable (WorkItem) throws -> Output,
    end: @escaping @Sendable (EncodeJob, Output, inout Turn) -> Void,
  ) {
    trace?.enter("queue", at: turn.uptime)
    do throws(WorkQueueError) {
      item = try context.processQueue.enqueue(priority: priority) { [self, trace] item in
        trace?.enter("work")
        let result = Result { try body(item) }
        context.turn { turn in
          guard isRunning else { return }
          self.item = nil
          switch result {
          case .success(let value): end(self, value, &turn)
          case .failure(let error):
            endLease(&turn) { $0.giveUp() }
            finish(.failure(LoadError(encoding: error, source)), &turn)
          }
        }
      }
    } catch {
      fail(LoadError(.overloaded, .encode, source, "too many images are waiting to be encoded"), &turn)
    }
  }
}

extension EncodedImage {
  /// Returns the same image, served in another way.
  fileprivate func served(isStale: Bool, isRevalidationDue: Bool = false) -> EncodedImage {
    EncodedImage(
      data,
      Header(of: self),
      source,
      validity,
      from: .disk,
      isStale: isStale,
      isRevalidationDue: isRevalidationDue,
    )
  }

  /// Returns the same image after its bytes have been revalidated.
  fileprivate func served(_ bytes: FetchedBytes) -> EncodedImage {
    EncodedImage(
      data,
      Header(Header(of: self), bytes.validity),
      source,
      bytes.validity,
      from: bytes.origin,
      isStale: bytes.isStale,
      isRevalidationDue: bytes.isRevalidationDue,
    )
  }
}

extension ImageRequest {
  /// Returns `true` if an original is what the request would give in an encoding, so that its bytes may be served.
  ///
  /// It must be of the format, at the size, with all of its metadata and frames.
  func isAnswered(by info: ImageInfo, as encoding: ImageEncoding, _ encoders: EncoderRegistry) -> Bool {
    guard encoding.metadata == .keep, processors.isEmpty, frame == 0, animates || info.frameCount <= 1,
      !info.isVector, encoders.mayServe(info.format, as: encoding)
    else { return false }
    guard let size else { return true }
    guard let plan = try? SamplingPlan(size, width: info.width, height: info.height) else { return false }
    return plan == SamplingPlan(width: info.width, height: info.height)
  }
}

extension LoadError {
  /// Creates an error from what encoding has thrown.
  fileprivate init(encoding error: any Error, _ source: String) {
    guard let error = error as? ImageError else {
      self.init(.unencodable, .encode, source, "\(error)", cause: error)
      return
    }
    switch error.code {
    case .cancelled: self.init(.cancelled, .encode, source, "cancelled")
    case .notEncodable: self.init(.unencodable, .encode, source, error.detail, cause: error)
    // A frame of an animation is decoded when it is written.
    default: self.init(.undecodable, .decode, source, error.detail, cause: error)
    }
  }
}
