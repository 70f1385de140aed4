import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import Vitrine

/// Objects of a user's whose last reference is the pipeline's, and whose `deinit` acts.
enum ReleaseHook: String, Hook {
  case ofACompletion, ofAnObserver, ofAnOnResult
  case ofUserInfo, ofAProcessor, ofAClosureSource, ofASizedSource
  case ofUserInfoThatIsCancelled, ofAProcessorThatIsCancelled, ofAClosureSourceThatIsCancelled
  case ofACompletionThatIsCancelled, ofAnOnResultThatIsCancelled
  case ofAnInterceptedRequest, ofAPipelinesParts

  private var isCancelled: Bool {
    switch self {
    case .ofUserInfoThatIsCancelled, .ofAProcessorThatIsCancelled, .ofAClosureSourceThatIsCancelled,
      .ofACompletionThatIsCancelled, .ofAnOnResultThatIsCancelled:
      true
    default: false
    }
  }

  func play(_ action: Action) async throws {
    let trigger = Trigger()
    let gate = Gate()
    let scene = try await Scene(action, trigger) {
      if self == .ofAnInterceptedRequest { $0.interceptors = [Passing()] }
    }
    // What a cancel leaves held back, whoever joins it ends.
    let file = try Scene.file()
    if isCancelled { scene.request.source = .closure(id: "subject") { file } }
    scene.arm()
    if self == .ofAPipelinesParts {
      try scene.answer("subject")
      Self.loadWithPartsOfItsOwn(scene)
      // A load that nobody has asked the fake for is kept for whoever does.
      _ = try await scene.held()
    } else {
      try begin(scene, gate)
    }
    if isCancelled { scene.pipeline.cancel(for: keyed(scene, gate)) }
    // A closure that runs keeps what it refers to until it returns.
    gate.open()
    try await scene.end()
  }

  /// Begins what refers to the object, in a scope that ends before anything else does.
  private func begin(_ scene: Scene, _ gate: Gate<Void>) throws {
    let cargo = Cargo(scene.trigger)
    let file = try Scene.file()
    if !isCancelled { try scene.answer("subject") }
    var request = keyed(scene, gate)
    switch self {
    case .ofACompletion, .ofACompletionThatIsCancelled:
      let note = scene.record("subject")
      scene.pipeline.loadImage(for: request) { [scene] result in
        cargo.travel()
        note(.finished(result))
        scene.ended()
      }
      return
    case .ofAnObserver:
      scene.load(request, as: "subject") { _ in cargo.travel() }
      return
    case .ofAnOnResult, .ofAnOnResultThatIsCancelled:
      let note = scene.record("prefetched")
      let prefetcher = ImagePrefetcher(scene.pipeline)
      scene.subject = Grip(cancel: { prefetcher.stopAll() }, setPriority: { prefetcher.priority = $0 })
      prefetcher.start([request]) { [scene] _, result in
        cargo.travel()
        note(.finished(result.map { ImageResponse(.solid(SIMD4(0, 0, 0, 255), width: 1, height: 1)) }))
        scene.ended()
      }
      if isCancelled { prefetcher.stop([request]) }
      return
    case .ofUserInfo, .ofUserInfoThatIsCancelled, .ofAnInterceptedRequest: request.userInfo["cargo"] = cargo
    case .ofAProcessor, .ofAProcessorThatIsCancelled:
      request.processors = [
        .custom(id: "cargo") { bitmap in
          cargo.travel()
          return bitmap
        }
      ]
    case .ofAClosureSource:
      request.source = .closure(id: "cargo") {
        cargo.travel()
        return file
      }
    case .ofAClosureSourceThatIsCancelled:
      request.source = .closure(id: "held") {
        await gate.value()
        cargo.travel()
        return file
      }
    case .ofASizedSource:
      request.source = .url { _ in
        cargo.travel()
        return Scene.url("subject")
      }
    case .ofAPipelinesParts: break
    }
    // Not kept, so that the pipeline's is the last reference.
    scene.load(request, as: "subject")
  }

  /// What is begun, without the object; where it is to be cancelled, it waits for the gate.
  private func keyed(_ scene: Scene, _ gate: Gate<Void>) -> ImageRequest {
    guard isCancelled else { return scene.request }
    var request = Scene.request("held")
    request.source = .closure(id: "held") {
      await gate.value()
      return Data()
    }
    if self == .ofAProcessorThatIsCancelled { request.processors = [.custom(id: "cargo") { $0 }] }
    return request
  }

  /// Has the end of a task release a pipeline, and with it every hook that it was made with.
  private static func loadWithPartsOfItsOwn(_ scene: Scene) {
    let cargo = Cargo(scene.trigger)
    let pipeline = ImagePipeline.testing(scene.parts) {
      $0.willSend = { _ in cargo.travel() }
      $0.challenge = { _ in
        cargo.travel()
        return nil
      }
      $0.networkAccess = {
        cargo.travel()
        return .full
      }
      $0.retryPolicy = RetryPolicy { _ in
        cargo.travel()
        return nil
      }
      $0.log = { _ in cargo.travel() }
      $0.interceptors = [Passing(cargo: cargo)]
      $0.observers = [Watching(cargo: cargo)]
      $0.delegate = Watching(cargo: cargo)
    }
    scene.load(scene.request, as: "subject", in: pipeline)
  }

  private struct Passing: ImageInterceptor {
    var cargo: Cargo?

    func image(for request: ImageRequest, next: InterceptorChain) async throws -> ImageResponse {
      try await next(request)
    }
  }

  private struct Watching: PipelineObserver, PipelineDelegate {
    let cargo: Cargo

    func observe(_ event: PipelineEvent) {}
  }
}
