import VitrineImaging
import VitrineRuntime

/// Bytes to pixels, at the size asked for, on the decode queue.
final class DecodeJob: StageJob, @unchecked Sendable {
  // @unchecked: like its superclass, guarded by the engine's lock.
  private let source: String
  private let options: DecodeOptions
  private let keepsEncodedData: Bool
  private let context: JobContext
  private let fetch: (_ again: Bool, inout Turn) -> Job<FetchedBytes, LoadError>
  private let stored: @Sendable (CachedImage) -> Void
  /// Stored bytes that turned out to be no image, while others are fetched in their place.
  private var rejected: Verdict?

  /// `fetch` gives the job that brings the bytes, from the server if `again`; `stored` is called with the image before
  /// anyone gets it.
  init(
    source: String,
    options: DecodeOptions,
    keepsEncodedData: Bool,
    context: JobContext,
    fetch: @escaping (_ again: Bool, inout Turn) -> Job<FetchedBytes, LoadError>,
    stored: @escaping @Sendable (CachedImage) -> Void,
    onEnd: @escaping (inout Turn) -> Void,
  ) {
    (self.source, self.options, self.context) = (source, options, context)
    (self.fetch, self.stored, self.keepsEncodedData) = (fetch, stored, keepsEncodedData)
    super.init(onEnd: onEnd)
  }

  override func start(_ turn: inout Turn) {
    trace = context.recorder?.stage("decode", source)
    subscribe(again: false, &turn)
  }

  private func subscribe(again: Bool, _ turn: inout Turn) {
    wait(for: fetch(again, &turn), &turn) { [weak self] result, turn in
      guard let self else { return }
      switch result {
      case .success(let bytes): decode(bytes, &turn)
      case .failure(let error):
        rejected?(false)
        finish(.failure(error), &turn)
      }
    }
  }

  private func decode(_ bytes: FetchedBytes, _ turn: inout Turn) {
    let (options, context, source, stored) = (options, context, source, stored)
    let (keepsEncodedData, trace) = (keepsEncodedData, trace)
    trace?.enter("queue")
    do throws(WorkQueueError) {
      item = try context.decodeQueue.enqueue(priority: priority, bytes: bytes.data.count) { [weak self] item in
        trace?.enter("work")
        var options = options
        options.isCancelled = { item.isCancelled }
        let result: Result<CachedImage, LoadError>
        do throws(ImageError) {
          let decoded = try context.decoders.decode(bytes.data, options)
          var response = ImageResponse(decoded.bitmap, decoded.info, of: bytes)
          if keepsEncodedData { response.encoded = bytes.data }
          let image = CachedImage(
            response: response,
            validity: bytes.validity,
            rendition: Rendition(of: decoded.info, options),
          )
          stored(image)
          result = .success(image)
        } catch {
          result = .failure(
            error.isCancellation
              ? LoadError(.cancelled, .decode, source, "cancelled")
              : LoadError(.undecodable, .decode, source, error.detail, cause: error)
          )
        }
        guard let self else { return }
        context.engine.turn { self.decoded(result, of: bytes, &$0) }
      }
    } catch {
      finish(.failure(LoadError(.overloaded, .decode, source, "too much is waiting to be decoded")), &turn)
    }
  }

  private func decoded(_ result: Result<CachedImage, LoadError>, of bytes: FetchedBytes, _ turn: inout Turn) {
    guard isRunning else { return }
    switch result {
    case .success: bytes.verdict?(true)
    case .failure(let error) where error.isCancellation: break
    case .failure:
      // What the cache had is no image: the server is asked once. What it says takes the place of what was stored.
      if rejected == nil, bytes.origin == .disk || bytes.origin == .revalidated {
        rejected = bytes.verdict
        return subscribe(again: true, &turn)
      }
      (rejected ?? bytes.verdict)?(false)
    }
    finish(result, &turn)
  }
}
