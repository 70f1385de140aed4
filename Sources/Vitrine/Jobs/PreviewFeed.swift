import VitrineImaging
import VitrineRuntime

/// Follows a body on its way and says when what has come is worth decoding, once at a time.
///
/// It keeps no bytes: the body belongs to the one who receives it, and a preview takes a copy of its beginning.
final class PreviewFeed: Sendable {
  /// Says how a body is followed, from what has come of it.
  typealias Choose = @Sendable (_ body: Data, _ head: BodySink.Head) -> Choice
  /// What decodes; `isOver` is called when that is done.
  typealias Decode =
    @Sendable (
      _ pending: PendingPreview, _ head: BodySink.Head, _ isOver: @escaping @Sendable () -> Void,
    ) -> Void

  /// How a body is followed.
  enum Choice {
    case with(IncrementalDecoder)
    /// Too little has come to say; the next bytes are asked about again.
    case later
    case never
  }

  private struct State {
    /// Chooses the decoder; nothing is followed without it.
    var choose: Choose?
    var decoder: IncrementalDecoder?
    var isDecoding = false

    mutating func end() { (choose, decoder) = (nil, nil) }
  }

  private let state: Lock<State>
  private let decode: Decode

  /// `choose` is asked with each arrival until it says something else than ``Choice/later``.
  init(_ choose: @escaping Choose, decode: @escaping Decode) {
    state = Lock(State(choose: choose))
    self.decode = decode
  }

  /// Ends it, from any thread.
  func stop() { state.withLock { $0.end() } }

  /// Looks at the body as far as it has come.
  ///
  /// While some of it is being decoded nothing is looked at: the next bytes bring what was missed.
  func follow(_ body: Data, of head: BodySink.Head) {
    let pending = state.withLock { state -> PendingPreview? in
      guard !state.isDecoding else { return nil }
      if state.decoder == nil {
        switch state.choose?(body, head) ?? .later {
        case .with(let decoder): state.decoder = decoder
        case .later: break
        case .never: state.end()
        }
        if head.total > 0 { state.decoder?.expectedByteCount = head.total }
      }
      do throws(ImageError) {
        guard let pending = try state.decoder?.follow(body) else { return nil }
        state.isDecoding = true
        return pending
      } catch {
        // Whatever is wrong with the header, the one who decodes the image says it.
        state.end()
        return nil
      }
    }
    guard let pending else { return }
    decode(pending, head) { [weak self] in self?.state.withLock { $0.isDecoding = false } }
  }
}
