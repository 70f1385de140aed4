public import CGTK
import CVitrineGTK

/// A widget, which this object retains.
///
/// ```swift
/// let label = Widget.label("Hello")
/// let box = Widget.box(GTK_ORIENTATION_VERTICAL, spacing: 6, [label.expands(), .button("Close")])
/// app.window(title: "Hello").add(box)
/// ```
/// Widgets without a function of their own here are made by their class, `Widget(of: gtk_calendar_get_type())`, and changed
/// by their properties, as each ``GTKObject`` is.
@MainActor
@safe
public final class Widget: GTKObject {
  /// The widget.
  ///
  /// - Important: It is valid as long as this object.
  public var pointer: UnsafeMutablePointer<GtkWidget> { unsafe cast(object) }

  /// Retains a widget, and takes over the first reference of a new one.
  public init(_ pointer: UnsafeMutablePointer<GtkWidget>) { unsafe super.init(pointer) }

  private init(borrowing pointer: UnsafeMutablePointer<GtkWidget>) { unsafe super.init(borrowing: pointer) }

  /// Makes a widget of a class, by the class's own `…_get_type()`.
  ///
  /// The program stops if that is no class of widgets of which there can be one.
  public convenience init(of type: GType) {
    precondition(g_type_is_a(type, gtk_widget_get_type()) != 0, "the type is no class of widgets")
    // GObject ends the program if the class is abstract.
    unsafe self.init(cast(g_object_new_with_properties(type, 0, nil, nil)))
  }

  // MARK: Making

  /// Makes a box of widgets beside or below each other, `spacing` points apart (0 by default).
  public static func box(_ orientation: GtkOrientation, spacing: Int = 0, _ children: [Widget] = []) -> Widget {
    let box = unsafe Widget(gtk_box_new(orientation, gint(clamping: spacing)))
    for child in children { box.add(child) }
    return box
  }

  /// Makes a label with classes of the style sheet.
  public static func label(_ text: String = "", _ classes: String...) -> Widget {
    let label = unsafe Widget(gtk_label_new(text))
    for name in classes { label.addClass(name) }
    return label
  }

  /// Makes a button with a text.
  public static func button(_ text: String) -> Widget { unsafe Widget(gtk_button_new_with_label(text)) }

  /// Makes a button with an icon of the theme.
  ///
  /// - Parameters:
  ///   - icon: The name of the icon.
  ///   - name: The name, which screen readers speak and the pointer shows.
  ///   - action: The action, such as `win.open`.
  ///   - isToggle: A Boolean value that indicates whether the button shows the state of the action. Defaults to `false`.
  /// - Returns: The button.
  public static func button(icon: String, _ name: String, action: String, isToggle: Bool = false) -> Widget {
    let button = Widget(of: isToggle ? gtk_toggle_button_get_type() : gtk_button_get_type())
    button.set("icon-name", icon)
    button.set("tooltip-text", name)
    button.set("action-name", action)
    button.setAccessibleName(name)
    return button
  }

  /// Makes a list of texts, one of which is chosen, by its property `selected`: at first the first one.
  public static func choice(of texts: [String]) -> Widget {
    // GTK copies the texts.
    let copies = unsafe texts.map { unsafe g_strdup($0) }
    defer { unsafe copies.forEach { unsafe g_free($0) } }
    var list = unsafe copies.map { unsafe UnsafePointer($0) } + [nil]
    return unsafe Widget(gtk_drop_down_new_from_strings(&list))
  }

  /// Makes a view that scrolls a widget up and down, and sideways by a policy (never by default).
  public static func scrolled(_ child: Widget, horizontal: GtkPolicyType = GTK_POLICY_NEVER) -> Widget {
    let scrolled = Widget(of: gtk_scrolled_window_get_type())
    scrolled.set("hscrollbar-policy", horizontal)
    return scrolled.add(child)
  }

  // MARK: Children

  /// Puts a widget into this one, after what is there; see ``append(_:to:)`` for the containers that there are.
  @discardableResult
  public func add(_ child: Widget) -> Self {
    unsafe append(child.pointer, to: pointer)
    return self
  }

  /// Puts a widget at the end of a header bar, before what is there; does nothing in another container.
  public func addAtEnd(_ child: Widget) {
    let bar: OpaquePointer? = unsafe cast(pointer, as: gtk_header_bar_get_type())
    if let bar = unsafe bar { unsafe gtk_header_bar_pack_end(bar, child.pointer) }
  }

  /// Removes all widgets of a box; does nothing with another container.
  public func removeChildren() {
    let box: UnsafeMutablePointer<GtkBox>? = unsafe cast(pointer, as: gtk_box_get_type())
    guard let box = unsafe box else { return }
    while let child = unsafe gtk_widget_get_first_child(pointer) { unsafe gtk_box_remove(box, child) }
  }

