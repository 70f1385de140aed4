import CGTK
import CVitrineGTK
import Vitrine

/// The widget of a picture: an image that may be fading in, the content beneath it, or an icon.
///
/// Its size does not depend on its content, so an arriving image is drawn without a new layout.
@safe
final class PictureView: DrawnWidget {
  /// The time that an image takes to appear, in microseconds; the same as in the style sheet.
  private static let fadeTime: gint64 = 200_000

  let slot: ImageSlot
  let mode: TargetSize.Mode
  /// The current content.
  private(set) var content = ImageSlot.Content.empty
  var onChange: @MainActor (ImageSlot.Content) -> Void = { _ in }

  private let minimumSize: (width: Int, height: Int)
  fileprivate(set) var image: Texture?
  private(set) var iconName: String?
  private let layer: Layer
  private var icon: UnsafeMutablePointer<GtkWidget>?
  private(set) var beneath: Beneath?
  private var fade = Fade.none

  enum Beneath {
    case texture(Texture, Texture.Fit)
    case color(PixelColor)
  }

  private enum Fade {
    case none
    /// The first frame has not been drawn; the style sheet's animation begins with it too.
    case waiting
    case running(since: gint64)
  }

  init(_ slot: ImageSlot, minimumSize: (width: Int, height: Int), mode: TargetSize.Mode) {
    MainActorSource.attach()
    StyleSheet.load()
    self.slot = slot
    (self.mode, self.minimumSize) = (mode, minimumSize)
    layer = Layer()
    super.init(cssName: "vitrine-picture")
    slot.display = self
    slot.sizing = .view(mode)
    slot.isVisible = false
    // The likely size, so that memory can be checked before the first layout.
    tellSize(width: minimumSize.width, height: minimumSize.height)
    layer.view = self
    // Both are alive. The parent owns the child from now on, until `dispose`.
    unsafe gtk_widget_set_parent(layer.widget, widget)
    unsafe gtk_widget_set_overflow(widget, GTK_OVERFLOW_HIDDEN)
    unsafe Signals.connect(UnsafeMutableRawPointer(widget), "notify::scale-factor") { [weak self] in self?.tellSize() }
  }

  /// The number of device pixels a point.
  var scale: Double { unsafe vitrine_gtk_scale(widget) }

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
  var isFading: Bool {
    if case .none = fade { false } else { true }
  }

  var isMapped: Bool { unsafe gtk_widget_get_mapped(widget) != 0 }

  // MARK: What is shown

  private func apply(_ content: ImageSlot.Content) {
    switch content {
    case .empty, .failure(_, .none): showBeneath(nil)
    case .placeholder(let placeholder), .failure(_, let placeholder): show(placeholder)
    case .preview(let preview): show(preview.bitmap, fades: false)
    case .image(let response, let fades): show(response.image, fades: fades)
    }
  }

  private func show(_ placeholder: Placeholder) {
    switch placeholder {
    case .none: showBeneath(nil)
    // The slot shows hashes as images.
    case .keepCurrent, .cachedVariant, .thumbHash, .blurHash: break
    case .color(let color): showBeneath(.color(color))
    case .image(let bitmap): showBeneath(.texture(Texture(bitmap), .placeholder))
    case .symbol(let name): showBeneath(nil, icon: name)
    }
  }

  private func showBeneath(_ what: Beneath?, icon name: String? = nil) {
    (image, beneath) = (nil, what)
    setIcon(name)
    endFade()
    redraw()
  }

  /// Shows an image.
  ///
  /// The previous content stays beneath while it fades in.
  private func show(_ bitmap: Bitmap, fades: Bool) {
    let previous = image.map { Beneath.texture($0, .image) } ?? beneath
    image = Texture(bitmap)
    setIcon(nil)
    endFade()
    beneath = nil
    if fades, isMapped, unsafe vitrine_gtk_animations_enabled(widget) != 0 {
      beneath = previous
      fade = .waiting
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
    fade = .none
  }

  private func redraw() {
    unsafe gtk_widget_queue_draw(widget)
    unsafe gtk_widget_queue_draw(layer.widget)
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
      unsafe icon = gtk_image_new()
      unsafe gtk_widget_set_parent(icon, widget)
    }
    // Made as a `GtkImage` above.
    unsafe gtk_image_set_from_icon_name(OpaquePointer(icon), name)
    unsafe gtk_image_set_icon_size(OpaquePointer(icon), GTK_ICON_SIZE_LARGE)
  }

