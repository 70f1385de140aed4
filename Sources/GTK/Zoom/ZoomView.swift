import CGTK
import CVitrineGTK
import Vitrine

/// The widget of a picture of any size: what is visible of it, as sharp as it is known.
///
/// Its size does not depend on its content.
@safe
final class ZoomView: DrawnWidget {
  typealias Content = ZoomPicture.Content

  struct Binding {
    let request: ImageRequest
    let placeholder: Placeholder
    let failure: Placeholder
    /// Another one for each load.
    var number = 0
    var task: Task<Void, Never>?
    var isOpen = false
  }

  /// The longest side of an overview, in pixels.
  private static let longestOverview = 2048

  let opener: any PictureOpening
  /// The maximum number of bytes of textures.
  var memoryLimit = 150_000_000 {
    didSet {
      tiles?.limit = memoryLimit
      incoming?.limit = memoryLimit
      update()
    }
  }
  var changed: (() -> Void)?
  private(set) var content = Content.empty
  /// The place of the picture; `nil` until its size is known.
  private(set) var geometry: ZoomGeometry?
  private(set) var tiles: ZoomTiles?
  /// The placeholder until there are pixels of the picture itself.
  private(set) var standIn = ZoomStandIn.none
  /// The tiles that are drawn now.
  private(set) var plan = ZoomPlan()
  /// The GTK function that enlarges without smoothing; `nil` before 4.10.
  var nearest = unsafe vitrine_gtk_scaled_texture()
  var alternativeDescription = "" {
    didSet { describe() }
  }
  var zoomDescription: @MainActor (Double) -> String = { "Zoom \(Int(($0 * 100).rounded())) %" } {
    didSet { describe() }
  }
  /// True if animations play while they can be seen.
  var plays = true {
    didSet { if plays != oldValue { updatePlayback() } }
  }
  /// True if pictures that move do so, and are not their first frame.
  var animates = true
  /// The chequerboard beneath the picture, and the line around it.
  var backing = ZoomBacking() {
    didSet { redraw() }
  }
  /// The choice of a part of the picture.
  var selecting = Selecting()
  var playback: Playback?
  /// The frame of the animation that is shown.
  var frame: Texture?
  /// The last place of the pointer, in device pixels.
  var pointer: ZoomGeometry.Point?

  var binding: Binding?
  /// The picture that replaces the current one when its first pixels have come.
  private var incoming: ZoomTiles?
  private var loadCount = 0
  var animation: ZoomAnimation?
  var isLeaving = false
  private let minimumSize: (width: Int, height: Int)
  private var icon: UnsafeMutablePointer<GtkWidget>?
  var ring: ProgressRing?
  var retryButton: RetryButton?
  var failure: LoadError?
  private var tick: guint = 0
  private var described = ""

  init(
    _ opener: any PictureOpening,
    minimumSize: (width: Int, height: Int),
    built: Unfinished? = nil,
  ) {
    MainActorSource.attach()
    (self.opener, self.minimumSize) = (opener, minimumSize)
    super.init(cssName: "vitrine-zoom", role: .image, built: built)
    unsafe gtk_widget_set_overflow(widget, GTK_OVERFLOW_HIDDEN)
    unsafe gtk_widget_set_focusable(widget, 1)
    unsafe Signals.connect(
      UnsafeMutableRawPointer(widget),
      "notify::scale-factor",
      argument: { [weak self] _ in self?.viewportChanged() },
    )
    addControllers()
  }

  var isMapped: Bool { unsafe gtk_widget_get_mapped(widget) != 0 }

  /// The size of the widget, in device pixels.
  private var pixelSize: (width: Int, height: Int) {
    let scale = scale
    return unsafe (
      Int((Double(gtk_widget_get_width(widget)) * scale).rounded()),
      Int((Double(gtk_widget_get_height(widget)) * scale).rounded()),
    )
  }

  // MARK: Loading

  func load(_ request: ImageRequest?, placeholder: Placeholder, failure: Placeholder?) {
    guard let request else { return clear() }
    if let binding, binding.request.isSame(as: request), self.failure == nil { return }
    let placeholder = request.placeholder ?? placeholder
    bind(Binding(request: request, placeholder: placeholder, failure: failure ?? ZoomStandIn.ofFailure(placeholder)))
  }

  private func bind(_ new: Binding) {
    unbind()
    binding = new
    loadCount += 1
    binding?.number = loadCount
    failure = nil
    if case .keepCurrent = new.placeholder, tiles != nil {} else { showNothing(but: new.placeholder, new.request) }
    setContent(.loading)
    openIfVisible()
  }

  private func unbind() {
    binding?.task?.cancel()
    binding = nil
    incoming?.stop()
    incoming = nil
  }

  func clear() {
    guard binding != nil || tiles != nil else { return }
    unbind()
    failure = nil
    showNothing(but: .none, nil)
    setContent(.empty)
  }

