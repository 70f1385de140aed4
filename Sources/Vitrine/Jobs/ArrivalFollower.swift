import VitrineImaging
import VitrineRuntime

/// Looks at the bytes of an image while they arrive: for previews, and for an image of their beginning where that is enough.
// @unchecked: like the job it belongs to, guarded by the jobs' lock.
final class ArrivalFollower: @unchecked Sendable {
  /// What the bytes are looked at for.
  enum Purpose {
    case previews
    /// The moment from which on the rest need not come, where it could be fetched later.
    case beginning
  }

  private weak var fetch: FetchJob?
  private weak var job: ImageJob?
  private let context: JobContext
  private let request: ImageRequest
  private let options: DecodeOptions
  private var feeds: [Purpose: (feed: PreviewFeed, item: WorkItem?)] = [:]

  init(_ fetch: FetchJob, _ job: ImageJob) {
    (self.fetch, self.job, context, request) = (fetch, job, job.context, job.request)
    options = job.context.decodeOptions(of: job.request)
  }

  /// Ends it when the bytes are there, or not wanted any more; the image itself must not wait for a preview.
  func stop(_ turn: inout Turn) {
    // What the work refers to may be a user's.
    for (feed, item) in feeds.values {
      turn.afterwards {
        feed.stop()
        item?.cancel()
      }
    }
    feeds = [:]
  }

  func setPriority(_ priority: Priority) {
    for (_, item) in feeds.values { item?.priority = priority }
  }

  /// Begins to look at the bytes for a purpose; once for each.
  func begin(_ purpose: Purpose, _ turn: inout Turn) {
    guard feeds[purpose] == nil, let fetch else { return }
    let choose: PreviewFeed.Choose = { [decoders = context.decoders, request, options] body, head in
      if purpose == .beginning, !head.partial.isWorthKeeping { return .never }
      guard let decoders = decoders.decoders(for: request, arriving: body) else { return .later }
      let previews = purpose == .previews ? request.previews : .none
      var decoder = IncrementalDecoder(options: options, previews: previews, decoders: decoders)
      decoder.stopsEarly = purpose == .beginning
      return .with(decoder)
    }
    // On a worker, where a user's code has to be asked.
    let worker = context.decoders.own == nil ? context.decodeQueue : nil
    let feed = PreviewFeed(on: worker, choose) { [weak self, context] pending, head, isOver in
      guard let self else { return isOver() }
      context.turn { self.decode(pending, of: head, for: purpose, isOver, &$0) }
    }
    feeds[purpose] = (feed, nil)
    fetch.add(feed, &turn)
  }

  private func decode(
    _ pending: PendingPreview,
    of head: BodySink.Head,
    for purpose: Purpose,
    _ isOver: @escaping @Sendable () -> Void,
    _ turn: inout Turn,
  ) {
    guard feeds[purpose] != nil, let job else { return turn.afterwards(isOver) }
    let (ask, record) = (job.ask, job.record)
    let item = try? context.decodeQueue.enqueue(priority: job.priority, bytes: pending.byteCount) {
      [weak self, context, request, options] item in
      defer { isOver() }
      // A preview that fails is none, and an image is tried again with all of the bytes: what is wrong that one says.
      guard let shown = try? pending.decode(isCancelled: { item.isCancelled }), !item.isCancelled else { return }
      var container = ImageContainer(shown.bitmap, info: shown.info)
      switch purpose {
      case .previews:
        container.isPreview = true
        self?.tell { [container] job, turn in
          job.send(partial: ImageResponse(container, from: .network), &turn)
        }
      case .beginning:
        guard let bytes = FetchedBytes(pending.data, beginning: head, at: context.clock.now) else { return }
        let image = LoadedImage(container, of: bytes, Rendition(of: shown.info, options))
        let made = Settlement.Made(image: image, request: request, step: 0, ask: ask, record: record)
        context.settlement.keep(made, from: .network)
        self?.tell { job, turn in job.finish(early: image, &turn) }
      }
    }
    // Where too much is waiting, this is what can be done without.
    guard let item else { return turn.afterwards(isOver) }
    feeds[purpose]?.item = item
  }

  /// Tells the job something in a turn of its own, unless it has left.
  private func tell(_ body: (ImageJob, inout Turn) -> Void) {
    context.turn { turn in
      guard !feeds.isEmpty, let job else { return }
      turn.keep(job)
      body(job, &turn)
    }
  }
}
