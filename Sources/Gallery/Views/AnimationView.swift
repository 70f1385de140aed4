import CGTK
import CVitrineGTK
import Vitrine
import VitrineGTK

/// A view in which an animation plays, and can be enlarged and moved meanwhile.
///
/// Pointer and keys do what they do to a photograph.
@MainActor
@safe
final class AnimationView {
  let widget: Widget
  /// Called when the zoom or the content changes.
  var onChange: () -> Void = {}
  /// The error, if the animation cannot be shown.
  private(set) var error: LoadError?
  /// The number of display pixels of a pixel of the animation; 1 is its actual size.
  private(set) var zoom = 1.0
  /// True if the whole animation is shown, also if the window changes its size.
  private(set) var isFitting = true

  private let picture: RemotePicture
  private let child: Widget
  private let adjustments: (across: Adjustment, down: Adjustment)
  private var request: ImageRequest?
  /// True once frames have been asked for.
  private var isLoading = false
  /// The size of the animation in pixels.
  private var pixels = (width: 1.0, height: 1.0)
  private var pointer: (x: Double, y: Double)?
  private var pending: Repeating?

  private static let step = 1.25
  private static let largestZoom = 8.0
  /// The distance of an arrow key, in points.
  private static let arrowDistance = 64.0

  init(_ pipeline: ImagePipeline) {
    picture = RemotePicture(pipeline, mode: .exact)
    picture.usesDesktopThumbnails = false
    picture.showsRetry = true
    child = unsafe Widget(picture.widget)
    child.aligned(GTK_ALIGN_CENTER, GTK_ALIGN_CENTER)
    widget = unsafe Widget(gtk_scrolled_window_new())
    // It can be scrolled, and has no bars.
    unsafe gtk_scrolled_window_set_policy(cast(widget.pointer), GTK_POLICY_EXTERNAL, GTK_POLICY_EXTERNAL)
    widget.add(child)
    child.set("focusable", true)
    adjustments = unsafe (
      Adjustment(gtk_scrolled_window_get_hadjustment(cast(widget.pointer))),
      Adjustment(gtk_scrolled_window_get_vadjustment(cast(widget.pointer))),
    )
    for adjustment in [adjustments.across, adjustments.down] {
      unsafe connect(adjustment.pointer, "notify::page-size") { [weak self] in self?.sizeChanged() }
    }
    picture.onChange = { [weak self] content in
      guard let self, request != nil else { return }
      if case .failure(let error, _) = content { self.error = error } else { error = nil }
      onChange()
    }
    addControllers()
  }

  /// The text that screen readers speak.
  var name: String {
    get { picture.alternativeText }
    set { picture.alternativeText = newValue }
  }

  /// Shows an animation of a known size in pixels; `nil` for none.
  func load(_ request: ImageRequest?, width: Int = 1, height: Int = 1) {
    // Nothing of the last one is to be seen in the place of this one.
    picture.clear()
    self.request = request
    (error, isLoading) = (nil, false)
    pixels = (Double(max(1, width)), Double(max(1, height)))
    isFitting = true
    layOut()
  }

  func focus() { child.focus() }

  // MARK: Zoom

  /// The size of the view, in points.
  private var room: (width: Double, height: Double) {
    let size = widget.size
    return (Double(max(1, size.width)), Double(max(1, size.height)))
  }

  private var fittingZoom: Double {
    let scale = Double(widget.scale)
    return min(room.width * scale / pixels.width, room.height * scale / pixels.height, 1)
  }

  func zoomToFit() {
    isFitting = true
    layOut()
    onChange()
  }

  func zoomIn() { zoom(to: zoom * Self.step) }
  func zoomOut() { zoom(to: zoom / Self.step) }

  /// Changes the zoom; what is shown at a point of the view stays there.
  func zoom(to wanted: Double, at point: (x: Double, y: Double)? = nil) {
    guard request != nil, wanted.isFinite else { return }
    let new = min(max(wanted, fittingZoom), Self.largestZoom)
    let (old, room, place) = (zoom, room, point ?? (self.room.width / 2, self.room.height / 2))
    guard new != old else { return }
    isFitting = new <= fittingZoom
    zoom = new
    layOut()
    let scale = Double(widget.scale)
    adjustments.across.keep(place.x, room.width, from: pixels.width * old / scale, to: pixels.width * new / scale)
    adjustments.down.keep(place.y, room.height, from: pixels.height * old / scale, to: pixels.height * new / scale)
    onChange()
  }