  private func showNothing(but placeholder: Placeholder, _ request: ImageRequest?) {
    tiles?.stop()
    setAnimation(nil)
    (tiles, geometry, plan, selection) = (nil, nil, ZoomPlan(), nil)
    standIn = ZoomStandIn(placeholder, request, opener)
    iconName = if case .icon(let name) = standIn { name } else { nil }
    redraw()
    describe()
  }

  private func openIfVisible() {
    guard let binding, binding.task == nil, isMapped else { return }
    let (opener, request, number) = (opener, binding.request, binding.number)
    self.binding?.task = Task { @MainActor [weak self] in
      let result: Result<any TileProviding, LoadError>
      do throws(LoadError) {
        result = .success(
          try await opener.open(request) { progress in
            Task { @MainActor in if self?.binding?.number == number { self?.ring?.progressed(progress) } }
          }
        )
      } catch {
        result = .failure(error)
      }
      // After a cancel another request has this place.
      guard !Task.isCancelled else { return }
      MainThreadWork.measure { self?.opened(result) }
    }
  }

  private func opened(_ result: Result<any TileProviding, LoadError>) {
    switch result {
    case .failure(let error):
      failed(error)
    case .success(let provider):
      binding?.isOpen = true
      let new = ZoomTiles(provider, limit: memoryLimit)
      guard tiles != nil else { return adopt(new) }
      // The former picture stays until this one has pixels.
      incoming = new
      new.changed = { [weak self, weak new] in
        guard let self, let new else { return }
        if new.overview != nil { return adopt(new) }
        if let error = new.failure { failed(error) }
      }
      new.wantOverview(overviewLength(makeGeometry(provider), new))
    }
  }

  private func makeGeometry(_ provider: any TileProviding) -> ZoomGeometry {
    let (width, height) = pixelSize
    return ZoomGeometry(
      provider.grid,
      orientation: provider.info.orientation,
      width: width,
      height: height,
      scale: scale,
    )
  }

  private func adopt(_ new: ZoomTiles) {
    let isSameSize = geometry?.grid == new.provider.grid
    tiles?.stop()
    (tiles, incoming) = (new, nil)
    new.changed = { [weak self] in self?.tilesChanged() }
    if !isSameSize { (geometry, selection) = (makeGeometry(new.provider), nil) }
    setAnimation(makeAnimation(new.provider.info))
    update()
    describe()
    tilesChanged()
  }

  func failed(_ error: LoadError) {
    guard !error.isCancellation, let binding else { return }
    failure = error
    // What is known of this picture stays; of the former one nothing does.
    let isFormer = incoming != nil || !binding.isOpen
    incoming?.stop()
    incoming = nil
    if isFormer || tiles?.overview == nil { showNothing(but: binding.failure, binding.request) }
    setContent(.failure(error))
  }

  /// Loads again what has failed.
  func retry() {
    guard failure != nil, let binding else { return }
    opener.forgetFailure(of: binding.request)
    guard let tiles, binding.isOpen else {
      return bind(Binding(request: binding.request, placeholder: binding.placeholder, failure: binding.failure))
    }
    failure = nil
    setContent(.loading)
    tiles.retry()
    animation?.retry()
    update()
  }

  private func tilesChanged() {
    guard let tiles else { return }
    if failure == nil, let error = tiles.failure { failed(error) }
    guard self.tiles === tiles else { return }
    update()
    if tiles.hasArrivals { startTicking() } else { updateContent() }
    updateRing()
  }

  func updateContent() {
    guard let tiles, failure == nil, binding?.isOpen == true, incoming == nil else { return }
    let isComplete = animation == nil ? plan.isComplete(tiles) : playback != nil
    setContent(
      isComplete ? .complete : tiles.overview != nil || tiles.textureCount > 0 ? .partial : .loading
    )
  }

  private func setContent(_ new: Content) {
    let isSame = content.isSame(as: new)
    content = new
    retryButton?.isShown = failure != nil
    updateRing()
    guard !isSame else { return }
    let isLoading = if case .loading = new { true } else if case .partial = new { true } else { false }
    unsafe vitrine_gtk_set_busy(widget, isLoading ? 1 : 0)
    redraw()
    tellChange()
  }

  func tellChange() { MainThreadWork.exclude { changed?() } }

  // MARK: The place

  /// Changes the place of the picture, if there is one.
  func move(_ body: (inout ZoomGeometry) -> Void) {
    MainThreadWork.measure {
      guard var new = geometry else { return }
      body(&new)
      guard new != geometry else { return }
      geometry = new
      update()
      describe()
      updateContent()
      tellChange()
    }
  }

  private func viewportChanged() {
    let ((width, height), scale) = (pixelSize, scale)
    guard width > 0, height > 0 else { return }
    openIfVisible()
    move { $0.setViewport(width: width, height: height, scale: scale) }
    update()
  }

  private func overviewLength(_ geometry: ZoomGeometry, _ tiles: ZoomTiles) -> Int {
    var fitting = geometry
    fitting.fit()
    return min(Self.longestOverview, fitting.longestSide)
  }