  /// The widget that this one lies in; `nil` for a window, and before the widget is added.
  public var parent: Widget? { unsafe gtk_widget_get_parent(pointer).map { unsafe Widget(borrowing: $0) } }

  // MARK: Appearance

  /// Adds a class of the style sheet.
  @discardableResult
  public func addClass(_ name: String) -> Self {
    unsafe gtk_widget_add_css_class(pointer, name)
    return self
  }

  /// Removes a class of the style sheet.
  public func removeClass(_ name: String) { unsafe gtk_widget_remove_css_class(pointer, name) }

  /// Adds or removes a class of the style sheet.
  public func setClass(_ name: String, _ isSet: Bool) {
    if isSet { addClass(name) } else { removeClass(name) }
  }

  /// Returns `true` if the widget has a class of the style sheet.
  public func hasClass(_ name: String) -> Bool { unsafe gtk_widget_has_css_class(pointer, name) != 0 }

  /// A Boolean value that indicates whether the widget is shown where its parent is.
  ///
  /// Defaults to `true`.
  public var isShown: Bool {
    get { unsafe gtk_widget_get_visible(pointer) != 0 }
    set { unsafe gtk_widget_set_visible(pointer, newValue ? 1 : 0) }
  }

  /// A Boolean value that indicates whether the widget and all around it are shown.
  public var isMapped: Bool { unsafe gtk_widget_get_mapped(pointer) != 0 }

  /// The text of a label; empty for other widgets.
  public var text: String {
    get { unsafe label.map { unsafe String(cString: gtk_label_get_text($0)) } ?? "" }
    set { if let label = unsafe label { unsafe gtk_label_set_text(label, newValue) } }
  }

  private var label: OpaquePointer? { unsafe cast(pointer, as: gtk_label_get_type()) }

  /// Sets the name that screen readers speak.
  public func setAccessibleName(_ name: String) { unsafe vitrine_gtk_set_label(pointer, name) }

  // MARK: Layout

  /// Has the widget take the room that is left.
  @discardableResult
  public func expands(horizontally: Bool = true, vertically: Bool = true) -> Self {
    unsafe gtk_widget_set_hexpand(pointer, horizontally ? 1 : 0)
    unsafe gtk_widget_set_vexpand(pointer, vertically ? 1 : 0)
    return self
  }

  /// Places the widget in its room.
  @discardableResult
  public func aligned(_ horizontal: GtkAlign, _ vertical: GtkAlign = GTK_ALIGN_FILL) -> Self {
    unsafe gtk_widget_set_halign(pointer, horizontal)
    unsafe gtk_widget_set_valign(pointer, vertical)
    return self
  }

  /// Keeps some points free on each side.
  @discardableResult
  public func margins(_ points: Int) -> Self {
    for side in ["start", "end", "top", "bottom"] { set("margin-\(side)", points) }
    return self
  }

  /// Sets the least size in points; −1, the default, stands for the size of the content.
  @discardableResult
  public func minimumSize(width: Int = -1, height: Int = -1) -> Self {
    unsafe gtk_widget_set_size_request(pointer, gint(clamping: width), gint(clamping: height))
    return self
  }

  /// The size in points; 0 before the widget is laid out.
  public var size: (width: Int, height: Int) {
    unsafe (Int(gtk_widget_get_width(pointer)), Int(gtk_widget_get_height(pointer)))
  }

  /// The least width in points that the widget and its children ask for.
  package var minimumWidth: Int {
    var minimum: gint = 0
    unsafe gtk_widget_measure(pointer, GTK_ORIENTATION_HORIZONTAL, -1, &minimum, nil, nil, nil)
    return Int(minimum)
  }

  /// The number of device pixels in a point.
  public var scale: Int { unsafe Int(gtk_widget_get_scale_factor(pointer)) }

  /// Scrolls a list or grid to the item at a position.
  public func scroll(toItem position: Int) {
    // The action takes the floating variant, and does nothing without such an item.
    unsafe gtk_widget_activate_action_variant(
      pointer,
      "list.scroll-to-item",
      g_variant_new_uint32(guint32(clamping: position)),
    )
  }

  // MARK: Windows

  /// Shows a window before all others; does nothing with another widget.
  public func present() { if let window = unsafe window { unsafe gtk_window_present(window) } }

  /// Closes a window, unless its signal `close-request` refuses; does nothing with another widget.
  public func close() { if let window = unsafe window { unsafe gtk_window_close(window) } }

  private var window: UnsafeMutablePointer<GtkWindow>? { unsafe cast(pointer, as: gtk_window_get_type()) }
}