  // MARK: The widget

  override func measure(_ orientation: GtkOrientation) -> (minimum: Int, natural: Int) {
    // GTK requires that a child is measured before it is laid out.
    unsafe gtk_widget_measure(layer.widget, orientation, -1, nil, nil, nil, nil)
    if let icon = unsafe icon { unsafe gtk_widget_measure(icon, orientation, -1, nil, nil, nil, nil) }
    let length = orientation == GTK_ORIENTATION_HORIZONTAL ? minimumSize.width : minimumSize.height
    return (length, length)
  }

  override func allocate(width: Int, height: Int) {
    unsafe gtk_widget_allocate(layer.widget, gint(width), gint(height), -1, nil)
    if let icon = unsafe icon { unsafe gtk_widget_allocate(icon, gint(width), gint(height), -1, nil) }
    tellSize()
    slot.isVisible = isMapped
  }

  override func mappedDidChange(_ isMapped: Bool) {
    // A grid maps all its cells before it lays them out, and then unmaps the many that are invisible.
    slot.isVisible = unsafe isMapped && gtk_widget_get_width(widget) > 0
  }

  override func draw(into snapshot: OpaquePointer) {
    if let beneath, !fadeIsOver() { unsafe draw(beneath, into: snapshot) }
    unsafe gtk_widget_snapshot_child(widget, layer.widget, snapshot)
    if let icon = unsafe icon { unsafe gtk_widget_snapshot_child(widget, icon, snapshot) }
  }

  private func draw(_ what: Beneath, into snapshot: OpaquePointer) {
    let (width, height) = unsafe (Double(gtk_widget_get_width(widget)), Double(gtk_widget_get_height(widget)))
    switch what {
    case .texture(let texture, let fit):
      unsafe texture.draw(into: snapshot, width: width, height: height, scale: scale, mode: mode, fit: fit)
    case .color(let color):
      var rgba = GdkRGBA(
        red: Float(color.red) / 255,
        green: Float(color.green) / 255,
        blue: Float(color.blue) / 255,
        alpha: Float(color.alpha) / 255,
      )
      var bounds = graphene_rect_t()
      // GTK copies both.
      unsafe graphene_rect_init(&bounds, 0, 0, Float(width), Float(height))
      unsafe gtk_snapshot_append_color(snapshot, &rgba, &bounds)
    }
  }

  override func dispose() {
    if let icon = unsafe icon { unsafe gtk_widget_unparent(icon) }
    unsafe icon = nil
    if unsafe gtk_widget_get_parent(layer.widget) != nil { unsafe gtk_widget_unparent(layer.widget) }
  }

  /// Follows the fade by the frames; the content beneath goes with its last one.
  private func fadeIsOver() -> Bool {
    guard image != nil else { return false }
    let now = unsafe gdk_frame_clock_get_frame_time(gtk_widget_get_frame_clock(widget))
    switch fade {
    case .none: return true
    case .waiting:
      fade = .running(since: now)
      return false
    case .running(let since):
      guard now - since >= Self.fadeTime else { return false }
      fade = .none
      beneath = nil
      return true
    }
  }
}

extension PictureView: ImageDisplay {
  func show(_ content: ImageSlot.Content) {
    self.content = content
    apply(content)
    MainThreadWork.exclude { onChange(content) }
  }
}

/// The image itself: a widget of its own, so that a style sheet can animate it.
private final class Layer: DrawnWidget {
  weak var view: PictureView?
  private var fadeClass: String?
  private var turn = false

  init() {
    super.init(cssName: "vitrine-image")
  }

  /// Restarts the animation.
  ///
  /// The two class names do the same; changing the name restarts it even within one frame.
  func beginFade() {
    endFade()
    let name = turn ? "arriving" : "arriving-again"
    turn.toggle()
    fadeClass = name
    unsafe gtk_widget_add_css_class(widget, name)
  }

  func endFade() {
    guard let name = fadeClass else { return }
    fadeClass = nil
    unsafe gtk_widget_remove_css_class(widget, name)
  }

  override func draw(into snapshot: OpaquePointer) {
    guard let view else { return }
    unsafe view.image?.draw(
      into: snapshot,
      width: Double(gtk_widget_get_width(widget)),
      height: Double(gtk_widget_get_height(widget)),
      scale: view.scale,
      mode: view.mode,
      fit: .image,
    )
  }
}
