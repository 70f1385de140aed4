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
  /// The directions in which the view scrolls.
  private let across, down: GTKObject?
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
    child = Widget(picture)
    child.aligned(GTK_ALIGN_CENTER, GTK_ALIGN_CENTER)
    // It can be scrolled, and has no bars.
    widget = .scrolled(child, horizontal: GTK_POLICY_EXTERNAL)
    widget.set("vscrollbar-policy", GTK_POLICY_EXTERNAL)
    child.set("focusable", true)
    (across, down) = (widget.object("hadjustment"), widget.object("vadjustment"))
    for adjustment in [across, down] {
      adjustment?.on("notify::page-size") { [weak self] in self?.sizeChanged() }
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
    across?.keep(place.x, room.width, from: pixels.width * old / scale, to: pixels.width * new / scale)
    down?.keep(place.y, room.height, from: pixels.height * old / scale, to: pixels.height * new / scale)
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
    widget.onMotion { [weak self] in self?.pointer = $0 }
    // Before the view scrolls.
    widget.onScroll(GTK_PHASE_CAPTURE) { [weak self] scroll in
      let isControl = scroll.modifiers.rawValue & GDK_CONTROL_MASK.rawValue != 0
      guard let self, !scroll.isTouchpad || isControl else { return false }
      let steps = min(max(scroll.isTouchpad ? scroll.y / 60 : scroll.y, -8), 8)
      zoom(to: zoom * (steps < 0 ? 1 - steps * (Self.step - 1) : 1 / (1 + steps * (Self.step - 1))), at: pointer)
      return true
    }
    widget.onClick { [weak self] click in
      guard let self else { return }
      focus()
      guard click.count == 2 else { return }
      if isFitting { zoom(to: fittingZoom < 1 ? 1 : 2, at: (click.x, click.y)) } else { zoomToFit() }
    }
    widget.onDrag { [weak self] x, y in self?.move(-x, -y) }
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
    across?.value += x
    down?.value += y
  }
}

extension GTKObject {
  /// The value of an adjustment: the distance that the view is scrolled by.
  fileprivate var value: Double {
    get { get("value") ?? 0 }
    set { set("value", newValue) }
  }

  /// Keeps what is shown at a place when the content changes its length; shorter content is in the middle.
  fileprivate func keep(_ place: Double, _ room: Double, from old: Double, to new: Double) {
    let before = (value + place - max(0, room - old) / 2) / old
    // The view learns the new length only when it is laid out.
    set("upper", max(new, room))
    value = before * new + max(0, room - new) / 2 - place
  }
}
