import VitrineImaging
import VitrineRuntime

/// Looks at the bytes of an image while they arrive, and decodes what is worth it, one thing at a time.
///
/// It keeps no bytes: the body belongs to the one who receives it, and a preview takes a copy of its beginning. Where a user's
/// code has to be asked, a delegate or a decoder, that is done on a worker and not on the loader's thread.
// @unchecked: `job` is set once.
final class ArrivalFeed: @unchecked Sendable {
  /// What the bytes are looked at for.
  enum Purpose: Sendable {
    case previews
    /// The moment from which on the rest need not come, where it could be fetched later.
    case beginning
  }

  private enum Phase {
    /// Too little has come to say what decodes.
    case choosing
    case following(IncrementalDecoder)
    /// Somebody looks at what has come; nothing else is looked at meanwhile.
    case looking
    /// What was found is being decoded; nothing is looked at meanwhile.
    case decoding(IncrementalDecoder)
    case ended
  }

  private struct State {
    var phase = Phase.choosing
    var priority: Priority
    /// What has come while a worker looked: that need not wait for the next bytes.
    var missed: (body: Data, head: BodySink.Head)?
    /// The looking or decoding on a queue.
    var item: WorkItem?

    var isEnded: Bool { if case .ended = phase { true } else { false } }
  }

  let purpose: Purpose
  private weak var job: ImageJob?
  private let context: JobContext
  private let request: ImageRequest
  private let ask: SourceRecord.Ask
  private let record: SourceRecord
  private let state: Lock<State>

  init(_ purpose: Purpose, for job: ImageJob) {
    (self.purpose, self.job, context, request) = (purpose, job, job.context, job.request)
    (ask, record, state) = (job.ask, job.record, Lock(State(priority: job.priority)))
  }

  /// Ends it when the bytes are there, or not wanted any more; the image itself must not wait for a preview.
  ///
  /// Not to be called within a turn.
  func stop() {
    let left = state.withLock { state in
      let left = state
      (state.phase, state.missed, state.item) = (.ended, nil, nil)
      return left
    }
    left.item?.cancel()
  }

  func setPriority(_ priority: Priority) {
    let item = state.withLock { state in
      state.priority = priority
      return state.item
    }
    item?.priority = priority
  }

  // MARK: Looking

  /// Looks at the body as far as it has come, unless somebody looks or decodes already: the next bytes bring what was missed.
  func follow(_ body: Data, of head: BodySink.Head) {
    // On a worker, where a user's code has to be asked.
    let worker = context.decoders.own == nil ? context.decodeQueue : nil
    let phase = state.withLock { state -> Phase? in
      switch state.phase {
      case .choosing, .following:
        defer { state.phase = .looking }
        return state.phase
      case .looking:
        if worker != nil { state.missed = (body, head) }
        return nil
      case .decoding, .ended: return nil
      }
    }
    guard let phase else { return }
    guard let worker else { return look(phase, body, head) }
    if !enqueue(on: worker, { [self] _ in look(phase, body, head) }) { goOn(with: phase) }
  }

  private func look(_ phase: Phase, _ body: Data, _ head: BodySink.Head) {
    // What could not be gone on with has to come whole.
    if case .choosing = phase, purpose == .beginning, !head.partial.isWorthKeeping { return goOn(with: .ended) }
    guard var decoder = decoder(phase, body) else { return goOn(with: .choosing) }
    if head.total > 0 { decoder.expectedByteCount = head.total }
    do throws(ImageError) {
      guard let pending = try decoder.follow(body) else { return goOn(with: .following(decoder)) }
      goOn(with: .decoding(decoder))
      decode(pending, of: head)
    } catch {
      // Whatever is wrong with the header, the one who decodes the image says it.
      goOn(with: .ended)
    }
  }

  private func decoder(_ phase: Phase, _ body: Data) -> IncrementalDecoder? {
    if case .following(let decoder) = phase { return decoder }
    guard let decoders = context.decoders.decoders(for: request, arriving: body) else { return nil }
    let previews = purpose == .previews ? request.previews : .none
    var decoder = IncrementalDecoder(
      options: context.decodeOptions(of: request),
      previews: previews,
      decoders: decoders,
    )
    decoder.stopsEarly = purpose == .beginning
    return decoder
  }

  /// Ends a look, and looks at what was missed; the next bytes bring that while something is decoded.
  private func goOn(with phase: Phase) {
    // What is not needed any more is released out here.
    let left = state.withLock { state in
      let left = state
      if !state.isEnded { (state.phase, state.missed) = (phase, nil) }
      return left
    }
    if case .decoding = phase { return }
    if let missed = left.missed { follow(missed.body, of: missed.head) }
  }

  // MARK: Decoding

  private func decode(_ pending: PendingPreview, of head: BodySink.Head) {
    let isDone = enqueue(on: context.decodeQueue, bytes: pending.byteCount) { [self] item in
      defer { decoded() }
      // A preview that fails is none, and an image is tried again with all of the bytes: what is wrong that one says.
      guard let shown = try? pending.decode(isCancelled: { item.isCancelled }), !item.isCancelled else { return }
      var container = ImageContainer(shown.bitmap, info: shown.info)
      switch purpose {
      case .previews:
        container.isPreview = true
        let preview = ImageResponse(container, from: .network)
        tell { job, turn in job.send(partial: preview, &turn) }
      case .beginning:
        guard let bytes = FetchedBytes(pending.data, beginning: head, at: context.clock.now) else { return }
        let image = LoadedImage(container, of: bytes, Rendition(of: shown.info, context.decodeOptions(of: request)))
        let made = Settlement.Made(image: image, request: request, step: 0, ask: ask, record: record)
        context.settlement.keep(made, from: .network)
        tell { job, turn in job.finish(early: image, &turn) }
      }
    }
    if !isDone { decoded() }
  }

  private func decoded() {
    state.withLock { state in
      if case .decoding(let decoder) = state.phase { state.phase = .following(decoder) }
    }
  }

  /// Tells the job something in a turn of its own, unless it has left.
  private func tell(_ body: (ImageJob, inout Turn) -> Void) {
    context.turn { turn in
      guard let job else { return }
      turn.keep(job)
      if job.arrivals.contains(where: { $0 === self }) { body(job, &turn) }
    }
  }

  /// Has a queue do something, unless too much is waiting there: this is what can be done without.
  private func enqueue(
    on queue: WorkQueue,
    bytes: Int = 0,
    _ work: @escaping @Sendable (WorkItem) -> Void,
  ) -> Bool {
    let priority = state.withLock { $0.priority }
    guard let item = try? queue.enqueue(priority: priority, bytes: bytes, work) else { return false }
    let isEnded = state.withLock { state in
      if !state.isEnded { state.item = item }
      return state.isEnded
    }
    if isEnded { item.cancel() }
    return true
  }
}