  /// Decides which tiles are drawn, and requests the missing ones.
  private func update() {
    guard let geometry, let tiles else { return }
    let length = overviewLength(geometry, tiles)
    tiles.wantOverview(length)
    plan = ZoomPlan(geometry, tiles, memoryLimit: memoryLimit)
    // An overview that is on its way and has enough pixels is as good as tiles.
    let suffices = plan.usesOverview(tiles) || tiles.awaitsOverview && geometry.longestSide <= length
    tiles.want(isMapped && !suffices && animation == nil ? plan.tiles.map(\.place) : [])
    if isMapped { animation?.want(frameSize(geometry)) }
    redraw()
  }

  private func describe() {
    var text = alternativeDescription
    if let geometry {
      let zoom = zoomDescription(geometry.zoom)
      if !zoom.isEmpty { text += (text.isEmpty ? "" : ", ") + zoom }
    }
    guard text != described else { return }
    described = text
    unsafe vitrine_gtk_set_description(widget, text)
  }

  /// The description that screen readers speak.
  var spokenDescription: String { described }

  // MARK: Frames

  /// True if the next frame brings more pixels.
  var isTicking: Bool { tick != 0 }

  /// Makes textures of the tiles that have come, at each frame until none waits.
  private func startTicking() {
    guard tick == 0 else { return }
    // The tick ends with its widget and has no user data, so it outlives neither.
    tick = unsafe gtk_widget_add_tick_callback(
      widget,
      { widget, _, _ in
        nonisolated(unsafe) let widget = unsafe widget
        return MainActor.assumeIsolated {
          guard let view = unsafe DrawnWidget.object(of: widget) as? ZoomView, view.tick != 0 else { return 0 }
          return MainThreadWork.measure { view.upload() } ? 1 : 0
        }
      },
      nil,
      nil,
    )
  }

  private func upload() -> Bool {
    guard let tiles else {
      tick = 0
      return false
    }
    _ = tiles.upload()
    redraw()
    updateContent()
    guard tiles.hasArrivals else {
      tick = 0
      return false
    }
    return true
  }

  override func draw(into snapshot: OpaquePointer) {
    let start = g_get_monotonic_time()
    if let geometry, let tiles {
      var drawing = unsafe ZoomDrawing(snapshot, geometry, tiles, plan, standIn, nearest, backing) {
        g_get_monotonic_time() - start < ZoomDrawing.enlargingTime
      }
      drawing.draw(frame)
      unsafe drawSelection(into: snapshot)
      // The rest of the enlarged pixels comes with the next frame.
      if drawing.isUnfinished { startTicking() }
    } else {
      let size = unsafe (Double(gtk_widget_get_width(widget)), Double(gtk_widget_get_height(widget)))
      unsafe standIn.draw(into: snapshot, width: size.0, height: size.1, scale: scale)
    }
    unsafe forEachChild { unsafe gtk_widget_snapshot_child(widget, $0, snapshot) }
  }

  // MARK: Children

  private(set) var iconName: String? {
    didSet {
      guard iconName != oldValue else { return }
      if let icon = unsafe icon { unsafe gtk_widget_unparent(icon) }
      unsafe icon = nil
      guard let iconName, let new = unsafe vitrine_gtk_new_icon() else { return }
      unsafe gtk_widget_insert_before(new, widget, ring?.widget ?? retryButton?.widget)
      // Made as a `GtkImage` above.
      unsafe gtk_image_set_from_icon_name(OpaquePointer(new), iconName)
      unsafe gtk_image_set_icon_size(OpaquePointer(new), GTK_ICON_SIZE_LARGE)
      unsafe icon = new
    }
  }

  // MARK: The widget

  override func measure(_ orientation: GtkOrientation) -> (minimum: Int, natural: Int) {
    // GTK requires that a child is measured before it is laid out.
    unsafe forEachChild { unsafe gtk_widget_measure($0, orientation, -1, nil, nil, nil, nil) }
    let length = orientation == GTK_ORIENTATION_HORIZONTAL ? minimumSize.width : minimumSize.height
    return (length, length)
  }

  override func allocate(width: Int, height: Int) {
    // It may bring children, which are laid out, too.
    viewportChanged()
    unsafe forEachChild { child in
      unsafe gtk_widget_allocate(child, gint(width), gint(height), -1, nil)
    }
  }

  override func mappedDidChange(_ isMapped: Bool) {
    isLeaving = !isMapped
    updatePlayback()
    isLeaving = false
    guard isMapped else {
      tiles?.want([])
      return
    }
    openIfVisible()
    update()
  }

  override func dispose() {
    unbind()
    tiles?.stop()
    tiles = nil
    setAnimation(nil)
    ring?.end()
    (changed, tick) = (nil, 0)
    while let child = unsafe gtk_widget_get_first_child(widget) { unsafe gtk_widget_unparent(child) }
    unsafe icon = nil
    (ring, retryButton) = (nil, nil)
  }
}

extension ZoomGeometry {
  /// The longer side of the picture on the screen, in device pixels.
  var longestSide: Int { max(picture.width, picture.height) }
}
