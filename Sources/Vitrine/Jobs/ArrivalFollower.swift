import VitrineImaging
import VitrineRuntime

/// Follows the bytes of an image while they arrive: for previews, and for an image of their beginning where that is enough.
// @unchecked: like the job it belongs to, guarded by the jobs' lock.
final class ArrivalFollower: @unchecked Sendable {
  private weak var fetch: FetchJob?
  private weak var job: ImageJob?
  private let context: JobContext
  private let request: ImageRequest
  private let options: DecodeOptions
  private var previews: (feed: PreviewFeed, item: WorkItem?)?
  private var early: (feed: PreviewFeed, item: WorkItem?)?

  init(_ fetch: FetchJob, _ job: ImageJob) {
    (self.fetch, self.job, context, request) = (fetch, job, job.context, job.request)
    options = job.context.decodeOptions(of: job.request)
  }

  /// Ends it when the bytes are there, or not wanted any more.
  ///
  /// The image itself must not wait for a preview.
  func stop(_ turn: inout Turn) {
    // What the work refers to may be a user's.
    for (feed, item) in [previews, early].compactMap({ $0 }) {
      turn.afterwards {
        feed.stop()
        item?.cancel()
      }
    }
    (previews, early) = (nil, nil)
  }

  func setPriority(_ priority: Priority) {
    previews?.item?.priority = priority
    early?.item?.priority = priority
  }

  /// Where a body is looked at: on a worker, where a user's code has to be asked.
  private var worker: WorkQueue? { context.decoders.own == nil ? context.decodeQueue : nil }

  // MARK: Previews

  /// Begins with previews, if the request has any; once.
  func beginPreviews(_ turn: inout Turn) {
    let policy = request.processors.allSatisfy(\.processesPreviews) ? request.previews : .none
    guard previews == nil, policy.limit > 0, let fetch else { return }
    let choose: PreviewFeed.Choose = { [decoders = context.decoders, request, options] body, _ in
      guard let decoders = decoders.decoders(for: request, arriving: body) else { return .later }
      return .with(IncrementalDecoder(options: options, previews: policy, decoders: decoders))
    }
    let feed = PreviewFeed(on: worker, choose) { [weak self, context] pending, _, isOver in
      guard let self else { return isOver() }
      context.turn { self.decode(pending, isOver, &$0) }
    }
    previews = (feed, nil)
    fetch.add(feed, &turn)
  }

  private func decode(_ pending: PendingPreview, _ isOver: @escaping @Sendable () -> Void, _ turn: inout Turn) {
    guard previews != nil, let job else { return turn.afterwards(isOver) }
    do throws(WorkQueueError) {
      previews?.item = try context.decodeQueue.enqueue(priority: job.priority, bytes: pending.byteCount) {
        [weak self, context] item in
        // A preview that fails is none; what is wrong the image says.
        let preview = try? pending.decode(isCancelled: { item.isCancelled })
        isOver()
        guard let self, let preview else { return }
        var container = ImageContainer(preview.bitmap, info: preview.info)
        container.isPreview = true
        context.turn { [container] turn in
          guard self.previews != nil else { return }
          self.previews?.item = nil
          self.job?.send(partial: ImageResponse(container, from: .network), &turn)
        }
      }
    } catch {
      // Where too much is waiting, previews are what can be done without.
      turn.afterwards(isOver)
    }
  }

  // MARK: The image of the beginning

  /// Looks out for the moment from which on the rest need not come, where it could be fetched later.
  func beginEarly(_ turn: inout Turn) {
    guard early == nil, let fetch else { return }
    let choose: PreviewFeed.Choose = { [decoders = context.decoders, request, options] body, head in
      guard head.partial.isWorthKeeping else { return .never }
      guard let decoders = decoders.decoders(for: request, arriving: body) else { return .later }
      var decoder = IncrementalDecoder(options: options, previews: .none, decoders: decoders)
      decoder.stopsEarly = true
      return .with(decoder)
    }
    let feed = PreviewFeed(on: worker, choose) { [weak self, context] pending, head, isOver in
      guard let self else { return isOver() }
      context.turn { self.decode(beginning: pending, of: head, isOver, &$0) }
    }
    early = (feed, nil)
    fetch.add(feed, &turn)
  }

  private func decode(
    beginning pending: PendingPreview,
    of head: BodySink.Head,
    _ isOver: @escaping @Sendable () -> Void,
    _ turn: inout Turn,
  ) {
    guard early != nil, let job else { return turn.afterwards(isOver) }
    let (options, request, ask, record) = (options, request, job.ask, job.record)
    early?.item = try? context.decodeQueue.enqueue(priority: job.priority, bytes: pending.byteCount) {
      [weak self, context] item in
      defer { isOver() }
      // What fails here is tried again with all of the bytes.
      guard let shown = try? pending.decode(isCancelled: { item.isCancelled }),
        let bytes = FetchedBytes(pending.data, beginning: head, at: context.clock.now), !item.isCancelled
      else { return }
      let container = ImageContainer(shown.bitmap, info: shown.info)
      let image = LoadedImage(container, of: bytes, Rendition(of: shown.info, options))
      context.settlement.keep(
        Settlement.Made(image: image, request: request, step: 0, ask: ask, record: record),
        from: .network,
      )
      guard let self else { return }
      context.turn { self.job?.finish(early: image, &$0) }
    }
    if early?.item == nil { turn.afterwards(isOver) }
  }
}
