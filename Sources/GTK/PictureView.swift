import CGTK
import CVitrineGTK
import Vitrine

/// The widget of a picture: an image that may be fading in, the content beneath it, or an icon; over them the progress of
/// a load and a button to try again.
///
/// Its size does not depend on its content, so an arriving image is drawn without a new layout.
@safe
final class PictureView: DrawnWidget {
  let slot: ImageSlot
  /// The way an image is fitted into the widget.
  var mode: TargetSize.Mode {
    didSet {
      guard mode != oldValue else { return }
      slot.sizing = .view(mode)
      redraw()
    }
  }
  /// The place of an image that leaves room, or of the visible part of a larger image.
  var alignment = Anchor.center {
    didSet { if alignment != oldValue { redraw() } }
  }
  var shape = PictureShape.rectangle {
    didSet { if shape != oldValue { redraw() } }
  }
  /// The colour of a line along the edge of an image; `nil` for none.
  var outline: PixelColor? {
    didSet { if outline != oldValue { redraw() } }
  }
  /// True if animations play while they can be seen.
  var plays = true {
    didSet { if plays != oldValue { updatePlayback() } }
  }
  /// The thumbnails that stand for files; `nil` for none.
  var thumbnails: DesktopThumbnails? = .user
  /// The brightest that the display can show, as a multiple of white.
  var headroom = 1.0
  /// The current content.
  private(set) var content = ImageSlot.Content.empty
  var onChange: @MainActor (ImageSlot.Content) -> Void = { _ in }
  /// Called when the widget enters or leaves the screen.
  var visibilityChanged: ((Bool) -> Void)?

  private let minimumSize: (width: Int, height: Int)
  private(set) var image: Texture?
  private(set) var iconName: String?
  private(set) var beneath: Beneath?
  private(set) var playback: Playback?
  private(set) var ring: ProgressRing?
  private(set) var retryButton: RetryButton?
  private let layer: PictureLayer
  private var icon: UnsafeMutablePointer<GtkWidget>?
  private var fade = Fade()
  /// The time of the frame that is drawn, in microseconds.
  ///
  /// Defaults to the time of the frame clock.
  var frameTime: @MainActor (UnsafeMutablePointer<GtkWidget>) -> gint64 = { widget in
    unsafe gdk_frame_clock_get_frame_time(gtk_widget_get_frame_clock(widget))
  }
  private var isLeaving = false

  enum Beneath {
    case texture(Texture, PicturePlace.Fit)
    case color(PixelColor)
  }

  init(
    _ slot: ImageSlot,
    minimumSize: (width: Int, height: Int),
    mode: TargetSize.Mode,
    built: Unfinished? = nil,
  ) {
    MainActorSource.attach()
    StyleSheet.load()
    self.slot = slot
    (self.mode, self.minimumSize) = (mode, minimumSize)
    layer = PictureLayer()
    super.init(cssName: "vitrine-picture", role: .image, built: built)
    slot.display = self
    slot.sizing = .view(mode)
    slot.isVisible = false
    slot.animates = true
    slot.replace = { [weak self] request in self?.preferred(for: request) ?? request }
    slot.loadingChanged = { [weak self] in self?.loadingChanged($0) }
    // The likely size, so that memory can be checked before the first layout.
    tellSize(width: minimumSize.width, height: minimumSize.height)
    layer.view = self
    // Both are alive. The parent owns the child from now on, until `dispose`.
    unsafe gtk_widget_set_parent(layer.widget, widget)
    unsafe gtk_widget_set_overflow(widget, GTK_OVERFLOW_HIDDEN)
    unsafe Signals.connect(
      UnsafeMutableRawPointer(widget),
      "notify::scale-factor",
      argument: { [weak self] _ in self?.tellSize() },
    )
  }

  private func tellSize() {
    unsafe tellSize(width: Int(gtk_widget_get_width(widget)), height: Int(gtk_widget_get_height(widget)))
  }

  private func tellSize(width: Int, height: Int) {
    let scale = scale
    slot.sizeChanged(
      width: Int((Double(width) * scale).rounded()),
      height: Int((Double(height) * scale).rounded()),
      scale: scale,
    )
  }

  /// True if the image is still fading in.
  var isFading: Bool { fade.isRunning }

  /// True if there is a picture or a colour.
  var showsPixels: Bool { image != nil || beneath != nil }

