import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import Vitrine

/// What tells a caller how its task goes.
enum CallbackHook: String, Hook {
  case completionOfADecode, completionOfAFailure, completionFromMemory
  case completionOfACancel, completionOfACancelByRequest, completionOfOneOfTwo
  case observerAtProgress, observerAtAPreview, observerAtTheEnd
  case eventsAtProgress, eventsAtTheEnd

  func play(_ action: Action) async throws {
    let trigger = Trigger()
    let scene = try await Scene(action, trigger)
    let pull: @Sendable () -> Void = { trigger.pull() }
    let file = try Scene.file()
    switch self {
    case .completionOfADecode:
      try scene.answer("subject")
      scene.arm()
      scene.beginWithCompletion(pull)
    case .completionOfAFailure:
      scene.parts.loader.answer(Scene.url("subject"), failing: .cannotConnect)
      scene.arm()
      scene.beginWithCompletion(pull)
    case .completionFromMemory:
      try scene.answer("subject")
      scene.pipeline.cache[scene.request] = .testPattern(width: 16, height: 12)
      scene.arm()
      scene.beginWithCompletion(pull)
    case .completionOfACancel, .completionOfACancelByRequest:
      scene.beginWithCompletion(pull)
      let load = try await scene.held()
      scene.arm()
      if self == .completionOfACancel { scene.subject.cancel() } else { scene.pipeline.cancel(for: scene.request) }
      await scene.finish(load)
    case .completionOfOneOfTwo:
      scene.beginWithCompletion(pull)
      let load = try await scene.held()
      scene.load(scene.request, as: "the other of two")
      scene.arm()
      load.respond(with: FakeResponse(headers: Scene.headers, body: file))
    case .observerAtProgress:
      scene.begin { event in if case .progress = event { pull() } }
      try await scene.sendInTwo()
    case .observerAtAPreview:
      scene.begin { event in if case .preview = event { pull() } }
      try await scene.sendInTwo()
    case .observerAtTheEnd:
      try scene.answer("subject")
      scene.arm()
      scene.begin { event in if case .finished = event { pull() } }
    case .eventsAtProgress:
      try scene.beginWithEvents { event in if case .progress = event { pull() } }
      try await scene.sendInTwo()
    case .eventsAtTheEnd:
      try scene.beginWithEvents { event in if case .finished = event { pull() } }
      let load = try await scene.held()
      scene.arm()
      load.respond(with: FakeResponse(headers: Scene.headers, body: file))
    }
    try await scene.end()
  }
}

/// What tells how a prefetcher's and a scope's loads go.
enum GroupHook: String, Hook {
  case onResult, onResultOfAFailure, onResultOfAStop, onResultOfARelease
  case onResultOnDisk, onResultOnDiskOfAFailure, onResultOnDiskOfAStop, onResultOnDiskOfARelease
  case prefetcherLoad
  case completionInAResumedScope, completionInACancelledScope, completionInAReleasedScope

  private var destination: ImagePrefetcher.Destination {
    switch self {
    case .onResultOnDisk, .onResultOnDiskOfAFailure, .onResultOnDiskOfAStop, .onResultOnDiskOfARelease: .disk
    default: .memory
    }
  }

  func play(_ action: Action) async throws {
    let trigger = Trigger()
    let scene = try await Scene(action, trigger)
    switch self {
    case .completionInAResumedScope, .completionInACancelledScope, .completionInAReleasedScope:
      try await playScope(scene)
    case .prefetcherLoad: try await playAwaited(scene)
    default: try await playPrefetcher(scene)
    }
    try await scene.end()
  }

