import VitrineImaging
import VitrineRuntime

/// The arrival of the bytes of an image: makes previews of them if anyone watches, and the image itself once their
/// beginning suffices, if the rest could be fetched later.
final class Arrival: Sendable {
  private struct State {
    var previews: ArrivalFeed?
    var beginning: ArrivalFeed?
    var demand = WorkDemand(.veryLow)
    var isStopped = false
  }

  private let request: ImageRequest
  private let context: LoadContext
  private let work: SharedLoad<ImageResponse>.Handle
  private let outcome: Deferred<Result<FetchedBytes, LoadError>>
  private let made: @Sendable (LoadedImage) -> Settlement.Made
  private let makesPreviews: Bool
  private let stopsEarly: Bool
  private let state = Lock(State())

  /// Creates an arrival; `outcome` receives an image made of the beginning, which `made` prepares to be stored.
  init(
    _ request: ImageRequest,
    _ context: LoadContext,
    _ work: SharedLoad<ImageResponse>.Handle,
    _ outcome: Deferred<Result<FetchedBytes, LoadError>>,
    _ made: @escaping @Sendable (LoadedImage) -> Settlement.Made,
  ) {
    (self.request, self.context, self.work) = (request, context, work)
    (self.outcome, self.made) = (outcome, made)
    makesPreviews = request.previews.limit > 0 && request.processors.allSatisfy(\.processesPreviews)
    stopsEarly = request.stopsEarly && !context.storage(of: request).keepsEveryOriginal
  }

  /// Returns the demand on the bytes for a demand on the image.
  func demand(on image: WorkDemand) -> WorkDemand {
    let feeds = state.withLock { state in
      state.demand = image
      return [state.previews, state.beginning]
    }
    for feed in feeds { feed?.setPriority(image.priority) }
    let wantsPartials = stopsEarly || makesPreviews && image.interest == .partials
    return wantsPartials ? WorkDemand(image.priority, .partials) : image.limited(to: .progress)
  }

  /// Inspects the bytes so far.
  func follow(_ bytes: FetchedBytes) {
    guard let head = bytes.arriving else { return }
    let feeds = state.withLock { state -> [ArrivalFeed?] in
      guard !state.isStopped else { return [] }
      if stopsEarly, state.beginning == nil { state.beginning = beginningFeed(state.demand.priority) }
      if makesPreviews, state.demand.interest == .partials, state.previews == nil {
        state.previews = previewFeed(state.demand.priority)
      }
      return [state.previews, state.beginning]
    }
    for feed in feeds { feed?.follow(bytes.data, of: head) }
  }

  func stop() {
    let feeds = state.withLock { state in
      state.isStopped = true
      defer { (state.previews, state.beginning) = (nil, nil) }
      return [state.previews, state.beginning]
    }
    for feed in feeds { feed?.stop() }
  }

  private func previewFeed(_ priority: Priority) -> ArrivalFeed {
    ArrivalFeed(.previews, request, context, priority) { [work] container, _, _ in
      work.send(partial: ImageResponse(container, from: .network))
    }
  }

  private func beginningFeed(_ priority: Priority) -> ArrivalFeed {
    ArrivalFeed(.beginning, request, context, priority) { [request, context, outcome, made] container, data, head in
      let validity = context.validity(of: head.stored, at: context.clock.now)
      guard let bytes = FetchedBytes(data, beginning: head, validity) else { return }
      let rendition = Rendition(of: container.info, context.decodeOptions(of: request))
      let image = LoadedImage(container, of: bytes, rendition)
      // The image is stored for every request: nothing else could spare the server a request.
      var made = made(image)
      made.isWanted = true
      context.settlement.keep(made, from: .network)
      outcome.resolve(.success(bytes.changing { $0.image = image }))
    }
  }
}
