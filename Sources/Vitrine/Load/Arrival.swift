import VitrineImaging
import VitrineRuntime

/// The arrival of the bytes of an image: makes previews of them if anyone watches, and the image itself once their
/// beginning suffices, if the rest could be fetched later.
final class Arrival: WorkDependency {
  private typealias Bytes = SharedWork<LoadKey, FetchedBytes, LoadError>

  private struct State {
    var subscription: Bytes.Subscription?
    var previews: ProgressiveDecoding?
    var beginning: ProgressiveDecoding?
    var demand = WorkDemand(.veryLow)
    var isStopped = false
  }

  private let load: ImageLoad
  private let stored: FetchedBytes?
  private let makesPreviews: Bool
  private let allowsPartialBody: Bool
  private let state = Lock(State())

  private var request: ImageRequest { load.request }
  private var context: LoadContext { load.context }

  /// Creates the arrival of the bytes of a load, which take the place of `stored` ones that are no image.
  init(_ load: ImageLoad, replacing stored: FetchedBytes?) {
    (self.load, self.stored) = (load, stored)
    let request = load.request
    makesPreviews = request.previews.limit > 0 && request.processors.allSatisfy(\.processesPreviews)
    allowsPartialBody = request.allowsPartialBody && !load.context.storage(of: request).keepsEveryOriginal
  }

  /// Joins or begins the load of the bytes.
  func begin(_ bytes: SharedLoad<FetchedBytes>) {
    let receive = { @Sendable [self] (event: Bytes.Event) -> Void in
      switch event {
      case .identified(let stage): load.stage?.wait(for: stage as? StageTrace)
      case .progress(let completed, let total): load.work.send(progress: completed, of: total)
      case .partial(let bytes): follow(bytes)
      case .finished(let result): end(result)
      }
    }
    context.bytes.subscribe(
      to: bytes.key,
      demand(on: load.work.demand),
      subscribed: { subscription in
        state.withLock { $0.subscription = subscription }
        load.work.depend(on: self)
      },
      receive: receive,
      start: bytes.start,
    )
  }

  // MARK: The dependency of the image

  var progress: WorkProgress? { state.withLock { $0.subscription }?.progress }

  func setDemand(_ demand: WorkDemand?) {
    guard let demand else { return end(.failure(.cancelled)) }
    let own = self.demand(on: demand)
    state.withLock { $0.subscription }?.setDemand(own)
  }

  /// Returns the demand on the bytes for a demand on the image.
  private func demand(on image: WorkDemand) -> WorkDemand {
    let feeds = state.withLock { state in
      state.demand = image
      return [state.previews, state.beginning]
    }
    for feed in feeds { feed?.setPriority(image.priority) }
    let wantsPartials = allowsPartialBody || makesPreviews && image.interest == .partials
    return wantsPartials ? WorkDemand(image.priority, .partials) : image.limited(to: .progress)
  }

  /// Ends the arrival, and has the load go on; does nothing if it has ended.
  private func end(_ result: Result<FetchedBytes, LoadError>) {
    let left = state.withLock { state -> State? in
      guard !state.isStopped else { return nil }
      defer { state = State(isStopped: true) }
      return state
    }
    guard let left else { return }
    left.subscription?.cancel()
    let animation = left.previews?.stop()
    left.beginning?.stop()
    load.work.depend(on: nil)
    load.fetched(result, replacing: stored, playing: animation)
  }

  // MARK: The beginning

  /// Inspects the bytes so far.
  func follow(_ bytes: FetchedBytes) {
    guard let head = bytes.arriving else { return }
    let feeds = state.withLock { state -> [ProgressiveDecoding?] in
      guard !state.isStopped else { return [] }
      if allowsPartialBody, state.beginning == nil { state.beginning = beginningFeed(state.demand.priority) }
      if makesPreviews, state.demand.interest == .partials, state.previews == nil {
        state.previews = previewFeed(state.demand.priority)
      }
      return [state.previews, state.beginning]
    }
    for feed in feeds { feed?.follow(bytes.data, of: head) }
  }

  private func previewFeed(_ priority: Priority) -> ProgressiveDecoding {
    ProgressiveDecoding(.previews, request, context, priority) { [load] container, _, _ in
      load.work.send(partial: ImageResponse(container, from: .network))
    }
  }

  private func beginningFeed(_ priority: Priority) -> ProgressiveDecoding {
    ProgressiveDecoding(.beginning, request, context, priority) { [self] container, data, head in
      let validity = context.validity(of: head.stored, at: context.clock.now)
      guard let bytes = FetchedBytes(data, beginning: head, validity) else { return }
      let parameters = DecodeParameters(of: container.info, context.decodeOptions(of: request))
      let image = LoadedImage(container, of: bytes, parameters)
      // The image is stored for every request: nothing else could spare the server a request.
      var made = load.made(image)
      made.hasImageSubscriber = true
      context.cacheWriter.keep(made, from: .network)
      end(.success(bytes.changing { $0.image = image }))
    }
  }
}