  private func layOut() {
    if isFitting { zoom = fittingZoom }
    let scale = Double(widget.scale)
    child.minimumSize(
      width: Int((pixels.width * zoom / scale).rounded()),
      height: Int((pixels.height * zoom / scale).rounded()),
    )
    // A view that has just come has no size yet.
    guard var request, widget.size.width > 0 else { return }
    // Frames as small as they are shown, or as they are: GTK enlarges them.
    let part = isFitting ? zoom : 1
    request.size = .pixels((pixels.width * part).rounded(), (pixels.height * part).rounded(), .exact)
    let placeholder: Placeholder = isLoading ? .keepCurrent : .cachedVariant(else: .none)
    isLoading = true
    picture.load(request, placeholder: placeholder, failure: .symbol("image-missing-symbolic"))
  }

  private func sizeChanged() {
    guard request != nil else { return }
    // Sizes that are asked for during a layout may be forgotten.
    pending = Repeating(every: 0) { [weak self] in
      guard let self, request != nil else { return false }
      if isFitting { layOut() }
      onChange()
      return false
    }
  }

  // MARK: Input

  private func addControllers() {
    let motion = unsafe gtk_event_controller_motion_new()
    unsafe connect(motion, "motion") { [weak self] (x: Double, y: Double) in self?.pointer = (x, y) }
    unsafe connect(motion, "leave") { [weak self] in self?.pointer = nil }
    unsafe widget.addController(motion)

    let scroll = unsafe gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_BOTH_AXES)
    // Before the view scrolls.
    unsafe gtk_event_controller_set_propagation_phase(scroll, GTK_PHASE_CAPTURE)
    unsafe connect(scroll, "scroll") { [weak self] (_: Double, y: Double) -> Bool in
      let isTouchpad = unsafe gtk_event_controller_scroll_get_unit(scroll) == GDK_SCROLL_UNIT_SURFACE
      let state = unsafe gtk_event_controller_get_current_event_state(scroll)
      let isControl = state.rawValue & GDK_CONTROL_MASK.rawValue != 0
      guard let self, !isTouchpad || isControl else { return false }
      let steps = min(max(isTouchpad ? y / 60 : y, -8), 8)
      zoom(to: zoom * (steps < 0 ? 1 - steps * (Self.step - 1) : 1 / (1 + steps * (Self.step - 1))), at: pointer)
      return true
    }
    unsafe widget.addController(scroll)

    let click = unsafe gtk_gesture_click_new()
    unsafe connect(click, "pressed") { [weak self] (count: Int, x: Double, y: Double) in
      guard let self else { return }
      focus()
      guard count == 2 else { return }
      if isFitting { zoom(to: fittingZoom < 1 ? 1 : 2, at: (x, y)) } else { zoomToFit() }
    }
    unsafe widget.addController(click)

    let drag = unsafe gtk_gesture_drag_new()
    var last = (x: 0.0, y: 0.0)
    unsafe connect(drag, "drag-begin") { (_: Double, _: Double) in last = (0, 0) }
    unsafe connect(drag, "drag-update") { [weak self] (x: Double, y: Double) in
      self?.move(last.x - x, last.y - y)
      last = (x, y)
    }
    unsafe widget.addController(drag)

    widget.onKey(GTK_PHASE_CAPTURE) { [weak self] key, _ in
      guard let self, !isFitting else { return false }
      switch Int32(key) {
      case GDK_KEY_Left: move(-Self.arrowDistance, 0)
      case GDK_KEY_Right: move(Self.arrowDistance, 0)
      case GDK_KEY_Up: move(0, -Self.arrowDistance)
      case GDK_KEY_Down: move(0, Self.arrowDistance)
      default: return false
      }
      return true
    }
  }

  private func move(_ x: Double, _ y: Double) {
    adjustments.across.value += x
    adjustments.down.value += y
  }
}

/// One of the two directions in which a view scrolls.
@MainActor
@safe
private final class Adjustment {
  let pointer: UnsafeMutablePointer<GtkAdjustment>

  /// The view keeps its adjustment.
  init(_ pointer: UnsafeMutablePointer<GtkAdjustment>) {
    unsafe self.pointer = pointer
    unsafe g_object_ref(UnsafeMutableRawPointer(pointer))
  }

  isolated deinit { unsafe g_object_unref(UnsafeMutableRawPointer(pointer)) }

  var value: Double {
    get { unsafe gtk_adjustment_get_value(pointer) }
    set { unsafe gtk_adjustment_set_value(pointer, newValue) }
  }

  /// Keeps what is shown at a place when the content changes its length; shorter content is in the middle.
  func keep(_ place: Double, _ room: Double, from old: Double, to new: Double) {
    let before = (value + place - max(0, room - old) / 2) / old
    // The view learns the new length only when it is laid out.
    unsafe gtk_adjustment_set_upper(pointer, max(new, room))
    value = before * new + max(0, room - new) / 2 - place
  }
}
