import CGTK
import CVitrineGTK
import VitrineGTK

/// A widget, which this object retains.
///
/// Closures of its signals must not retain it: the two would keep each other.
@MainActor
@safe
final class Widget {
  let pointer: UnsafeMutablePointer<GtkWidget>

  /// Takes the first reference of a new widget, or another one of an old.
  init(_ pointer: UnsafeMutablePointer<GtkWidget>) {
    unsafe self.pointer = pointer
    // Released in `deinit`.
    unsafe g_object_ref_sink(UnsafeMutableRawPointer(pointer))
  }

  isolated deinit { unsafe g_object_unref(UnsafeMutableRawPointer(pointer)) }

  // MARK: Making

  static func box(_ orientation: GtkOrientation, spacing: Int = 0, _ children: [Widget] = []) -> Widget {
    let box = unsafe Widget(gtk_box_new(orientation, gint(spacing)))
    for child in children { box.add(child) }
    return box
  }

  static func label(_ text: String = "", _ classes: String...) -> Widget {
    let label = unsafe Widget(gtk_label_new(text))
    for name in classes { label.addClass(name) }
    return label
  }

  /// A button with an icon and a name, which screen readers speak and the pointer shows.
  static func button(icon: String, _ name: String, action: String) -> Widget {
    let button = unsafe Widget(gtk_button_new_from_icon_name(icon))
    button.name(name, action: action)
    return button
  }

  static func toggle(icon: String, _ name: String, action: String) -> Widget {
    let button = unsafe Widget(gtk_toggle_button_new())
    button.set("icon-name", icon)
    button.name(name, action: action)
    return button
  }

  static func scrolled(_ child: Widget, horizontal: GtkPolicyType = GTK_POLICY_NEVER) -> Widget {
    let scrolled = unsafe Widget(gtk_scrolled_window_new())
    unsafe gtk_scrolled_window_set_policy(cast(scrolled.pointer), horizontal, GTK_POLICY_AUTOMATIC)
    scrolled.add(child)
    return scrolled
  }

  private func name(_ name: String, action: String) {
    set("tooltip-text", name)
    set("action-name", action)
    accessibleName = name
  }

  // MARK: Changing

  /// Puts a widget into this one, after what is there.
  @discardableResult
  func add(_ child: Widget) -> Self {
    unsafe append(child.pointer, to: pointer)
    return self
  }

  func set(_ property: String, _ value: some SignalValue) { unsafe setProperty(pointer, property, value) }

  @discardableResult
  func addClass(_ name: String) -> Self {
    unsafe gtk_widget_add_css_class(pointer, name)
    return self
  }

  func removeClass(_ name: String) { unsafe gtk_widget_remove_css_class(pointer, name) }

  func setClass(_ name: String, _ isSet: Bool) {
    if isSet { addClass(name) } else { removeClass(name) }
  }

  var isShown: Bool {
    get { unsafe gtk_widget_get_visible(pointer) != 0 }
    set { unsafe gtk_widget_set_visible(pointer, newValue ? 1 : 0) }
  }

  /// The text of a label.
  var text: String {
    get { unsafe String(cString: gtk_label_get_text(cast(pointer))) }
    set { unsafe gtk_label_set_text(cast(pointer), newValue) }
  }

  /// The name that screen readers speak.
  var accessibleName: String {
    get { "" }
    set { unsafe vitrine_gtk_set_label(pointer, newValue) }
  }

  @discardableResult
  func expands(horizontally: Bool = true, vertically: Bool = true) -> Self {
    unsafe gtk_widget_set_hexpand(pointer, horizontally ? 1 : 0)
    unsafe gtk_widget_set_vexpand(pointer, vertically ? 1 : 0)
    return self
  }

  @discardableResult
  func aligned(_ horizontal: GtkAlign, _ vertical: GtkAlign = GTK_ALIGN_FILL) -> Self {
    unsafe gtk_widget_set_halign(pointer, horizontal)
    unsafe gtk_widget_set_valign(pointer, vertical)
    return self
  }

  @discardableResult
  func margins(_ points: Int) -> Self {
    for side in ["start", "end", "top", "bottom"] { set("margin-\(side)", points) }
    return self
  }

  func minimumSize(width: Int = -1, height: Int = -1) {
    unsafe gtk_widget_set_size_request(pointer, gint(width), gint(height))
  }

  @discardableResult
  func focus() -> Bool { unsafe gtk_widget_grab_focus(pointer) != 0 }

  var size: (width: Int, height: Int) {
    unsafe (Int(gtk_widget_get_width(pointer)), Int(gtk_widget_get_height(pointer)))
  }

  var scale: Int { unsafe Int(gtk_widget_get_scale_factor(pointer)) }

  // MARK: Signals

  @discardableResult
  func on<each Argument: SignalValue>(
    _ signal: String,
    _ body: @escaping @MainActor (repeat each Argument) -> Void,
  ) -> SignalConnection {
    unsafe connect(pointer, signal, body)
  }

  /// Calls a closure that answers the sender.
  @discardableResult
  func on<each Argument: SignalValue, Result: SignalValue>(
    _ signal: String,
    answering body: @escaping @MainActor (repeat each Argument) -> Result,
  ) -> SignalConnection {
    unsafe connect(pointer, signal, body)
  }

  /// Adds an event controller, which the widget owns from then on.
  func addController(_ controller: OpaquePointer?) { unsafe gtk_widget_add_controller(pointer, controller) }

  /// Calls a closure at each key; it returns `true` for keys that it has used.
  func onKey(
    _ phase: GtkPropagationPhase,
    _ body: @escaping @MainActor (_ key: UInt32, _ modifiers: GdkModifierType) -> Bool,
  ) {
    let keys = unsafe gtk_event_controller_key_new()
    unsafe gtk_event_controller_set_propagation_phase(keys, phase)
    unsafe connect(keys, "key-pressed") { (key: UInt32, _: UInt32, state: GdkModifierType) in body(key, state) }
    unsafe addController(keys)
  }
}

/// A source of GLib's main loop that calls a closure again and again, until this object is released.
@MainActor
final class Repeating {
  private var id: guint = 0
  private let body: @MainActor () -> Bool

  /// - Parameters:
  ///   - milliseconds: The time between two calls.
  ///   - body: Called until it returns `false`.
  init(every milliseconds: Int, _ body: @escaping @MainActor () -> Bool) {
    self.body = body
    id = unsafe g_timeout_add_full(
      G_PRIORITY_DEFAULT,
      guint(milliseconds),
      { object in
        guard let object = unsafe object else { return 0 }
        // Unretained: `deinit` removes the source.
        let timer = unsafe Unmanaged<Repeating>.fromOpaque(object).takeUnretainedValue()
        return MainActor.assumeIsolated {
          if timer.body() { return 1 }
          timer.id = 0
          return 0
        }
      },
      Unmanaged.passUnretained(self).toOpaque(),
      nil,
    )
  }

  isolated deinit { if id != 0 { g_source_remove(id) } }
}
