import VitrineImaging
import VitrineRuntime

/// Bytes to pixels, at the size asked for, on the decode queue.
final class DecodeJob: StageJob, @unchecked Sendable {
  // @unchecked: like its superclass, guarded by the engine's lock.
  private let source: String
  private let request: ImageRequest
  private let options: DecodeOptions
  private let previews: PreviewPolicy
  private let keepsEncodedData: Bool
  private let keepsOriginal: Bool
  /// Whether the server may be asked in place of the cache.
  private let asksServer: Bool
  /// Whether the image may be made of the beginning of its bytes, and the rest not be fetched.
  private let stopsEarly: Bool
  private let context: JobContext
  private let fetch: (_ again: Bool, inout Turn) -> Job<FetchedBytes, LoadError>
  private let stored: @Sendable (CachedImage) -> Void
  /// Stored bytes that turned out to be no image, while others are fetched in their place.
  private var rejected: Verdict?
  /// The bytes on their way, as long as they are.
  private weak var arriving: RemoteFetchJob?
  private var feed: PreviewFeed?
  private var previewItem: WorkItem?
  private var early: (feed: PreviewFeed, item: WorkItem?)?

  /// `fetch` gives the job that brings the bytes, from the server if `again`; `stored` is called with the image before
  /// anyone gets it.
  init(
    _ request: ImageRequest,
    options: DecodeOptions,
    previews: PreviewPolicy,
    keepsEncodedData: Bool,
    keepsOriginal: Bool,
    asksServer: Bool,
    stopsEarly: Bool,
    context: JobContext,
    fetch: @escaping (_ again: Bool, inout Turn) -> Job<FetchedBytes, LoadError>,
    stored: @escaping @Sendable (CachedImage) -> Void,
    onEnd: @escaping (inout Turn) -> Void,
  ) {
    (self.request, self.options, self.previews, self.context) = (request, options, previews, context)
    source = request.name
    (self.fetch, self.stored, self.keepsEncodedData) = (fetch, stored, keepsEncodedData)
    (self.keepsOriginal, self.asksServer, self.stopsEarly) = (keepsOriginal, asksServer, stopsEarly)
    super.init(onEnd: onEnd)
  }

  override func start(_ turn: inout Turn) {
    trace = context.recorder?.stage("decode", source)
    subscribe(again: false, &turn)
  }

  private func subscribe(again: Bool, _ turn: inout Turn) {
    let job = fetch(again, &turn)
    arriving = job as? RemoteFetchJob
    wait(for: job, &turn) { [weak self] result, turn in
      guard let self else { return }
      endFollowing()
      switch result {
      case .success(let bytes): decode(bytes, &turn)
      case .failure(let error):
        rejected?(false)
        finish(.failure(error), &turn)
      }
    }
    // A job that has not begun, or is over, has nothing to look at.
    if isWatched { beginPreviews(&turn) }
    if stopsEarly { beginEarly(&turn) }
  }

  override func stop(_ turn: inout Turn) {
    endFollowing()
    super.stop(&turn)
  }

  override func watchingBegan(_ turn: inout Turn) {
    super.watchingBegan(&turn)
    beginPreviews(&turn)
  }

  // MARK: Previews

  private func beginPreviews(_ turn: inout Turn) {
    guard feed == nil, previews.limit > 0, let arriving else { return }
    let choose: PreviewFeed.Choose = { [context, request, options, previews] body, _ in
      guard let decoders = context.decoders(for: request, arriving: body) else { return .later }
      return .with(IncrementalDecoder(options: options, previews: previews, decoders: decoders))
    }
    let feed = PreviewFeed(choose) { [weak self, context] pending, _, isOver in
      guard let self else { return isOver() }
      context.engine.turn { self.decode(pending, isOver, &$0) }
    }
    self.feed = feed
    arriving.add(feed, &turn)
  }

  /// Called when the bytes are there, or no longer wanted: the image itself must not wait for a preview.
  private func endFollowing() {
    feed?.stop()
    previewItem?.cancel()
    early?.feed.stop()
    early?.item?.cancel()
    (feed, previewItem, early, arriving) = (nil, nil, nil, nil)
  }

