import VitrineCaching
import VitrineImaging
import VitrineRuntime

extension ImageSlot {
  /// A request and its state; it is a class, since copying all of its contents took half of a bind's time.
  final class Binding {
    enum Stage { case waitingForSize, waitingToBeVisible, loading, shown, failed }

    var request: ImageRequest
    let placeholder: Placeholder
    let failure: Placeholder
    var stage = Stage.waitingForSize
    var needsPlaceholder = true
    /// The box that the image is made for, if it derives from the view's size.
    var box: PixelBox?
    /// A Boolean value that indicates whether the box is an estimate for a growing view.
    var isProvisional = false
    /// A Boolean value that indicates whether a stale image is shown and revalidated.
    var showsStale = false
    /// A Boolean value that indicates whether an image of any size has arrived.
    var wasAnswered = false
    /// A Boolean value that indicates whether caches must not answer the request.
    var isReload = false
    /// The request of the placeholder, until its load has ended; `nil` if nothing of it is to be loaded.
    var small: ImageRequest?

    /// Creates a binding that loads the request of another one again.
    init(again binding: Binding, isReload: Bool) {
      (request, placeholder, failure) = (binding.request, binding.placeholder, binding.failure)
      needsPlaceholder = binding.needsPlaceholder || binding.stage == .failed
      (self.isReload, small) = (isReload, binding.small)
    }

    init(request: ImageRequest, placeholder: Placeholder, failure: Placeholder) {
      (self.request, self.placeholder, self.failure) = (request, placeholder, failure)
    }
  }

  /// The content of the display.
  enum Shown {
    case nothing
    /// A placeholder or failure content.
    case standIn
    /// The picture of an earlier request; see ``Picture/hold``.
    case kept(hold: (any Sendable)?)
    case preview
    /// A cached variant, or the image of the placeholder's request; `isSharp` if a preview would not be better.
    case variant(isSharp: Bool)
    case image(Picture)
  }

  /// The identity of the current binding's image, which distinguishes it from other images.
  struct Picture {
    let key: CacheKey
    let contentID: ContentID
    /// A Boolean value that indicates whether it has all of its source's pixels, so that a larger size adds nothing.
    let isWhole: Bool
    /// The hold that protects the image from eviction before images that are not shown.
    let hold: (any Sendable)?
  }

  // MARK: Loading

  func bind(_ binding: Binding, isAgain: Bool) {
    let (old, oldSmall) = (takeCurrent(), smallLoad)
    (self.binding, smallLoad) = (binding, nil)
    switch shown {
    case .image where isAgain, .preview where isAgain, .variant where isAgain: binding.needsPlaceholder = false
    case .image(let picture): shown = .kept(hold: picture.hold)
    case .preview, .variant: shown = .kept(hold: nil)
    case .nothing, .standIn, .kept: break
    }
    proceed()
    // The old loads are left last, so that a transfer that both share continues without a break.
    leave(oldSmall, .cancel)
    leave(old, whenLeft)
  }

  /// Loads the image again at another size, and keeps the current content.
  private func reload(in box: PixelBox, isProvisional: Bool) {
    let old = takeCurrent()
    binding?.box = box
    binding?.isProvisional = isProvisional
    proceed()
    leave(old, .cancel)
  }

  /// Proceeds as far as possible: waits for the size, shows an image in memory, waits for visibility, and loads.
  private func proceed() {
    guard let binding else { return }
    guard let request = sized(binding) else {
      binding.stage = .waitingForSize
      showPlaceholder(of: binding, for: binding.request)
      return
    }
    binding.stage = .waitingToBeVisible
    // All keys are needed, whether the image is in memory or not.
    request.makeKeys()
    let generation = generation
    if let hit = loader.cachedImage(for: request) {
      binding.needsPlaceholder = false
      if !hit.isStale { binding.stage = .shown }
      show(hit, of: request, fades: false)
      mailbox.failedSlots.loaded(request, by: loader, mailbox)
      if !hit.isStale { return }
      binding.showsStale = true
    } else {
      showPlaceholder(of: binding, for: request)
    }
    // The display may have made another request within `show`.
    func isWaiting() -> Bool {
      isVisible && !defersLoads && generation == self.generation && binding.stage == .waitingToBeVisible
    }
    guard isWaiting() else { return }
    startSmall(of: binding, beside: request)
    guard isWaiting() else { return }
    start(request)
  }

  /// Loads the image of a failed binding again, and keeps the current content.
  ///
  /// Does nothing if the slot shows another image meanwhile, or has tried again.
  func tryAgain(_ failed: Binding?) {
    guard let binding, binding === failed, binding.stage == .failed else { return }
    generation += 1
    binding.needsPlaceholder = false
    // The other slot has loaded the new picture.
    binding.isReload = false
    proceed()
  }

  /// Reloads the image if its source has been refreshed.
  func refreshed(_ isRefreshed: (ImageRequest) -> Bool) {
    guard let binding, isRefreshed(sized(binding) ?? binding.request) else { return }
    reload()
  }

