public import Combine
public import Vitrine
import VitrineRuntime

/// A publisher of one image, which is loaded for each subscriber.
///
/// ```swift
/// pipeline.publisher(for: request, onMain: true)
///   .sink(receiveCompletion: { _ in }, receiveValue: { show($0.image) })
///   .store(in: &cancellables)
/// ```
/// A load begins with its subscription, and ends when that is cancelled; nothing is received afterwards. The image is
/// sent once the subscriber has asked for a value, then the end; an error is sent without that. Equal requests share
/// their work, as everywhere.
public struct ImagePublisher: Publisher, Sendable {
  /// The type of the values: a loaded image with its facts.
  public typealias Output = ImageResponse
  /// The type of the error.
  public typealias Failure = LoadError

  let pipeline: ImagePipeline
  let request: ImageRequest
  let onMain: Bool

  /// Begins a load for a subscriber.
  public func receive<S: Subscriber>(subscriber: S) where S.Input == ImageResponse, S.Failure == LoadError {
    let target = ImageSubscription.Target(
      receive: { _ = subscriber.receive($0) },
      complete: { subscriber.receive(completion: $0) },
    )
    let subscription = ImageSubscription(target, onMain: onMain)
    subscriber.receive(subscription: subscription)
    subscription.begin(request, pipeline)
  }
}

extension ImagePipeline {
  /// Returns a publisher of an image; nothing is loaded before somebody subscribes.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - onMain: Whether the subscriber is called on the main thread. Defaults to `false`: on any thread. An image in
  ///     memory is sent within the call that subscribes, if that call is on the main thread or `onMain` is `false`.
  /// - Returns: The publisher.
  public func publisher(for request: ImageRequest, onMain: Bool = false) -> ImagePublisher {
    ImagePublisher(pipeline: self, request: request, onMain: onMain)
  }

  /// Returns a publisher of the image of a URL; see ``publisher(for:onMain:)-(ImageRequest,_)``.
  public func publisher(for url: some URLConvertible, onMain: Bool = false) -> ImagePublisher {
    publisher(for: ImageRequest(url.imageSource), onMain: onMain)
  }
}

/// One load for one subscriber.
private final class ImageSubscription: Subscription, Sendable {
  /// The subscriber.
  struct Target: @unchecked Sendable {
    // @unchecked: it is called by one thread, which is whoever takes it out of the state.
    let receive: (ImageResponse) -> Void
    let complete: (Subscribers.Completion<LoadError>) -> Void
  }

  private struct State {
    var target: Target?
    var isWanted = false
    var result: Result<ImageResponse, LoadError>?
    var task: ImageTask?
    var isCancelled = false
  }

  private let state: Lock<State>
  private let onMain: Bool

  init(_ target: Target, onMain: Bool) {
    state = Lock(State(target: target))
    self.onMain = onMain
  }

  func begin(_ request: ImageRequest, _ pipeline: ImagePipeline) {
    guard !state.withLock({ $0.isCancelled }) else { return }
    let task = pipeline.loadImage(for: request) { [self] result in
      state.withLock { $0.result = result }
      deliver()
    }
    let isLate = state.withLock { state in
      // A task that has ended needs nobody to cancel it.
      if state.result == nil { state.task = task }
      return state.isCancelled
    }
    if isLate { task.cancel() }
  }

  func request(_ demand: Subscribers.Demand) {
    guard demand > .none else { return }
    state.withLock { $0.isWanted = true }
    deliver()
  }

  func cancel() {
    let former = state.withLock { state in
      defer { (state.target, state.task, state.result, state.isCancelled) = (nil, nil, nil, true) }
      return state
    }
    former.task?.cancel()
  }

  private func deliver() {
    if onMain, !MainQueue.isCurrent { return DispatchQueue.main.async { self.send() } }
    send()
  }

  /// Sends what there is, if it is wanted, once.
  private func send() {
    let ready = state.withLock { state -> State? in
      guard let result = state.result, state.target != nil else { return nil }
      if case .success = result, !state.isWanted { return nil }
      defer { (state.target, state.task, state.result) = (nil, nil, nil) }
      return state
    }
    guard let target = ready?.target, let result = ready?.result else { return }
    switch result {
    case .success(let response):
      target.receive(response)
      if !state.withLock({ $0.isCancelled }) { target.complete(.finished) }
    case .failure(let error): target.complete(.failure(error))
    }
  }
}

/// The main queue, whose thread is not always the one that the process began with.
private enum MainQueue {
  private static let key: DispatchSpecificKey<Void> = {
    let key = DispatchSpecificKey<Void>()
    DispatchQueue.main.setSpecific(key: key, value: ())
    return key
  }()

  /// True if the caller runs on it.
  static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) != nil }
}
