import VitrineImaging
import VitrineRuntime

/// Follows a body on its way and says when a preview is worth decoding, one at a time.
///
/// It keeps no bytes: the body belongs to the one who receives it, and a preview takes a copy of its beginning.
final class PreviewFeed: Sendable {
  /// What decodes; `isOver` is called when that is done.
  typealias Decode = @Sendable (_ pending: PendingPreview, _ isOver: @escaping @Sendable () -> Void) -> Void

  private struct State {
    /// Gives the decoder once enough has come to choose one; nothing is followed without it.
    var make: (@Sendable (Data) -> IncrementalDecoder?)?
    var decoder: IncrementalDecoder?
    var isDecoding = false

    mutating func end() { (make, decoder) = (nil, nil) }
  }

  private let state: Lock<State>
  private let decode: Decode

  /// `make` is asked with each arrival for the decoder of the body that has come so far, until it gives one.
  init(_ make: @escaping @Sendable (Data) -> IncrementalDecoder?, decode: @escaping Decode) {
    state = Lock(State(make: make))
    self.decode = decode
  }

  /// Ends it, from any thread.
  func stop() { state.withLock { $0.end() } }

  /// Looks at the body as far as it has come; `total` is 0 where nobody knows how long it will be.
  ///
  /// While a preview is being decoded nothing is looked at: the next bytes bring what was missed.
  func follow(_ body: Data, total: Int) {
    let pending = state.withLock { state -> PendingPreview? in
      guard !state.isDecoding else { return nil }
      if state.decoder == nil { state.decoder = state.make?(body) }
      if total > 0 { state.decoder?.expectedByteCount = total }
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
    decode(pending) { [weak self] in self?.state.withLock { $0.isDecoding = false } }
  }
}
