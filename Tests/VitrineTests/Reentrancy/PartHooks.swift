import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTesting

@testable import Vitrine

/// Caches of bytes of one's own.
enum CacheHook: String, Hook {
  case entry, heads, store, renew, remove, removeAll, contains, contentID, removeExtending, flush
  case cancelledEntry, cancelledHeads

  func play(_ action: Action) async throws {
    let (trigger, parts) = (Trigger(), PipelineParts())
    guard let call = HookedCache.Call(rawValue: rawValue) else { return }
    let hooked = HookedCache(inner: parts.diskCache, call: call, trigger: trigger)
    let scene = try await Scene(action, trigger, parts) {
      $0.diskCache = hooked
      $0.storagePolicy =
        switch self {
        // Nothing but the bytes is looked for.
        case .entry, .cancelledEntry: .original
        // It is asked for where bytes are not kept that might replace others.
        case .contentID: .finished
        default: .both
        }
    }
    try scene.answer("subject")
    if self == .renew {
      // It is on disk before.
      _ = try await scene.pipeline.image(for: scene.request)
      await scene.pipeline.cache.flush()
      await scene.pipeline.cache.removeAll(in: .memory)
    }
    if self == .renew { parts.clock.advance(by: .seconds(61)) }
    scene.arm()
    scene.begin()
    let (cache, request) = (scene.pipeline.cache, scene.request)
    switch self {
    case .remove, .removeExtending: scene.whileAtIt { await cache.remove(request) }
    case .removeAll: scene.whileAtIt { await cache.removeAll() }
    case .contains: scene.whileAtIt { _ = await cache.contains(request, in: .disk) }
    case .flush: scene.whileAtIt { await cache.flush() }
    case .cancelledEntry, .cancelledHeads:
      await hooked.isLooking.value()
      scene.subject.cancel()
    case .entry, .heads, .store, .renew, .contentID: break
    }
    try await scene.end()
  }
}

/// Decoders and loaders of one's own.
enum WorkHook: String, Hook {
  case decoderFormats, decoderInfo, decoderOpen, decoderRows
  case loaderLoad, loaderCancel, loaderPriority, loaderThatAnswersAtOnce

  func play(_ action: Action) async throws {
    let (trigger, parts) = (Trigger(), PipelineParts())
    let file = try Scene.file()
    let scene = try await Scene(action, trigger, parts) { configuration in
      switch self {
      case .decoderFormats: configuration.decoders = DecoderRegistry([HookedDecoder(.formats, trigger)])
      case .decoderInfo: configuration.decoders = DecoderRegistry([HookedDecoder(.info, trigger)])
      case .decoderOpen: configuration.decoders = DecoderRegistry([HookedDecoder(.open, trigger)])
      case .decoderRows: configuration.decoders = DecoderRegistry([HookedDecoder(.rows, trigger)])
      case .loaderLoad: configuration.loader = HookedLoader(inner: parts.loader, call: .load, trigger: trigger)
      case .loaderCancel: configuration.loader = HookedLoader(inner: parts.loader, call: .cancel, trigger: trigger)
      case .loaderPriority:
        configuration.loader = HookedLoader(inner: parts.loader, call: .priority, trigger: trigger)
      case .loaderThatAnswersAtOnce:
        configuration.loader = DividedLoader(inner: parts.loader, immediate: ImmediateLoader(body: file))
      }
    }
    switch self {
    case .loaderCancel, .loaderPriority:
      scene.begin()
      let load = try await scene.held()
      scene.arm()
      if self == .loaderCancel { scene.subject.cancel() } else { scene.subject.setPriority(.veryHigh) }
      await scene.finish(load)
    case .loaderThatAnswersAtOnce:
      scene.arm()
      scene.beginWithCompletion { trigger.pull() }
    default:
      try scene.answer("subject")
      scene.arm()
      scene.begin()
    }
    try await scene.end()
  }
}

/// Clocks of one's own.
enum ClockHook: String, Hook {
  case nowWhenDeciding, nowWhenReceiving, nowInAMemoryCache, uptime, schedule, scheduledCancel

  private var call: HookedClock.Call {
    switch self {
    case .nowWhenDeciding, .nowWhenReceiving, .nowInAMemoryCache: .now
    case .uptime: .uptime
    case .schedule: .schedule
    case .scheduledCancel: .cancel
    }
  }

  func play(_ action: Action) async throws {
    let (trigger, parts) = (Trigger(), PipelineParts())
    let clock = HookedClock(inner: parts.clock, call: call, trigger: trigger)
    let scene = try await Scene(action, trigger, parts) {
      $0.clock = clock
      $0.memoryCache = MemoryCache(
        costLimit: 1 << 20,
        expiration: self == .nowInAMemoryCache ? .after(.seconds(60)) : .never,
        clock: clock,
      )
      $0.retryPolicy = RetryPolicy { attempt in attempt.number < 2 ? .seconds(1) : nil }
    }
    switch self {
    case .nowWhenDeciding, .uptime:
      try scene.answer("subject")
      scene.arm()
      scene.begin()
    case .nowWhenReceiving:
      scene.begin()
      let load = try await scene.held()
      scene.arm()
      load.respond(with: FakeResponse(headers: Scene.headers, body: try Scene.file()))
    case .nowInAMemoryCache:
      try scene.answer("subject")
      scene.pipeline.cache[scene.request] = .testPattern(width: 16, height: 12)
      scene.arm()
      scene.begin()
    case .schedule, .scheduledCancel:
      scene.begin()
      let load = try await scene.held()
      if self == .schedule { scene.arm() }
      load.fail(.connectionLost)
      if self == .scheduledCancel {
        await parts.clock.pendingCount(reaches: 1)
        scene.arm()
        scene.subject.cancel()
      }
      await scene.hasActed()
      scene.whileAtIt { await scene.passTime() }
    }
    try await scene.end()
  }
}

/// Sources of memory pressure of one's own.
enum MemoryHook: String, Hook {
  case pressureObserve, pressureEnd

  func play(_ action: Action) async throws {
    let (trigger, parts) = (Trigger(), PipelineParts())
    let scene = try await Scene(action, trigger, parts) { _ in }
    try scene.answer("subject")
    var other: ImagePipeline?
    if self == .pressureEnd { other = Self.pipeline(.end, trigger) }
    scene.arm()
    scene.begin()
    switch self {
    case .pressureObserve: other = Self.pipeline(.observe, trigger)
    case .pressureEnd: other = nil
    }
    try await scene.end()
    withExtendedLifetime(other) {}
  }

  private static func pipeline(_ call: HookedPressure.Call, _ trigger: Trigger) -> ImagePipeline {
    .testing { $0.memoryPressure = HookedPressure(call: call, trigger: trigger) }
  }
}

extension Scene {
  /// Lets time pass until the subject has ended.
  func passTime() async {
    while isWaiting("subject") {
      parts.clock.advance(by: .seconds(2))
      await Task.yield()
    }
  }
}
