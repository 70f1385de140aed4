import CGTK
import CVitrineGTK
import Vitrine

extension ZoomView {
  /// The factor of a step of the keyboard or of the wheel.
  static let step = 1.25
  /// The distance of an arrow key, in points.
  private static let arrowDistance = 64.0

  /// Listens to the pointer, the touchpad and the keyboard.
  ///
  /// Every signal's handler is released with its controller, and that with the widget.
  func addControllers() {
    addScrolling()
    addPinch()
    addClicks()
    addDrag()
    addKeys()
  }

  private func add(_ controller: OpaquePointer?) { unsafe gtk_widget_add_controller(widget, controller) }

  func point(_ x: Double, _ y: Double) -> ZoomGeometry.Point {
    let scale = scale
    return ZoomGeometry.Point(x: x * scale, y: y * scale)
  }

  // MARK: The pointer

  private func addScrolling() {
    let motion = unsafe gtk_event_controller_motion_new()
    unsafe connect(motion, "motion") { [weak self] (x: Double, y: Double) in
      guard let self else { return }
      pointer = point(x, y)
      showGrip()
    }
    unsafe connect(motion, "leave") { [weak self] in self?.pointer = nil }
    unsafe add(motion)
    let scroll = unsafe gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_BOTH_AXES)
    unsafe connect(scroll, "scroll") { [weak self] (x: Double, y: Double) -> Bool in
      let isTouchpad = unsafe gtk_event_controller_scroll_get_unit(scroll) == GDK_SCROLL_UNIT_SURFACE
      let state = unsafe gtk_event_controller_get_current_event_state(scroll)
      let isControl = state.rawValue & GDK_CONTROL_MASK.rawValue != 0
      return self?.scrolled(x, y, isTouchpad: isTouchpad, isControl: isControl) ?? false
    }
    unsafe add(scroll)
  }

  /// Zooms by a wheel, at the pointer, and moves by a touchpad, which zooms while Control is held.
  func scrolled(_ x: Double, _ y: Double, isTouchpad: Bool, isControl: Bool) -> Bool {
    guard let geometry else { return false }
    if isTouchpad, !isControl {
      guard geometry.reachesOut.across || geometry.reachesOut.down else { return false }
      let scale = scale
      move { $0.pan(x: -x * scale, y: -y * scale) }
      return true
    }
    let steps = isTouchpad ? y / 60 : y
    guard steps != 0, steps.isFinite else { return false }
    let pointer = pointer
    move { $0.zoom(to: $0.zoom * Self.factor(steps: -min(max(steps, -8), 8)), at: pointer) }
    return true
  }

  /// Returns the factor of so many steps, which may be a fraction.
  private static func factor(steps: Double) -> Double {
    var factor = 1.0
    for _ in 0..<Int(abs(steps)) { factor *= step }
    factor *= 1 + (step - 1) * (abs(steps) - abs(steps).rounded(.down))
    return steps < 0 ? 1 / factor : factor
  }

  private func addPinch() {
    let pinch = unsafe gtk_gesture_zoom_new()
    var start = 1.0
    unsafe connect(pinch, "begin") { [weak self] in start = self?.geometry?.zoom ?? 1 }
    unsafe connect(pinch, "scale-changed") { [weak self] (factor: Double) in
      unsafe self?.pinched(to: start * factor, at: Self.middle(of: pinch))
    }
    unsafe add(pinch)
  }

  private static func middle(of gesture: OpaquePointer?) -> (x: Double, y: Double)? {
    var (x, y) = (0.0, 0.0)
    // Both are written before the call returns.
    guard unsafe gtk_gesture_is_active(gesture) != 0, unsafe gtk_gesture_get_bounding_box_center(gesture, &x, &y) != 0
    else { return nil }
    return (x, y)
  }

  /// Zooms at the middle of two fingers, in points.
  func pinched(to zoom: Double, at place: (x: Double, y: Double)?) {
    let fixed = place.map { point($0.x, $0.y) }
    move { $0.zoom(to: zoom, at: fixed) }
  }

  private func addClicks() {
    let click = unsafe gtk_gesture_click_new()
    unsafe connect(click, "pressed") { [weak self] (count: Int, x: Double, y: Double) in
      self?.clicked(count, x, y)
    }
    unsafe add(click)
  }

  /// Changes between the whole picture and its actual size at a double click, in points.
  func clicked(_ count: Int, _ x: Double, _ y: Double) {
    if count == 1 { unsafe gtk_widget_grab_focus(widget) }
    guard count == 2 else { return }
    let point = point(x, y)
    move { geometry in
      // A picture smaller than the widget is shown at its actual size already.
      let target = geometry.fittingZoom < 1 ? 1 : 2 * geometry.fittingZoom
      if geometry.isFitting { geometry.zoom(to: target, at: point) } else { geometry.fit() }
    }
  }

  private func addDrag() {
    let drag = unsafe gtk_gesture_drag_new()
    var last = (x: 0.0, y: 0.0)
    var grip: ZoomSelection.Grip?
    unsafe connect(drag, "drag-begin") { [weak self] (x: Double, y: Double) in
      last = (0, 0)
      grip = self.flatMap { $0.grip(at: $0.point(x, y)) }
    }
    unsafe connect(drag, "drag-update") { [weak self] (x: Double, y: Double) in
      defer { last = (x, y) }
      guard let self else { return }
      if let grip { dragged(grip, by: point(x, y)) } else { dragged(x - last.x, y - last.y) }
    }
    unsafe add(drag)
  }

  /// Moves the picture with the pointer, in points.
  func dragged(_ x: Double, _ y: Double) {
    let scale = scale
    move { $0.pan(x: x * scale, y: y * scale) }
  }

  // MARK: The keyboard

  private func addKeys() {
    let keys = unsafe gtk_event_controller_key_new()
    unsafe connect(keys, "key-pressed") { [weak self] (key: UInt32, _: UInt32, state: GdkModifierType) -> Bool in
      self?.pressed(key, state) ?? false
    }
    unsafe add(keys)
  }

  /// Uses a key; returns `false` for a key without an effect, which the program may use.
  func pressed(_ key: UInt32, _ modifiers: GdkModifierType) -> Bool {
    if selectionPressed(key, modifiers) { return true }
    let others = GDK_CONTROL_MASK.rawValue | GDK_ALT_MASK.rawValue | GDK_SUPER_MASK.rawValue
    guard geometry != nil, modifiers.rawValue & others == 0 else { return false }
    switch Int32(key) {
    case GDK_KEY_plus, GDK_KEY_equal, GDK_KEY_KP_Add: move { $0.zoom(to: $0.zoom * Self.step) }
    case GDK_KEY_minus, GDK_KEY_KP_Subtract: move { $0.zoom(to: $0.zoom / Self.step) }
    case GDK_KEY_0, GDK_KEY_KP_0: move { $0.fit() }
    case GDK_KEY_1, GDK_KEY_KP_1: move { $0.zoom(to: 1) }
    case GDK_KEY_r: move { $0.rotate(quarters: 1) }
    case GDK_KEY_R: move { $0.rotate(quarters: -1) }
    default: return panned(Int32(key))
    }
    return true
  }

  private func panned(_ key: Int32) -> Bool {
    guard let geometry else { return false }
    let (reach, page) = (geometry.reachesOut, Double(geometry.height) * 0.9)
    let distance = Self.arrowDistance * geometry.scale
    let (x, y): (Double, Double)
    switch key {
    case GDK_KEY_Left, GDK_KEY_KP_Left: (x, y) = (distance, 0)
    case GDK_KEY_Right, GDK_KEY_KP_Right: (x, y) = (-distance, 0)
    case GDK_KEY_Up, GDK_KEY_KP_Up: (x, y) = (0, distance)
    case GDK_KEY_Down, GDK_KEY_KP_Down: (x, y) = (0, -distance)
    case GDK_KEY_Page_Up, GDK_KEY_KP_Page_Up: (x, y) = (0, page)
    case GDK_KEY_Page_Down, GDK_KEY_KP_Page_Down: (x, y) = (0, -page)
    case GDK_KEY_Home, GDK_KEY_KP_Home: (x, y) = (Self.far, Self.far)
    case GDK_KEY_End, GDK_KEY_KP_End: (x, y) = (-Self.far, -Self.far)
    default: return false
    }
    guard x != 0 && reach.across || y != 0 && reach.down else { return false }
    move { $0.pan(x: x, y: y) }
    return true
  }

  /// More than any picture is long, in device pixels.
  private static let far = 1e12
}
