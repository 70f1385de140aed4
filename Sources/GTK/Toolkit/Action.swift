import CGTK

/// An action of a window, which its menus and buttons name `win.NAME`.
///
/// ```swift
/// let mute = Action("mute", isOn: false) { [weak player] in player?.mute() }
/// mute.add(to: window)
/// ```
@MainActor
@safe
public final class Action: GTKObject {
  /// Makes an action.
  ///
  /// - Parameters:
  ///   - name: The name: letters, digits, hyphens and full stops.
  ///   - isOn: The state of an action that is on or off. Defaults to `nil`: the action has no state.
  ///   - body: Called when the action is activated. It sets the state itself.
  public init(_ name: String, isOn: Bool? = nil, _ body: @escaping @MainActor () -> Void) {
    // Constructors of GObject never return NULL. The action takes the floating variant.
    let action: OpaquePointer =
      if let isOn {
        unsafe g_simple_action_new_stateful(name, nil, g_variant_new_boolean(isOn ? 1 : 0))
      } else {
        unsafe g_simple_action_new(name, nil)
      }
    unsafe super.init(action, isOwned: true)
    on("activate", body)
  }

  /// Makes an action that chooses one of several texts.
  ///
  /// - Parameters:
  ///   - name: The name: letters, digits, hyphens and full stops.
  ///   - choice: The text that is chosen at first.
  ///   - body: Called when a text is chosen; a menu's action is `win.NAME::TEXT`.
  public init(_ name: String, choice: String, _ body: @escaping @MainActor (String) -> Void) {
    let type = unsafe g_variant_type_new("s")
    defer { unsafe g_variant_type_free(type) }
    // As above.
    let action: OpaquePointer = unsafe g_simple_action_new_stateful(name, type, g_variant_new_string(choice))
    unsafe super.init(action, isOwned: true)
    unsafe connect(action, "activate") { (parameter: OpaquePointer?) in
      // GIO checks that the parameter is a text. The action is alive while it emits, and takes the floating variant.
      guard let text = unsafe parameter.map({ unsafe String(cString: g_variant_get_string($0, nil)) }) else { return }
      unsafe g_simple_action_set_state(action, g_variant_new_string(text))
      body(text)
    }
  }

  /// Adds the action to a window of an ``Application``; does nothing with another widget.
  public func add(to window: Widget) {
    let map: OpaquePointer? = unsafe cast(window.pointer, as: g_action_map_get_type())
    if let map = unsafe map { unsafe g_action_map_add_action(map, OpaquePointer(object)) }
  }

  /// The state of an action that is on or off; setting it does nothing with another action.
  public var isOn: Bool {
    get {
      guard let state = unsafe g_action_get_state(OpaquePointer(object)) else { return false }
      defer { unsafe g_variant_unref(state) }
      return unsafe g_variant_classify(state) == G_VARIANT_CLASS_BOOLEAN && g_variant_get_boolean(state) != 0
    }
    set {
      // The action takes the floating variant, and refuses one of another type.
      unsafe g_simple_action_set_state(OpaquePointer(object), g_variant_new_boolean(newValue ? 1 : 0))
    }
  }
}

/// A menu, the value of the property `menu-model` of a `GtkMenuButton`.
///
/// ```swift
/// let menu = Menu()
/// menu.add("Open", action: "win.open", key: "<Control>o")
/// button.set("menu-model", menu)
/// ```
@MainActor
@safe
public final class Menu: GTKObject {
  /// Makes an empty menu.
  public init() { unsafe super.init(g_menu_new(), isOwned: true) }

  /// Adds an item.
  ///
  /// - Parameters:
  ///   - title: The title.
  ///   - action: The action.
  ///   - key: The key that is shown beside the title. Defaults to none.
  public func add(_ title: String, action: String, key: String? = nil) {
    let item = unsafe g_menu_item_new(title, action)
    defer { unsafe g_object_unref(UnsafeMutableRawPointer(item)) }
    // The item takes the floating variant.
    if let key { unsafe g_menu_item_set_attribute_value(item, "accel", g_variant_new_string(key)) }
    unsafe g_menu_append_item(OpaquePointer(object), item)
  }

  /// Adds a section, which a line divides from the others.
  public func add(section: Menu) { unsafe g_menu_append_section(OpaquePointer(object), nil, cast(section.object)) }

  /// Adds a menu that opens beside this one.
  public func add(_ title: String, submenu: Menu) {
    unsafe g_menu_append_submenu(OpaquePointer(object), title, cast(submenu.object))
  }
}