  var isMapped: Bool { unsafe gtk_widget_get_mapped(widget) != 0 }

  /// Returns the request that is loaded for a request.
  private func preferred(for request: ImageRequest) -> ImageRequest? {
    request.brightened(for: headroom) ?? thumbnails?.preferred(for: request)
  }

  // MARK: What is shown

  private func apply(_ content: ImageSlot.Content) {
    switch content {
    case .empty, .failure(_, shows: .none): showBeneath(nil)
    case .placeholder(let placeholder), .failure(_, shows: let placeholder): show(placeholder)
    case .preview(let preview): show(Texture(preview.bitmap), preview.animation, fades: false)
    case .image(let response, let fades): show(response, fades: fades)
    }
    retryButton?.isShown = content.isFailure
  }

  private func show(_ placeholder: Placeholder) {
    switch placeholder {
    case .none, .native: showBeneath(nil)
    // The slot shows hashes as images.
    case .keepCurrent, .cachedVariant, .request, .thumbHash, .blurHash: break
    case .color(let color): showBeneath(.color(color))
    case .image(let bitmap): showBeneath(.texture(Texture(bitmap), .placeholder))
    case .resource(let name): showBeneath(ProgramPictures.texture(named: name).map { .texture($0, .image) })
    case .symbol(let name): showBeneath(nil, icon: name)
    }
  }

  private func showBeneath(_ what: Beneath?, icon name: String? = nil) {
    setPlayback(nil)
    (image, beneath) = (nil, what)
    setIcon(name)
    endFade()
    redraw()
  }

  private func show(_ response: ImageResponse, fades: Bool) {
    ring?.end()
    show(Texture(response.image, response.container.highRange), response.animation, fades: fades)
  }

  /// Shows an image, and plays an animation that begins with it.
  ///
  /// The previous content stays beneath while it fades in.
  private func show(_ texture: Texture, _ animation: AnimatedImage?, fades: Bool) {
    defer { setPlayback(animation) }
    let previous = image.map { Beneath.texture($0, .image) } ?? beneath
    image = texture
    setIcon(nil)
    endFade()
    beneath = nil
    if fades, isMapped, wantsMotion {
      beneath = previous
      fade.begin()
      layer.beginFade()
      if beneath != nil { redrawUntilFadeIsOver() }
    }
    redraw()
  }

  /// The program's style sheet may animate for another time, or not at all; the content beneath must go nevertheless.
  private func redrawUntilFadeIsOver() {
    // The tick ends with its widget and has no user data, so it outlives neither.
    unsafe gtk_widget_add_tick_callback(
      widget,
      { widget, _, _ in
        nonisolated(unsafe) let widget = unsafe widget
        return MainActor.assumeIsolated {
          guard let view = unsafe DrawnWidget.object(of: widget) as? PictureView, view.isFading else { return 0 }
          unsafe gtk_widget_queue_draw(widget)
          return 1
        }
      },
      nil,
      nil,
    )
  }

  private func endFade() {
    layer.endFade()
    fade.end()
  }

  private func redraw() {
    unsafe gtk_widget_queue_draw(widget)
    unsafe gtk_widget_queue_draw(layer.widget)
    // It is drawn as the layer beneath it needs.
    if let ring { unsafe gtk_widget_queue_draw(ring.widget) }
  }

  private func setIcon(_ name: String?) {
    guard name != iconName else { return }
    iconName = name
    guard let name else {
      if let icon = unsafe icon { unsafe gtk_widget_unparent(icon) }
      unsafe icon = nil
      return
    }
    if unsafe icon == nil {
      unsafe icon = vitrine_gtk_new_icon()
      // Below what else there is: the ring and the button stay in front.
      unsafe gtk_widget_insert_after(icon, widget, layer.widget)
    }
    // Made as a `GtkImage` above.
    unsafe gtk_image_set_from_icon_name(OpaquePointer(icon), name)
    unsafe gtk_image_set_icon_size(OpaquePointer(icon), GTK_ICON_SIZE_LARGE)
  }

  // MARK: Animations

  /// The player of the animation that is shown.
  var player: AnimationPlayer? { playback?.player }

  private func setPlayback(_ animation: AnimatedImage?) {
    let former = playback
    former?.stop()
    playback = animation.map { Playback($0, after: former, self) }
    // Also if it does not play now.
    if let playback { show(frame: playback.player.bitmap) }
    updatePlayback()
  }