  private func playPrefetcher(_ scene: Scene) async throws {
    let (request, trigger) = (scene.request, scene.trigger)
    var prefetcher: ImagePrefetcher? = ImagePrefetcher(scene.pipeline, destination: destination)
    let weakly = WeakPrefetcher(prefetcher)
    scene.subject = Grip(
      cancel: { weakly.value?.stop([request]) },
      setPriority: { weakly.value?.priority = $0 },
    )
    let note = scene.record("prefetched")
    prefetcher?.start([request]) { [scene] _, result in
      note(.finished(result.map { ImageResponse(.solid(SIMD4(0, 0, 0, 255), width: 1, height: 1)) }))
      trigger.pull()
      scene.ended()
    }
    let load = try await scene.held()
    scene.arm()
    switch self {
    case .onResultOfAFailure, .onResultOnDiskOfAFailure: load.fail(.cannotConnect)
    case .onResultOfAStop, .onResultOnDiskOfAStop: prefetcher?.stop([request])
    case .onResultOfARelease, .onResultOnDiskOfARelease: prefetcher = nil
    default: load.respond(with: FakeResponse(headers: Scene.headers, body: try Scene.file()))
    }
    await scene.hasActed()
    withExtendedLifetime(prefetcher) {}
  }

  private func playAwaited(_ scene: Scene) async throws {
    let (request, trigger) = (scene.request, scene.trigger)
    let prefetcher = ImagePrefetcher(scene.pipeline)
    scene.subject = Grip(cancel: { prefetcher.stopAll() }, setPriority: { prefetcher.priority = $0 })
    scene.whileAtIt {
      _ = await prefetcher.load([request])
      trigger.pull()
    }
    let load = try await scene.held()
    scene.arm()
    load.respond(with: FakeResponse(headers: Scene.headers, body: try Scene.file()))
  }

  private func playScope(_ scene: Scene) async throws {
    let trigger = scene.trigger
    var scope: LoadScope? = LoadScope(scene.pipeline)
    if self != .completionInACancelledScope { scope?.pause() }
    try scene.answer("subject")
    if self == .completionInACancelledScope { scene.parts.loader.removeAnswer(Scene.url("subject")) }
    scene.begin(in: scope) { event in if case .finished = event { trigger.pull() } }
    let load = self == .completionInACancelledScope ? try await scene.held() : nil
    scene.arm()
    switch self {
    case .completionInAResumedScope: scope?.resume()
    case .completionInACancelledScope: scope?.cancelAll()
    default: scope = nil
    }
    await scene.hasActed()
    if let load { await scene.finish(load) }
    withExtendedLifetime(scope) {}
  }
}

/// Refers to a prefetcher without keeping it.
private final class WeakPrefetcher: Sendable {
  private let read: @Sendable () -> ImagePrefetcher?

  init(_ prefetcher: ImagePrefetcher?) { read = { [weak prefetcher] in prefetcher } }

  var value: ImagePrefetcher? { read() }
}

extension Scene {
  /// The load of the subject, which waits for this test; those after it are answered.
  func held() async throws -> FakeLoad {
    let load = try await parts.loader.nextLoad(of: Self.url("subject"))
    try answer("subject")
    return load
  }

  /// Sends what is left when the hook has acted, to whoever has joined meanwhile.
  func finish(_ load: FakeLoad) async {
    await hasActed()
    send(to: load)
  }

  func send(to load: FakeLoad) {
    load.respond(with: FakeResponse(headers: Self.headers, body: (try? Self.file()) ?? Data()))
  }

  /// Sends the subject's body in two parts, of which the first is enough for progress and a preview.
  func sendInTwo() async throws {
    let body = try Self.progressiveFile()
    let first = 9000
    let load = try await held()
    load.respond(headers: ["Content-Length": "\(body.count)", "Cache-Control": "max-age=60"])
    arm()
    for start in stride(from: 0, to: first, by: 500) { load.send(body[start..<min(start + 500, first)]) }
    await hasActed()
    load.send(body[first...])
    load.finish()
  }

  /// Begins the subject and hands on what its stream tells.
  func beginWithEvents(_ then: @escaping @Sendable (ImageEvent) -> Void) throws {
    let note = record("subject")
    let task = pipeline.imageTask(for: request)
    subject = Grip(task)
    let events = task.events
    whileAtIt { [self] in
      for await event in events {
        note(event)
        then(event)
      }
      ended()
    }
  }

  /// A photograph whose first scan ends behind 5,100 bytes.
  static func progressiveFile() throws -> Data { try Photograph.data("lighthouse-progressive.jpg") }
}