  /// Returns the request, with the view's size if it has none; `nil` while a needed size is unknown.
  func sized(_ binding: Binding) -> ImageRequest? {
    if binding.box == nil, needsBox(binding.request) { binding.box = viewSize }
    guard var request = request(binding.request, in: binding.box) else { return nil }
    if binding.isReload, request.cachePolicy != .cacheOnly { request.cachePolicy = .reload }
    // Another size of an image that was just reloaded need not be reloaded.
    if binding.wasAnswered, binding.box != nil, request.cachePolicy == .reload { request.cachePolicy = .standard }
    return request
  }

  /// Returns the request that this slot would load now, so that it can be prefetched; `nil` while the view's size is
  /// unknown and needed.
  package func sized(_ request: ImageRequest) -> ImageRequest? { self.request(request, in: viewSize) }

  private func needsBox(_ request: ImageRequest) -> Bool {
    if case .view = sizing { request.size == nil } else { false }
  }

  private func request(_ request: ImageRequest, in box: PixelBox?) -> ImageRequest? {
    var request = request
    let moves = animates && !request.animates
    if case .view(let mode) = sizing, request.size == nil {
      guard let box else { return nil }
      // A scale that is set in the request is kept.
      let scale = request.fields.scale == nil && viewScale != 1 ? viewScale : nil
      // All fields change at once, since each change copies them all.
      request.change { fields in
        if moves { fields.decoding.animates = true }
        fields.size = box.targetSize(mode)
        if let scale { fields.scale = scale }
      }
    } else if moves {
      request.animates = true
    }
    return replace?(request) ?? request
  }

  private func start(_ request: ImageRequest) {
    let load = SlotLoad(request, for: self)
    current = load
    binding?.stage = .loading
    mailbox.statistics.loadsStarted += 1
    var request = request
    if load.wantsProgress, !load.wantsPreviews { request.previews = .none }
    if binding?.showsStale == true { request.revalidates = true }
    let isWatching = load.wantsProgress || load.wantsPreviews
    let task = loader.startLoading(request, isWatching: isWatching, in: scope) { load.note($0) }
    receive(load.began(task), from: load, isImmediate: true)
  }

  // MARK: Results

  func receive(_ news: SlotLoad.News, from load: SlotLoad, isImmediate: Bool = false) {
    // This guard alone keeps other results from the display: the results of any other load are late.
    guard load === current else {
      if load === smallLoad { return receiveSmall(news) }
      mailbox.statistics.late += 1
      return
    }
    if let progress = news.progress {
      progressChanged?(progress)
      onProgress?(progress)
      // The callback may have made another request.
      guard load === current else { return }
    }
    switch news.result {
    case nil: if let preview = news.preview { show(preview: preview) }
    case .success(let response):
      current = nil
      endSmall()
      binding?.stage = .shown
      binding?.wasAnswered = true
      let isReload = binding?.isReload ?? false
      binding?.isReload = false
      let generation = generation
      let fades = !isImmediate && response.origin != .memory
      show(response, of: load.request, fades: fades, evenIfUnchanged: isReload)
      mailbox.failedSlots.loaded(load.request, by: loader, mailbox)
      guard response.isRevalidationDue, generation == self.generation, let binding, isVisible else { return }
      binding.showsStale = true
      if let request = sized(binding) { start(request) }
    case .failure(let error) where error.isCancellation:
      // A scope has cancelled the load, as `cancel()` does.
      endSmall()
      binding = nil
      current = nil
    case .failure(let error):
      current = nil
      endSmall()
      if let binding {
        binding.stage = .failed
        mailbox.failedSlots.add(self, binding, load.request)
      }
      show(error)
    }
  }

  /// Detaches the current load, so that its results are late.
  func takeCurrent() -> SlotLoad? {
    generation += 1
    cancelRest()
    defer { current = nil }
    return current
  }

  func leave(_ load: SlotLoad?, _ leaving: Leaving) {
    guard let load, load.leave(leaving) else { return }
    if leaving == .cancel { mailbox.statistics.loadsCancelled += 1 } else { mailbox.statistics.loadsLeft += 1 }
  }

  // MARK: Showing

  func clear() {
    if case .nothing = shown { return }
    shown = .nothing
    display?.show(.empty)
  }

  private func showPlaceholder(of binding: Binding, for request: ImageRequest) {
    guard binding.needsPlaceholder else { return }
    binding.needsPlaceholder = false
    show(binding.placeholder, for: request)
  }

  private func show(_ placeholder: Placeholder, for request: ImageRequest) {
    switch placeholder {
    case .none: clear()
    case .keepCurrent: break
    case .cachedVariant(let other):
      guard let variant = loader.cachedVariant(for: request) else { return show(other, for: request) }
      shown = .variant(isSharp: variant.pixelRatio >= 0.5)
      mailbox.statistics.variants += 1
      display?.show(.preview(variant.container))
    case .request(let small, let other):
      if let hit = loader.cachedImage(for: sizedIfPossible(small)) { return show(small: hit, for: request) }
      binding?.small = small
      show(other, for: request)
    case .thumbHash(let hash): showStandIn(.image(hash.bitmap))
    case .blurHash(let hash, let ratio):
      let bitmap = hash.placeholder(aspectRatio: ratio ?? aspectRatio(of: request))
      showStandIn(bitmap.map { .image($0) } ?? .color(hash.averageColor))
    case .color, .image, .resource, .symbol, .native: showStandIn(placeholder)
    }
  }

