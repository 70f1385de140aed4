import VitrineCaching
import VitrineImaging
import VitrineRuntime

extension ImageSlot {
  /// What a slot was asked for, and how far it is; a class, since copies of all that is in it took half of a bind's time.
  final class Binding {
    enum Stage { case waitingForSize, waitingToBeVisible, loading, shown, failed }

    var request: ImageRequest
    let placeholder: Placeholder
    let failure: Placeholder
    var stage = Stage.waitingForSize
    /// Whether the placeholder is still to be shown.
    var needsPlaceholder = true
    /// The box that the image is made for, where the view's size says that.
    var box: PixelBox?
    /// Whether the box is one for a view that is still growing.
    var isProvisional = false
    /// Whether what is shown is out of date, so that the server's word is waited for.
    var showsStale = false
    /// Whether an image has come, of whatever size.
    var wasAnswered = false

    init(request: ImageRequest, placeholder: Placeholder, failure: Placeholder) {
      (self.request, self.placeholder, self.failure) = (request, placeholder, failure)
    }
  }

  /// What a display shows.
  enum Shown {
    case nothing
    /// A placeholder, or what stands for a failure.
    case standIn
    /// A picture of what was asked for before, kept as ``Picture/hold`` says.
    case kept(hold: (any Sendable)?)
    case preview
    /// The image in another size perhaps; `isSharp` if a preview would not be better.
    case variant(isSharp: Bool)
    case image(Picture)
  }

  /// An image of the current binding, as far as it has to be told apart from another.
  struct Picture {
    let key: CacheKey
    let contentID: ContentID
    /// Whether it has all pixels that there are, so that asking for a larger one brings nothing.
    let isWhole: Bool
    /// Keeps the image from being evicted before what is not shown.
    let hold: (any Sendable)?
  }

  // MARK: Going on

  func bind(_ binding: Binding, isAgain: Bool) {
    let old = takeCurrent()
    self.binding = binding
    switch shown {
    case .image where isAgain, .preview where isAgain, .variant where isAgain: binding.needsPlaceholder = false
    case .image(let picture): shown = .kept(hold: picture.hold)
    case .preview, .variant: shown = .kept(hold: nil)
    case .nothing, .standIn, .kept: break
    }
    proceed()
    // Only now: what the two have in common, the transfer perhaps, goes on without a break.
    leave(old, whenLeft)
  }

  /// Loads again at another size, keeping what is shown.
  private func reload(in box: PixelBox, isProvisional: Bool) {
    let old = takeCurrent()
    binding?.box = box
    binding?.isProvisional = isProvisional
    proceed()
    leave(old, .cancel)
  }

  /// Goes as far as it can: waits for the size, shows what is in memory, waits to be visible, loads.
  private func proceed() {
    guard let binding else { return }
    guard let request = sized(binding) else {
      binding.stage = .waitingForSize
      showPlaceholder(of: binding, for: binding.request)
      return
    }
    binding.stage = .waitingToBeVisible
    let generation = generation
    if let hit = loader.cachedImage(for: request) {
      binding.needsPlaceholder = false
      if !hit.isStale { binding.stage = .shown }
      show(hit, of: request, fades: false)
      if !hit.isStale { return }
      binding.showsStale = true
    } else {
      showPlaceholder(of: binding, for: request)
    }
    // The display may have asked for something else while it was told.
    guard isVisible, generation == self.generation, binding.stage == .waitingToBeVisible else { return }
    start(request)
  }

  /// What is loaded: the request, at the view's size where it names none; `nil` while that is not known.
  private func sized(_ binding: Binding) -> ImageRequest? {
    guard case .view(let mode) = sizing, binding.request.size == nil else { return binding.request }
    guard let box = binding.box ?? viewSize else { return nil }
    binding.box = box
    var request = binding.request
    request.size = box.targetSize(mode)
    // Another size of what was just fetched anew is not fetched anew.
    if binding.wasAnswered, request.cachePolicy == .reload { request.cachePolicy = .standard }
    return request
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

  // MARK: What comes

  func receive(_ news: SlotLoad.News, from load: SlotLoad, isImmediate: Bool = false) {
    // The one guard between an answer and the display: what another load brings is late, whatever it is.
    guard load === current else {
      mailbox.statistics.late += 1
      return
    }
    if let progress = news.progress, let onProgress {
      onProgress(progress)
      // Whoever was told may have asked for something else.
      guard load === current else { return }
    }
    switch news.result {
    case nil: if let preview = news.preview { show(preview: preview) }
    case .success(let response):
      current = nil
      binding?.stage = .shown
      binding?.wasAnswered = true
      let generation = generation
      show(response, of: load.request, fades: !isImmediate && response.origin != .memory)
      guard response.isRevalidationDue, generation == self.generation, let binding, isVisible else { return }
      binding.showsStale = true
      if let request = sized(binding) { start(request) }
    case .failure(let error):
      current = nil
      binding?.stage = .failed
      show(error)
    }
  }

  /// Takes what is being loaded away from the slot, so that whatever comes of it is late.
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
    case .color, .image, .symbol:
      shown = .standIn
      display?.show(.placeholder(placeholder))
    }
  }

  private func show(preview: ImageContainer) {
    switch shown {
    // A sharp picture, of before or out of date, is better than a blurred one.
    case .kept, .image, .variant(isSharp: true): return
    case .nothing, .standIn, .preview, .variant: break
    }
    shown = .preview
    mailbox.statistics.previews += 1
    display?.show(.preview(preview))
  }

  private func show(_ response: ImageResponse, of request: ImageRequest, fades: Bool) {
    let info = response.info
    let picture = Picture(
      key: request.imageKey,
      contentID: response.contentID,
      isWhole: response.image.width >= info.width && response.image.height >= info.height,
      hold: loader.hold(request),
    )
    let before = shown
    shown = .image(picture)
    var replacesItself = false
    switch before {
    case .image(let older):
      // The bytes of files and closures have no content id.
      if older.key == picture.key, older.contentID == picture.contentID, picture.contentID != .none {
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
    // An image that is out of date, or a little too small, is better than none.
    if case .image = shown { return }
    switch binding.failure {
    case .none: shown = .nothing
    case .keepCurrent: break
    case .color, .image, .symbol, .cachedVariant: shown = .standIn
    }
    display?.show(.failure(error, binding.failure))
  }

  // MARK: What happens to the view

  func visibilityChanged() {
    // What has come already and waits for its hop is shown, visible or not.
    guard let binding, current?.isEnded != true else { return }
    switch (isVisible, binding.stage) {
    case (true, .waitingToBeVisible):
      // For the size that the view has now.
      binding.box = nil
      binding.isProvisional = false
      proceed()
    case (true, .loading): current?.setPriority(binding.request.priority)
    case (false, .loading) where whenLeft == .cancel:
      let old = takeCurrent()
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

  /// Whether a larger image would bring no pixel more.
  private var isWhole: Bool {
    if case .image(let picture) = shown { picture.isWhole } else { false }
  }

  /// Begins to wait for the view to keep its size, if the image is not made for just that.
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
