import VitrineImaging
import VitrineRuntime

/// Follows a body on its way and says when what has come is worth decoding, once at a time.
///
/// It keeps no bytes: the body belongs to the one who receives it, and a preview takes a copy of its beginning. Where a user's
/// code has to be asked, a delegate or a decoder, that is done on a worker and not on the loader's thread.
final class PreviewFeed: Sendable {
  /// Says how a body is followed, from what has come of it.
  typealias Choose = @Sendable (_ body: Data, _ head: BodySink.Head) -> Choice
  /// What decodes; `isOver` is called when that is done.
  typealias Decode =
    @Sendable (
      _ pending: PendingPreview, _ head: BodySink.Head, _ isOver: @escaping @Sendable () -> Void,
    ) -> Void

  /// How a body is followed.
  enum Choice: Sendable {
    case with(IncrementalDecoder)
    /// Too little has come to say; the next bytes are asked about again.
    case later
    case never
  }

  private enum Phase {
    case choosing(Choose)
    case following(IncrementalDecoder)
    case ended
  }

  private struct State {
    var phase: Phase
    /// Whether somebody looks, or decodes what was found; nobody else touches the phase meanwhile.
    var isBusy = false
    var isStopped = false
    var isLooking = false
    /// What has come while a worker looked: that need not wait for the next bytes.
    var missed: (body: Data, head: BodySink.Head)?
    var item: WorkItem?
  }

  private let state: Lock<State>
  private let decode: Decode
  /// Where to look; `nil` for the thread on which bytes arrive.
  private let worker: WorkQueue?

  /// `choose` is asked with each arrival until it says something else than ``Choice/later``.
  init(on worker: WorkQueue?, _ choose: @escaping Choose, decode: @escaping Decode) {
    state = Lock(State(phase: .choosing(choose)))
    (self.worker, self.decode) = (worker, decode)
  }

  /// Ends it; not to be called within a turn.
  func stop() {
    let left = state.withLock { state in
      state.isStopped = true
      defer { state.missed = nil }
      return (state.item, state.missed)
    }
    left.0?.cancel()
  }

  /// Looks at the body as far as it has come.
  ///
  /// While somebody looks, or decodes, nothing else is looked at: the next bytes bring what was missed.
  func follow(_ body: Data, of head: BodySink.Head) {
    let phase = state.withLock { state -> Phase? in
      if case .ended = state.phase { return nil }
      guard !state.isStopped else { return nil }
      guard !state.isBusy else {
        if worker != nil, state.isLooking { state.missed = (body, head) }
        return nil
      }
      (state.isBusy, state.isLooking) = (true, true)
      return state.phase
    }
    guard let phase else { return }
    guard let worker else { return look(phase, body, head) }
    do throws(WorkQueueError) {
      let item = try worker.enqueue { [self] _ in look(phase, body, head) }
      let isStopped = state.withLock { state in
        state.item = item
        return state.isStopped
      }
      if isStopped { item.cancel() }
    } catch {
      // Where too much is waiting, previews are what can be done without.
      endLook()
    }
  }

  private func endLook() {
    let missed = state.withLock { state in
      (state.isBusy, state.isLooking) = (false, false)
      return state.missed.take()
    }
    if let missed { follow(missed.body, of: missed.head) }
  }

  private func look(_ phase: Phase, _ body: Data, _ head: BodySink.Head) {
    var phase = phase
    if case .choosing(let choose) = phase {
      switch choose(body, head) {
      case .with(let decoder): phase = .following(decoder)
      case .later: break
      case .never: phase = .ended
      }
    }
    var pending: PendingPreview?
    if case .following(var decoder) = phase {
      if head.total > 0 { decoder.expectedByteCount = head.total }
      do throws(ImageError) {
        pending = try decoder.follow(body)
        phase = .following(decoder)
      } catch {
        // Whatever is wrong with the header, the one who decodes the image says it.
        phase = .ended
      }
    }
    let old = state.withLock { [phase] state in
      defer { state.phase = phase }
      return state.phase
    }
    withExtendedLifetime(old) {}
    guard let pending else { return endLook() }
    // The next bytes bring what is missed while a preview is decoded.
    let missed = state.withLock { state in
      state.isLooking = false
      return state.missed.take()
    }
    withExtendedLifetime(missed) {}
    decode(pending, head) { [weak self] in self?.endLook() }
  }
}