  private func decode(_ pending: PendingPreview, _ isOver: @escaping @Sendable () -> Void, _ turn: inout Turn) {
    guard isRunning, feed != nil else { return isOver() }
    do throws(WorkQueueError) {
      previewItem = try context.decodeQueue.enqueue(priority: priority, bytes: pending.byteCount) {
        [weak self, context] item in
        // A preview that fails is none; what is wrong the image says.
        let preview = try? pending.decode(isCancelled: { item.isCancelled })
        isOver()
        guard let self, let preview else { return }
        context.engine.turn { self.send(preview, &$0) }
      }
    } catch {
      // Where too much is waiting, previews are what can be done without.
      isOver()
    }
  }

  private func send(_ preview: ImagePreview, _ turn: inout Turn) {
    guard feed != nil else { return }
    previewItem = nil
    send(partial: CachedImage(LoadedImage(preview.bitmap)), &turn)
  }

  // MARK: The image of the beginning

  /// Looks out for the moment from which on the rest need not come, where it could be fetched later.
  private func beginEarly(_ turn: inout Turn) {
    guard let arriving else { return }
    let choose: PreviewFeed.Choose = { [context, request, options] body, head in
      guard head.partial.isWorthKeeping else { return .never }
      guard let decoders = context.decoders(for: request, arriving: body) else { return .later }
      var decoder = IncrementalDecoder(options: options, previews: .none, decoders: decoders)
      decoder.stopsEarly = true
      return .with(decoder)
    }
    let feed = PreviewFeed(choose) { [weak self, context] pending, head, isOver in
      guard let self else { return isOver() }
      context.engine.turn { self.decode(beginning: pending, of: head, isOver, &$0) }
    }
    early = (feed, nil)
    arriving.add(feed, &turn)
  }

  private func decode(
    beginning pending: PendingPreview,
    of head: BodySink.Head,
    _ isOver: @escaping @Sendable () -> Void,
    _ turn: inout Turn,
  ) {
    guard isRunning, early != nil else { return isOver() }
    let (options, stored) = (options, stored)
    early?.item = try? context.decodeQueue.enqueue(priority: priority, bytes: pending.byteCount) {
      [weak self, context] item in
      defer { isOver() }
      // What fails here is tried again with all of the bytes.
      guard let shown = try? pending.decode(isCancelled: { item.isCancelled }),
        let bytes = FetchedBytes(pending.data, beginning: head, at: context.clock.now), !item.isCancelled
      else { return }
      let image = CachedImage(LoadedImage(shown.bitmap, shown.info, of: bytes, Rendition(of: shown.info, options)))
      stored(image)
      guard let self else { return }
      context.engine.turn { self.finish(early: image, &$0) }
    }
    if early?.item == nil { isOver() }
  }

  private func finish(early image: CachedImage, _ turn: inout Turn) {
    guard isRunning, early != nil else { return }
    endFollowing()
    trace?.note("made of its beginning", .number(image.loaded.byteCount))
    // Nothing takes the place of what was stored and is no image.
    rejected?(false)
    // The last one to leave stops the download, and what has come of it is kept.
    leave(&turn)
    finish(.success(image), &turn)
  }

  // MARK: The image

  private func decode(_ bytes: FetchedBytes, _ turn: inout Turn) {
    let (request, options, context, source, stored) = (request, options, context, source, stored)
    let (keepsEncodedData, trace) = (keepsEncodedData, trace)
    trace?.enter("queue")
    do throws(WorkQueueError) {
      item = try context.decodeQueue.enqueue(priority: priority, bytes: bytes.data.count) { [weak self] item in
        trace?.enter("work")
        var options = options
        options.isCancelled = { item.isCancelled }
        let result: Result<CachedImage, LoadError>
        do throws(ImageError) {
          let decoded = try context.decoders(for: request, of: bytes.data).decode(bytes.data, options)
          let loaded = LoadedImage(
            decoded.bitmap,
            decoded.info,
            of: bytes,
            Rendition(of: decoded.info, options),
            encoded: keepsEncodedData ? bytes.data : nil,
          )
          let image = CachedImage(loaded)
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
    case .success:
      // Nothing takes the place of what was stored.
      if !keepsOriginal { rejected?(false) }
      bytes.verdict?(true, keeps: keepsOriginal)
    case .failure(let error) where error.isCancellation: break
    case .failure:
      // What the cache had is no image: the server is asked once. What it says takes the place of what was stored.
      if rejected == nil, asksServer, bytes.origin == .disk || bytes.origin == .revalidated {
        rejected = bytes.verdict
        return subscribe(again: true, &turn)
      }
      (rejected ?? bytes.verdict)?(false)
    }
    finish(result, &turn)
  }
}