  private func showStandIn(_ placeholder: Placeholder) {
    shown = .standIn
    display?.show(.placeholder(placeholder))
  }

  /// Returns the aspect ratio of the place in which an image is shown; 1 if unknown.
  private func aspectRatio(of request: ImageRequest) -> Double {
    if let width = request.size?.width, let height = request.size?.height { return width / height }
    return viewSize.map { Double($0.width) / Double($0.height) } ?? 1
  }

  private func show(preview: ImageContainer) {
    switch shown {
    // A sharp picture, even an earlier or a stale one, is better than a blurred one.
    case .kept, .image, .variant(isSharp: true): return
    case .nothing, .standIn, .preview, .variant: break
    }
    shown = .preview
    mailbox.statistics.previews += 1
    display?.show(.preview(preview))
  }

  /// Shows an image; the same one again only if the display waits for the end of a reload.
  private func show(
    _ response: ImageResponse,
    of request: ImageRequest,
    fades: Bool,
    evenIfUnchanged: Bool = false,
  ) {
    let info = response.info
    let picture = Picture(
      key: request.imageKey,
      contentID: response.contentID,
      isWhole: response.image.width >= info.width && response.image.height >= info.height
        && !response.loaded.isThumbnail,
      hold: loader.hold(request),
    )
    let before = shown
    shown = .image(picture)
    var replacesItself = false
    switch before {
    case .image(let older):
      // Bytes of files and closures have no content ID.
      if !evenIfUnchanged, older.key == picture.key, older.contentID == picture.contentID, picture.contentID != .none {
        mailbox.statistics.unchanged += 1
        return
      }
      replacesItself = true
    case .preview, .variant: replacesItself = true
    case .nothing, .standIn, .kept: break
    }
    mailbox.statistics.countShown(response.origin)
    display?.show(.image(response, fades: fades && !replacesItself))
  }

  private func show(_ error: LoadError) {
    guard let binding else { return }
    mailbox.statistics.failures += 1
    // A stale or slightly too small image is better than none.
    if case .image = shown {
      if binding.isReload { display?.show(.failure(error, shows: .keepCurrent)) }
      return
    }
    switch binding.failure {
    case .none: shown = .nothing
    case .keepCurrent: break
    case .color, .image, .resource, .symbol, .native, .cachedVariant, .request, .thumbHash, .blurHash: shown = .standIn
    }
    display?.show(.failure(error, shows: binding.failure))
  }

  /// A Boolean value that indicates whether the image on display was also in the memory cache when it appeared.
  package var isImageInMemory: Bool {
    if case .image(let picture) = shown { picture.hold != nil } else { false }
  }

  // MARK: Events of the view

  func visibilityChanged() {
    // A result that waits for its delivery is shown even if the view is hidden.
    guard let binding, current?.isEnded != true else { return }
    switch (isVisible, binding.stage) {
    case (true, .waitingToBeVisible):
      // The size may have changed meanwhile.
      binding.box = nil
      binding.isProvisional = false
      proceed()
    case (true, .loading): current?.setPriority(binding.request.priority)
    case (false, .loading) where whenLeft == .cancel:
      let old = takeCurrent()
      leaveSmall()
      binding.stage = .waitingToBeVisible
      leave(old, .cancel)
    case (false, .loading) where whenLeft == .lower: current?.setPriority(min(binding.request.priority, .low))
    default: break
    }
  }

  func viewSizeChanged(to size: PixelBox) {
    guard let binding else { return }
    switch binding.stage {
    case .waitingForSize: proceed()
    case .waitingToBeVisible, .failed: break
    case .loading, .shown:
      guard let box = binding.box else { return }
      if !box.covers(size), !isWhole { reload(in: size.onLadder, isProvisional: true) }
      waitForRest()
    }
  }

  /// A Boolean value that indicates whether a larger image would have no more pixels.
  private var isWhole: Bool {
    if case .image(let picture) = shown { picture.isWhole } else { false }
  }

  /// Waits for the view's size to settle, unless the image is made for exactly that size.
  private func waitForRest() {
    cancelRest()
    guard binding?.isProvisional == true else { return }
    let number = restCount
    rest = mailbox.clock.schedule(after: .milliseconds(250)) { [mailbox, weak self] in
      mailbox.post { self?.rested(number) }
    }
  }

  private func cancelRest() {
    rest?.cancel()
    rest = nil
    restCount += 1
  }

  private func rested(_ number: Int) {
    guard number == restCount else { return }
    rest = nil
    guard let binding, [.loading, .shown].contains(binding.stage), let viewSize, !isWhole else { return }
    if let box = binding.box, box.matches(viewSize) { return }
    reload(in: viewSize, isProvisional: false)
  }
}
