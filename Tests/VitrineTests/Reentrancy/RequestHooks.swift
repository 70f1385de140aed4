import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import Vitrine

/// What takes part in a request: interceptors, hooks of the network, the delegate, processors, sources of one's own.
enum RequestHook: String, Hook {
  case interceptorBefore, interceptorAfter
  case retryPolicy, willSend, challenge, networkAccess
  case processor, closureSource, sizedSource
  case delegateWillLoad, delegateDecoders, delegateWillStore, delegateKeepsFinished

  func play(_ action: Action) async throws {
    let trigger = Trigger()
    let pull: @Sendable () -> Void = { trigger.pull() }
    let scene = try await Scene(action, trigger) { configuration in
      switch self {
      case .interceptorBefore: configuration.interceptors = [Interceptor(before: pull)]
      case .interceptorAfter: configuration.interceptors = [Interceptor(after: pull)]
      case .retryPolicy:
        configuration.retryPolicy = RetryPolicy { _ in
          pull()
          return nil
        }
      case .willSend: configuration.willSend = { _ in pull() }
      case .challenge:
        configuration.challenge = { _ in
          pull()
          return ["Authorization": "me"]
        }
      case .networkAccess:
        configuration.networkAccess = {
          pull()
          return .full
        }
      case .delegateWillLoad: configuration.delegate = Delegate(willLoad: pull)
      case .delegateDecoders: configuration.delegate = Delegate(decoders: pull)
      case .delegateWillStore: configuration.delegate = Delegate(willStore: pull)
      case .delegateKeepsFinished:
        configuration.delegate = Delegate(storesFinished: pull)
        configuration.storagePolicy = .both
      case .processor, .closureSource, .sizedSource: break
      }
    }
    let file = try Scene.file()
    try scene.answer("subject")
    switch self {
    case .retryPolicy: scene.parts.loader.answer(Scene.url("subject"), failing: .connectionLost)
    case .challenge:
      scene.parts.loader.answer(Scene.url("subject")) { request in
        request.headers["Authorization"] == nil ? FakeResponse(status: 401) : FakeResponse(body: file)
      }
    case .processor:
      scene.request.processors = [
        .custom(id: "hook") { bitmap in
          pull()
          return bitmap
        }
      ]
    case .closureSource:
      scene.request.source = .closure(id: "subject") {
        pull()
        return file
      }
    case .sizedSource:
      scene.request.source = .url { _ in
        pull()
        return Scene.url("subject")
      }
    default: break
    }
    scene.arm()
    scene.begin()
    try await scene.end()
  }

  private struct Interceptor: ImageInterceptor {
    var before: @Sendable () -> Void = {}
    var after: @Sendable () -> Void = {}

    func image(for request: ImageRequest, next: InterceptorChain) async throws -> ImageResponse {
      before()
      let response = try await next(request)
      after()
      return response
    }
  }

  private struct Delegate: PipelineDelegate {
    var willLoad: @Sendable () -> Void = {}
    var decoders: @Sendable () -> Void = {}
    var willStore: @Sendable () -> Void = {}
    var storesFinished: @Sendable () -> Void = {}

    func willLoad(_ request: ImageRequest) -> ImageRequest {
      willLoad()
      return request
    }

    func decoders(for request: ImageRequest, firstBytes: Data) -> DecoderRegistry? {
      decoders()
      return nil
    }

    func willStore(_ data: Data, for request: ImageRequest, response: HTTPResponse) -> Data? {
      willStore()
      return data
    }

    func storesFinished(_ image: ImageResponse, for request: ImageRequest) -> Bool {
      storesFinished()
      return true
    }
  }
}

/// What is told what requests go through.
enum ObservingHook: String, Hook {
  case requestBegan, stageBegan, stageJoined, phaseBegan, noted, stageEnded, requestEnded, requestsMissed
  case log

  func play(_ action: Action) async throws {
    let trigger = Trigger()
    let isTold = Gate()
    let scene = try await Scene(action, trigger) { configuration in
      if self == .log { configuration.log = { _ in trigger.pull() } }
      if self != .log {
        let observer = Observer(hook: self) { hook in
          if hook == self { return trigger.pull() }
          // The first event is not told of before too many wait.
          if self == .requestsMissed, hook == .requestEnded { _ = isTold.wait(atMost: .seconds(60)) }
        }
        configuration.observers = [observer]
      }
    }
    try scene.answer("subject")
    if self == .stageJoined { scene.parts.loader.removeAnswer(Scene.url("subject")) }
    if self == .requestsMissed { try await miss(scene, isTold) }
    scene.arm()
    scene.begin()
    if self == .requestsMissed { isTold.open() }
    if self == .stageJoined {
      let load = try await scene.held()
      scene.load(scene.request, as: "who joins")
      await scene.finish(load)
    }
    try await scene.end()
  }

  /// Has more happen than can wait for an observer.
  private func miss(_ scene: Scene, _ isTold: Gate<Void>) async throws {
    let known = Scene.request("known")
    scene.pipeline.cache[known] = .solid(SIMD4(1, 2, 3, 255), width: 4, height: 4)
    for _ in 0..<6000 { _ = scene.pipeline.imageTask(for: known) }
  }

  private struct Observer: PipelineObserver {
    let hook: ObservingHook
    let tell: @Sendable (ObservingHook) -> Void

    func observe(_ event: PipelineEvent) {
      switch event {
      case .requestBegan: tell(.requestBegan)
      case .stageBegan: tell(.stageBegan)
      case .stageJoined: tell(.stageJoined)
      case .phaseBegan: tell(.phaseBegan)
      case .noted: tell(.noted)
      case .stageEnded: tell(.stageEnded)
      case .requestEnded: tell(.requestEnded)
      case .requestsMissed: tell(.requestsMissed)
      }
    }
  }
}