  private func updatePlayback() {
    // While the widget is being unmapped, GTK still says that it is mapped.
    playback?.update(plays: plays, isMapped: isMapped && !isLeaving)
  }

  /// Shows a frame of the animation; called by its ``Playback``.
  func show(frame bitmap: Bitmap) {
    if let image, image.bitmap.isSamePixels(as: bitmap) { return }
    image = Texture(bitmap)
    unsafe gtk_widget_queue_draw(layer.widget)
  }

  // MARK: Loading

  var showsProgress: Bool {
    get { ring != nil }
    set {
      guard newValue != showsProgress else { return }
      unsafe remove(ring?.widget)
      ring = newValue ? ProgressRing() : nil
      if let ring {
        ring.view = self
        unsafe gtk_widget_insert_before(ring.widget, widget, retryButton?.widget)
        slot.progressChanged = { [weak self] in self?.ring?.progressed($0) }
        if slot.isLoading, !content.isImage { ring.begin() }
      } else {
        slot.progressChanged = nil
      }
    }
  }

  var showsRetry: Bool {
    get { retryButton != nil }
    set {
      guard newValue != showsRetry else { return }
      unsafe remove(retryButton?.widget)
      retryButton = newValue ? RetryButton { [weak self] in self?.slot.retry() } : nil
      guard let retryButton else { return }
      // The parent owns the child from now on, until `dispose`.
      unsafe gtk_widget_set_parent(retryButton.widget, widget)
      retryButton.isShown = content.isFailure
    }
  }

  private func loadingChanged(_ isLoading: Bool) {
    unsafe vitrine_gtk_set_busy(widget, isLoading ? 1 : 0)
    if isLoading, !content.isImage { ring?.begin() } else { ring?.end() }
  }

  private func remove(_ child: UnsafeMutablePointer<GtkWidget>?) {
    if let child = unsafe child { unsafe gtk_widget_unparent(child) }
  }

  // MARK: The widget

  override func measure(_ orientation: GtkOrientation) -> (minimum: Int, natural: Int) {
    let length = orientation == GTK_ORIENTATION_HORIZONTAL ? minimumSize.width : minimumSize.height
    return (length, length)
  }

  override func allocate(width: Int, height: Int) {
    // Both may bring an icon, which is laid out, too.
    tellSize()
    setVisible(isMapped)
    hideCoveredIcon(height: height)
    unsafe forEachChild { child in
      // GTK requires that a child is measured before it is laid out. Here and not with the widget, whose size does not
      // depend on it: a grid measures ten cells and lays out one.
      for orientation in [GTK_ORIENTATION_HORIZONTAL, GTK_ORIENTATION_VERTICAL] {
        unsafe gtk_widget_measure(child, orientation, -1, nil, nil, nil, nil)
      }
      unsafe gtk_widget_allocate(child, gint(width), gint(height), -1, nil)
    }
  }

  /// Hides the icon where the button to try again would cover a part of it.
  private func hideCoveredIcon(height: Int) {
    guard let icon = unsafe icon else { return }
    var (iconHeight, buttonHeight): (gint, gint) = (0, 0)
    unsafe gtk_widget_measure(icon, GTK_ORIENTATION_VERTICAL, -1, nil, &iconHeight, nil, nil)
    if let retryButton, retryButton.isShown {
      // With its margin.
      unsafe gtk_widget_measure(retryButton.widget, GTK_ORIENTATION_VERTICAL, -1, nil, &buttonHeight, nil, nil)
    }
    let isCovered = height - Int(buttonHeight) < (height + Int(iconHeight)) / 2
    unsafe gtk_widget_set_child_visible(icon, buttonHeight > 0 && isCovered ? 0 : 1)
  }

  /// The children that are laid out over the whole widget, each of which places itself.
  private func forEachChild(_ body: (UnsafeMutablePointer<GtkWidget>) -> Void) {
    var next: UnsafeMutablePointer<GtkWidget>? = unsafe gtk_widget_get_first_child(widget)
    while let child = unsafe next {
      if unsafe gtk_widget_should_layout(child) != 0 { unsafe body(child) }
      unsafe next = gtk_widget_get_next_sibling(child)
    }
  }

