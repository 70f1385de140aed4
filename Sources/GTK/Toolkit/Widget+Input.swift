public import CGTK

extension Widget {
  // MARK: The keyboard

  /// Gives the keyboard to the widget, or to one inside; returns `false` if none takes it.
  @discardableResult
  public func focus() -> Bool { unsafe gtk_widget_grab_focus(pointer) != 0 }

  /// Gives the keyboard to the next widget inside, in a direction; returns `false` if there is none.
  public func focusNext(_ direction: GtkDirectionType) -> Bool {
    unsafe gtk_widget_child_focus(pointer, direction) != 0
  }

  /// A Boolean value that indicates whether a widget inside has the keyboard.
  public var hasFocusWithin: Bool {
    guard let root = unsafe gtk_widget_get_root(pointer), let focus = unsafe gtk_root_get_focus(root) else {
      return false
    }
    return unsafe gtk_widget_is_ancestor(focus, pointer) != 0
  }

  /// Calls a closure at each key; it returns `true` for keys that it has used.
  public func onKey(
    _ phase: GtkPropagationPhase,
    _ body: @escaping @MainActor (_ key: UInt32, _ modifiers: GdkModifierType) -> Bool,
  ) {
    let keys = unsafe gtk_event_controller_key_new()
    unsafe connect(keys, "key-pressed") { (key: UInt32, _: UInt32, state: GdkModifierType) in body(key, state) }
    unsafe add(keys, phase)
  }

  // MARK: The pointer

  /// A click.
  public struct Click: Sendable {
    /// The number of clicks in quick succession.
    public let count: Int
    /// The distance from the left and the upper edge of the widget, in points.
    public let x, y: Double
    /// The keys that are held down.
    public let modifiers: GdkModifierType
  }

  /// Calls a closure when a button of the pointer is pressed, or released, on the widget.
  public func onClick(whenReleased: Bool = false, _ body: @escaping @MainActor (Click) -> Void) {
    let click = unsafe gtk_gesture_click_new()
    unsafe connect(click, whenReleased ? "released" : "pressed") { (count: Int, x: Double, y: Double) in
      // The controller is alive while it emits.
      let modifiers = unsafe gtk_event_controller_get_current_event_state(click)
      body(Click(count: count, x: x, y: y, modifiers: modifiers))
    }
    unsafe add(click)
  }

  /// A turn of the wheel, or a move of two fingers on a touchpad.
  public struct Scroll: Sendable {
    /// The distance to the right and downwards: steps of the wheel, or points on a touchpad.
    public let x, y: Double
    /// A Boolean value that indicates whether the distances are points.
    public let isTouchpad: Bool
    /// The keys that are held down.
    public let modifiers: GdkModifierType
  }

  /// Calls a closure when the user scrolls; it returns `true` for a scroll that it has used.
  public func onScroll(_ phase: GtkPropagationPhase, _ body: @escaping @MainActor (Scroll) -> Bool) {
    let scroll = unsafe gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_BOTH_AXES)
    unsafe connect(scroll, "scroll") { (x: Double, y: Double) -> Bool in
      // The controller is alive while it emits.
      let isTouchpad = unsafe gtk_event_controller_scroll_get_unit(scroll) == GDK_SCROLL_UNIT_SURFACE
      let modifiers = unsafe gtk_event_controller_get_current_event_state(scroll)
      return body(Scroll(x: x, y: y, isTouchpad: isTouchpad, modifiers: modifiers))
    }
    unsafe add(scroll, phase)
  }

  /// Calls a closure with the place of the pointer, in points from the left and the upper edge; `nil` when it leaves.
  public func onMotion(_ body: @escaping @MainActor ((x: Double, y: Double)?) -> Void) {
    let motion = unsafe gtk_event_controller_motion_new()
    unsafe connect(motion, "motion") { (x: Double, y: Double) in body((x, y)) }
    unsafe connect(motion, "leave") { body(nil) }
    unsafe add(motion)
  }

  /// Calls a closure while the widget is dragged, with the distance to the right and downwards since the last call, in
  /// points.
  public func onDrag(_ body: @escaping @MainActor (_ x: Double, _ y: Double) -> Void) {
    let drag = unsafe gtk_gesture_drag_new()
    var last = (x: 0.0, y: 0.0)
    unsafe connect(drag, "drag-begin") { last = (0, 0) }
    unsafe connect(drag, "drag-update") { (x: Double, y: Double) in
      body(x - last.x, y - last.y)
      last = (x, y)
    }
    unsafe add(drag)
  }

  /// Adds a new event controller, which the widget owns from then on.
  private func add(_ controller: OpaquePointer?, _ phase: GtkPropagationPhase = GTK_PHASE_BUBBLE) {
    unsafe gtk_event_controller_set_propagation_phase(controller, phase)
    unsafe gtk_widget_add_controller(pointer, controller)
  }
}
