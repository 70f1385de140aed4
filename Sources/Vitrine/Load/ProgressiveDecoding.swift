import VitrineImaging
import VitrineRuntime

/// Inspects the bytes of an image while they arrive and decodes previews or an early image, one at a time.
///
/// It keeps no bytes: the body belongs to its receiver, and a preview copies its beginning. Delegates and custom
/// decoders are called on a worker, not on the loader's thread.
final class ProgressiveDecoding: Sendable {
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
    /// A preview or image is being decoded; nothing is inspected meanwhile, but the frames of an animation after it.
    case decoding(IncrementalDecoder)
    case ended

    var extendsAnimation: Bool { if case .decoding(let decoder) = self { decoder.animation != nil } else { false } }
  }

  private struct State {
    var phase = Phase.choosing
    var priority: Priority
    /// Bytes that came while earlier ones were inspected, or extended an animation, and need not wait for the next.
    var missed: (body: Data, head: BodySink.Head)?
    /// The inspection or decoding on a queue.
    var item: WorkItem?

    /// The number of the body that is inspected; `nil` before its first bytes.
    var body: Int?
    /// The animation that plays while the bytes arrive.
    var animation: ArrivingAnimation?

    var isEnded: Bool { if case .ended = phase { true } else { false } }
  }

  private let purpose: Purpose
  private let context: LoadContext
  private let request: ImageRequest
  private let show: @Sendable (ImageContainer, Data, BodySink.Head) -> Void
  private let state: Lock<State>

  /// Creates a feed; `show` receives what is decoded of the beginning of a body, unless the feed has been stopped.
  init(
    _ purpose: Purpose,
    _ request: ImageRequest,
    _ context: LoadContext,
    _ priority: Priority,
    show: @escaping @Sendable (ImageContainer, Data, BodySink.Head) -> Void,
  ) {
    (self.purpose, self.context, self.request, self.show) = (purpose, context, request, show)
    state = Lock(State(priority: priority))
  }

  /// Ends the feed when the bytes are complete or no longer wanted; the image must not wait for a preview.
  ///
  /// - Returns: The animation that plays already.
  @discardableResult
  func stop() -> ArrivingAnimation? {
    let left = state.withLock { state in
      let left = state
      (state.phase, state.missed, state.item, state.animation) = (.ended, nil, nil, nil)
      return left
    }
    left.item?.cancel()
    return left.animation
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
      // Another body is another image.
      guard state.body == nil || state.body == head.number else { return nil }
      state.body = head.number
      switch state.phase {
      case .choosing, .following:
        defer { state.phase = .looking }
        return state.phase
      case .looking:
        state.missed = (body, head)
        return nil
      case .decoding, .ended:
        if state.phase.extendsAnimation { state.missed = (body, head) }
        return nil
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
      guard !state.isEnded else { return left }
      state.phase = phase
      if !phase.extendsAnimation { state.missed = nil }
      return left
    }
    if case .decoding = phase { return }
    if let missed = left.missed { follow(missed.body, of: missed.head) }
  }

  // MARK: Decoding

  private func decode(_ pending: PendingPreview, of head: BodySink.Head) {
    if let animation = pending.arrivingAnimation {
      state.withLock { if !$0.isEnded { $0.animation = animation } }
    }
    let isDone = enqueue(on: context.decodeQueue) { [self] item in
      defer { decoded() }
      // A failed preview is dropped, and an early image is decoded again from all bytes: that reports the error.
      let share = MemoryShare(of: context.decodeBudget)
      let shown = try? context.decodeWatch.run(item, share) {
        ImageFormat.sniff(pending.data)
      } onStuck: { _ in
      } _: { () throws(ImageError) in
        try pending.decode(DecodeJob(memoryShare: share), isCancelled: { item.isCancelled })
      }
      guard let shown = shown ?? nil, !item.isCancelled else { return }
      var container = ImageContainer(shown.bitmap, info: shown.info)
      container.isPreview = purpose == .previews
      container.animation = shown.animation
      container.readSubjects(in: pending.data, pending.options)
      if !state.withLock({ $0.isEnded }) { show(container, pending.data, head) }
    }
    if !isDone { decoded() }
  }

  private func decoded() {
    let decoder = state.withLock { state -> IncrementalDecoder? in
      if case .decoding(let decoder) = state.phase { decoder } else { nil }
    }
    if let decoder { goOn(with: .following(decoder)) }
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