  override func mappedDidChange(_ isMapped: Bool) {
    // A grid maps all its cells before it lays them out, and then unmaps the many that are invisible.
    unsafe setVisible(isMapped && gtk_widget_get_width(widget) > 0)
    isLeaving = !isMapped
    updatePlayback()
    isLeaving = false
  }

  private func setVisible(_ isVisible: Bool) {
    guard slot.isVisible != isVisible else { return }
    slot.isVisible = isVisible
    visibilityChanged?(isVisible)
  }

  override func draw(into snapshot: OpaquePointer) {
    if let beneath { unsafe drawBeneath(beneath, into: snapshot) }
    unsafe forEachChild { unsafe gtk_widget_snapshot_child(widget, $0, snapshot) }
  }

  /// The place in which pictures are drawn.
  var place: PicturePlace { PicturePlace(mode: mode, alignment: alignment, scale: scale) }

  var size: (width: Double, height: Double) {
    unsafe (Double(gtk_widget_get_width(widget)), Double(gtk_widget_get_height(widget)))
  }

  /// Draws the content beneath an image that fades in, which goes with the last frame of the fade.
  ///
  /// It fades out where the image does not cover it, so that nothing vanishes at once.
  private func drawBeneath(_ what: Beneath, into snapshot: OpaquePointer) {
    guard let image else { return unsafe draw(what, into: snapshot) }
    guard let progress = unsafe fade.progress(at: frameTime(widget)) else {
      beneath = nil
      return
    }
    unsafe gtk_snapshot_push_opacity(snapshot, 1 - progress)
    unsafe draw(what, into: snapshot)
    unsafe gtk_snapshot_pop(snapshot)
    guard image.bitmap.alpha == .opaque else { return }
    let rectangle = place.rectangle(of: image.bitmap, in: size.width, size.height, .image)
    unsafe shape.clip(snapshot, to: rectangle.clipped(width: size.width, height: size.height)) {
      var bounds = rectangle.bounds
      unsafe gtk_snapshot_push_clip(snapshot, &bounds)
      unsafe draw(what, into: snapshot)
      unsafe gtk_snapshot_pop(snapshot)
    }
  }

  private func draw(_ what: Beneath, into snapshot: OpaquePointer) {
    switch what {
    case .texture(let texture, let fit): unsafe draw(texture, fit, into: snapshot)
    case .color(let color):
      let whole = PictureRectangle(width: size.width, height: size.height)
      unsafe shape.clip(snapshot, to: whole) {
        var (rgba, bounds) = (GdkRGBA(color), whole.bounds)
        // GTK copies both.
        unsafe gtk_snapshot_append_color(snapshot, &rgba, &bounds)
      }
    }
  }

  /// Draws a picture in its place and shape.
  func draw(_ texture: Texture, _ fit: PicturePlace.Fit, into snapshot: OpaquePointer) {
    guard size.width > 0, size.height > 0 else { return }
    let rectangle = place.rectangle(of: texture.bitmap, in: size.width, size.height, fit)
    unsafe shape.clip(snapshot, to: rectangle.clipped(width: size.width, height: size.height)) {
      unsafe texture.draw(into: snapshot, rectangle, isBySoftware: isDrawnBySoftware)
      guard let outline else { return }
      unsafe rectangle.clipped(width: size.width, height: size.height).drawOutline(outline, into: snapshot)
    }
  }

  override func dispose() {
    playback?.stop()
    playback = nil
    ring?.end()
    while let child = unsafe gtk_widget_get_first_child(widget) { unsafe gtk_widget_unparent(child) }
    unsafe icon = nil
    (ring, retryButton) = (nil, nil)
  }
}

extension PictureView: FrameDisplay, ImageDisplay {
  func show(_ content: ImageSlot.Content) {
    self.content = content
    apply(content)
    MainThreadWork.exclude { onChange(content) }
  }
}

extension ImageSlot.Content {
  fileprivate var isFailure: Bool {
    if case .failure = self { true } else { false }
  }

  fileprivate var isImage: Bool {
    if case .image = self { true } else { false }
  }
}

extension GdkRGBA {
  init(_ color: PixelColor) {
    self.init(
      red: Float(color.red) / 255,
      green: Float(color.green) / 255,
      blue: Float(color.blue) / 255,
      alpha: Float(color.alpha) / 255,
    )
  }
}
