import VitrineCaching
import VitrineRuntime

/// An image as it was shown before, from the cache of bytes; where that has none, the image that is made.
final class FinishedJob: StageJob, @unchecked Sendable {
  // @unchecked: like its superclass, guarded by the engine's lock.
  private let request: ImageRequest
  private let key: CacheKey
  private let disk: any DataCaching
  private let context: JobContext
  private let make: (inout Turn) -> Job<CachedImage, LoadError>
  private let confirm: (CachedImage, inout Turn) -> Job<CachedImage, LoadError>
  private let stored: @Sendable (CachedImage) -> Void
  private var lookUp: Task<Void, Never>?

  /// `make` gives the job that makes the image anew, `confirm` the one that asks whether it is still the same; `stored` is
  /// called with what was found before anyone gets it.
  init(
    _ request: ImageRequest,
    key: CacheKey,
    on disk: any DataCaching,
    context: JobContext,
    make: @escaping (inout Turn) -> Job<CachedImage, LoadError>,
    confirm: @escaping (CachedImage, inout Turn) -> Job<CachedImage, LoadError>,
    stored: @escaping @Sendable (CachedImage) -> Void,
    onEnd: @escaping (inout Turn) -> Void,
  ) {
    (self.request, self.key, self.disk, self.context) = (request, key, disk, context)
    (self.make, self.confirm, self.stored) = (make, confirm, stored)
    super.init(onEnd: onEnd)
  }

  override func start(_ turn: inout Turn) {
    trace = context.recorder?.stage("finished", request.name)
    trace?.enter("look-up")
    lookUp = Task(executorPreference: context.stepper) {
      [weak self, key, disk, context, source = request.keys.fetch] in
      let entry = await disk.entry(for: key)
      var isOrphan = false
      if let entry, let original = await disk.contentID(for: source) { isOrphan = original != entry.contentID }
      // Made of other bytes than those that are there now: nobody asks for it any more.
      if isOrphan { await disk.remove(key) }
      guard let self else { return }
      context.engine.turn { self.found(isOrphan ? nil : entry, &$0) }
    }
  }

  override func stop(_ turn: inout Turn) {
    lookUp?.cancel()
    lookUp = nil
    super.stop(&turn)
  }

  private func found(_ entry: CachedData?, _ turn: inout Turn) {
    guard isRunning else { return }
    lookUp = nil
    trace?.note("found", .flag(entry != nil))
    guard let entry else { return makeAnew(&turn) }
    let (disk, key) = (disk, key)
    trace?.enter("queue")
    do throws(WorkQueueError) {
      item = try context.decodeQueue.enqueue(priority: priority, bytes: entry.data.count) {
        [weak self, context, trace] _ in
        trace?.enter("work")
        let image = FinishedImage.image(of: entry)
        guard let self else { return }
        context.engine.turn { turn in
          // What cannot be read is of no use to anyone.
          if image == nil { context.pendingWrites.add(for: key) { await disk.remove(key) } }
          self.read(image, &turn)
        }
      }
    } catch {
      finish(.failure(LoadError(.overloaded, .decode, request.name, "too much is waiting to be decoded")), &turn)
    }
  }

  private func read(_ image: CachedImage?, _ turn: inout Turn) {
    guard isRunning else { return }
    guard let image, image.validity.answers(context.fields(of: request)) else { return makeAnew(&turn) }
    if image.isFresh(at: context.clock.now, request.policy) {
      let isStale = image.validity.isOverdue(at: context.clock.now, request.policy)
      let served = isStale ? image.stale(from: .disk) : image
      stored(image)
      return finish(.success(served), &turn)
    }
    if image.validity.isUsableWhileRevalidating(at: context.clock.now, request) {
      stored(image)
      return finish(.success(image.stale(from: .disk, isRevalidationDue: true)), &turn)
    }
    guard request.policy != .cacheOnly else { return makeAnew(&turn) }
    wait(for: confirm(image, &turn), &turn) { [weak self] result, turn in self?.finish(result, &turn) }
  }

  private func makeAnew(_ turn: inout Turn) {
    wait(for: make(&turn), &turn, forwardsParts: true) { [weak self] result, turn in self?.finish(result, &turn) }
  }
}
