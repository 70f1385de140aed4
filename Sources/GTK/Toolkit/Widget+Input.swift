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
  ///
  /// - Parameters:
  ///   - button: The button: 1, the default, is the main one, and 3 the one for menus.
  ///   - whenReleased: A Boolean value that indicates whether the release counts. Defaults to `false`.
  ///   - body: The closure.
  public func onClick(button: Int = 1, whenReleased: Bool = false, _ body: @escaping @MainActor (Click) -> Void) {
    let click = unsafe gtk_gesture_click_new()
    unsafe gtk_gesture_single_set_button(click, guint(clamping: button))
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

  /// Sets the pointer's shape over the widget, by its name in style sheets; `none` hides it, `nil` is the usual one.
  public func setCursor(_ name: String?) { unsafe gtk_widget_set_cursor_from_name(pointer, name) }

  /// A Boolean value that indicates whether the widget's text and children go from right to left.
  public var isRightToLeft: Bool { unsafe gtk_widget_get_direction(pointer) == GTK_TEXT_DIR_RTL }

  // MARK: Menus

  /// Opens a menu at a place of the widget, in points from its left and upper edge.
  ///
  /// - Parameters:
  ///   - menu: The menu.
  ///   - x: The distance from the left edge.
  ///   - y: The distance from the upper edge.
  ///   - owner: A widget around it, which stays while the menu is open.
  /// - Returns: The open menu, to be retained until it is closed, or the next one opens.
  public func open(_ menu: Menu, x: Double, y: Double, in owner: Widget) -> Widget {
    var (left, top) = (x, y)
    // Both are written before the call returns; without a common window they stay.
    unsafe gtk_widget_translate_coordinates(pointer, owner.pointer, x, y, &left, &top)
    let popover = unsafe Widget(gtk_popover_menu_new_from_model(cast(menu.object)))
    unsafe gtk_widget_set_parent(popover.pointer, owner.pointer)
    var place = GdkRectangle(x: gint(left), y: gint(top), width: 1, height: 1)
    // GTK copies the rectangle.
    unsafe gtk_popover_set_pointing_to(cast(popover.pointer), &place)
    popover.set("has-arrow", false)
    popover.aligned(GTK_ALIGN_START)
    popover.on("closed") { [weak popover] in
      // The item that closes it activates its action after this.
      Task { @MainActor in
        if let popover, popover.parent != nil { unsafe gtk_widget_unparent(popover.pointer) }
      }
    }
    unsafe gtk_popover_popup(cast(popover.pointer))
    return popover
  }

  /// Adds a new event controller, which the widget owns from then on.
  private func add(_ controller: OpaquePointer?, _ phase: GtkPropagationPhase = GTK_PHASE_BUBBLE) {
    unsafe gtk_event_controller_set_propagation_phase(controller, phase)
    unsafe gtk_widget_add_controller(pointer, controller)
  }
}
