import VitrineImaging
import VitrineRuntime

/// Inspects the bytes of an image while they arrive and decodes previews or an early image, one at a time.
///
/// It keeps no bytes: the body belongs to its receiver, and a preview copies its beginning. Delegates and custom
/// decoders are called on a worker, not on the loader's thread.
// @unchecked: `job` is set once.
final class ArrivalFeed: @unchecked Sendable {
  /// The purpose of inspecting the bytes.
  enum Purpose: Sendable {
    case previews
    /// The moment from which the image needs no further bytes, if these could be fetched later.
    case beginning
  }

  private enum Phase {
    /// There are too few bytes to choose a decoder.
    case choosing
    case following(IncrementalDecoder)
    /// A thread inspects the bytes; others wait.
    case looking
    /// A preview or image is being decoded; nothing is inspected meanwhile.
    case decoding(IncrementalDecoder)
    case ended
  }

  private struct State {
    var phase = Phase.choosing
    var priority: Priority
    /// Bytes that came while a worker inspected earlier ones, and need not wait for the next.
    var missed: (body: Data, head: BodySink.Head)?
    /// The inspection or decoding on a queue.
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

  /// Ends the feed when the bytes are complete or no longer wanted; the image must not wait for a preview.
  ///
  /// Must not be called within a turn.
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

  // MARK: Inspecting

  /// Inspects the body so far, unless that or a decode is under way; the next bytes make up for it.
  func follow(_ body: Data, of head: BodySink.Head) {
    // Custom code and questions to another process run on a worker.
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
    // A download that cannot be resumed has to be complete.
    if case .choosing = phase, purpose == .beginning, !head.partial.isWorthKeeping { return goOn(with: .ended) }
    guard var decoder = decoder(phase, body) else { return goOn(with: .choosing) }
    if head.total > 0 { decoder.expectedByteCount = head.total }
    do throws(ImageError) {
      guard let pending = try decoder.follow(body) else { return goOn(with: .following(decoder)) }
      goOn(with: .decoding(decoder))
      decode(pending, of: head)
    } catch {
      // The decode of the image itself reports what is wrong with the header.
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

  /// Ends an inspection and starts one of missed bytes; during a decode, the next bytes bring those.
  private func goOn(with phase: Phase) {
    // Replaced values are released after the lock.
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
    let isDone = enqueue(on: context.decodeQueue) { [self] item in
      defer { decoded() }
      // A failed preview is dropped, and an early image is decoded again from all bytes: that reports the error.
      let share = MemoryShare(of: context.decodeBudget)
      let shown = try? context.decodeWatch.run(item, share) {
        ImageFormat.sniff(pending.data)
      } onStuck: { _ in
      } _: { () throws(ImageError) in
        try pending.decode(share, isCancelled: { item.isCancelled })
      }
      guard let shown = shown ?? nil, !item.isCancelled else { return }
      var container = ImageContainer(shown.bitmap, info: shown.info)
      switch purpose {
      case .previews:
        container.isPreview = true
        let preview = ImageResponse(container, from: .network)
        tell { job, turn in job.send(partial: preview, &turn) }
      case .beginning:
        guard let bytes = FetchedBytes(pending.data, beginning: head, context, at: context.clock.now) else { return }
        let image = LoadedImage(container, of: bytes, Rendition(of: shown.info, context.decodeOptions(of: request)))
        // The image is stored for every request: nothing else could spare the server a request.
        let made = Settlement.Made(image: image, request: request, step: 0, ask: ask, record: record, isWanted: true)
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

  /// Passes something to the job in a turn of its own, unless the job has left.
  private func tell(_ body: (ImageJob, inout Turn) -> Void) {
    context.turn { turn in
      guard let job else { return }
      turn.keep(job)
      if job.arrivals.contains(where: { $0 === self }) { body(job, &turn) }
    }
  }

  /// Enqueues work, unless the queue is full: previews are dispensable.
  private func enqueue(
    on queue: WorkQueue,
    _ work: @escaping @Sendable (WorkItem) -> Void,
  ) -> Bool {
    let priority = state.withLock { $0.priority }
    guard let item = try? queue.enqueue(priority: priority, work) else { return false }
    let isEnded = state.withLock { state in
      if !state.isEnded { state.item = item }
      return state.isEnded
    }
    if isEnded { item.cancel() }
    return true
  }
}
