import CGTK
import CVitrineGTK
import VitrineGTK
import VitrineGalleryModel

/// Dark or light windows, as the user or the desktop wants them.
///
/// GTK knows the desktop's wish only as a setting of its own. Desktops of today tell it through their portal.
@MainActor
@safe
final class Appearance {
  /// The user's choice.
  var theme: Theme {
    didSet { apply() }
  }
  /// The desktop's wish; `nil` while it has none.
  private var desktopIsDark: Bool?
  /// The colours of GTK's own settings.
  private let isDarkByDefault: Bool
  private let settings: GTKObject?
  private var connection: OpaquePointer?
  private var subscription: guint = 0

  private static let setting = "gtk-application-prefer-dark-theme"
  private static let portal = "org.freedesktop.portal.Desktop"
  private static let path = "/org/freedesktop/portal/desktop"
  private static let interface = "org.freedesktop.portal.Settings"
  private static let group = "org.freedesktop.appearance"
  private static let key = "color-scheme"

  init(_ theme: Theme) {
    self.theme = theme
    // GTK keeps its settings, which there are on a display.
    settings = unsafe gtk_settings_get_default().map { unsafe GTKObject($0) }
    isDarkByDefault = settings?.get(Self.setting) ?? false
    apply()
    askDesktop()
  }

  isolated deinit {
    guard let connection = unsafe connection else { return }
    unsafe g_dbus_connection_signal_unsubscribe(connection, subscription)
    unsafe g_object_unref(UnsafeMutableRawPointer(connection))
  }

  private func apply() {
    let isDark =
      switch theme {
      case .system: desktopIsDark ?? isDarkByDefault
      case .light: false
      case .dark: true
      }
    settings?.set(Self.setting, isDark)
  }

  // MARK: The desktop

  /// Asks the portal, without waiting for it, and listens to it from then on; most systems without a desktop have none.
  private func askDesktop() {
    unsafe g_bus_get(
      G_BUS_TYPE_SESSION,
      nil,
      { _, result, box in
        // They stay on the main thread, which this is.
        nonisolated(unsafe) let (connection, box) = unsafe (g_bus_get_finish(result, nil), box)
        MainActor.assumeIsolated { unsafe Appearance.owner(box)?.connected(connection) }
      },
      retainedBox(),
    )
  }

  private func connected(_ connection: OpaquePointer?) {
    guard let connection = unsafe connection else { return }
    // With the reference of the caller.
    unsafe self.connection = connection
    unsafe subscription = g_dbus_connection_signal_subscribe(
      connection,
      Self.portal,
      Self.interface,
      "SettingChanged",
      Self.path,
      Self.group,
      G_DBUS_SIGNAL_FLAGS_NONE,
      { _, _, _, _, _, parameters, box in
        guard let box = unsafe box else { return }
        // Kept until the subscription ends.
        let owner = unsafe Unmanaged<Weak>.fromOpaque(box).takeUnretainedValue()
        // They stay on the main thread, which this is.
        nonisolated(unsafe) let parameters = unsafe parameters
        MainActor.assumeIsolated { unsafe owner.appearance?.changed(parameters) }
      },
      retainedBox(),
      { box in if let box = unsafe box { unsafe Unmanaged<Weak>.fromOpaque(box).release() } },
    )
    var words: [OpaquePointer?] = unsafe [g_variant_new_string(Self.group), g_variant_new_string(Self.key)]
    unsafe g_dbus_connection_call(
      connection,
      Self.portal,
      Self.path,
      Self.interface,
      "Read",
      // Takes both, which are floating; the call takes the tuple.
      g_variant_new_tuple(&words, gsize(words.count)),
      nil,
      G_DBUS_CALL_FLAGS_NONE,
      -1,
      nil,
      { connection, result, box in
        let bus = unsafe connection.map { OpaquePointer($0) }
        // They stay on the main thread, which this is.
        nonisolated(unsafe) let (answer, box) = unsafe (g_dbus_connection_call_finish(bus, result, nil), box)
        defer { if let answer = unsafe answer { unsafe g_variant_unref(answer) } }
        MainActor.assumeIsolated { unsafe Appearance.owner(box)?.read(answer) }
      },
      retainedBox(),
    )
  }

  /// Reads the answer: a value in two variants, in a tuple.
  private func read(_ answer: OpaquePointer?) {
    guard let answer = unsafe answer, let value = unsafe g_variant_get_child_value(answer, 0) else { return }
    defer { unsafe g_variant_unref(value) }
    unsafe setScheme(value)
  }

  /// Reads a change: its group, its key and the new value.
  private func changed(_ parameters: OpaquePointer?) {
    guard let parameters = unsafe parameters, unsafe g_variant_n_children(parameters) == 3,
      let key = unsafe g_variant_get_child_value(parameters, 1),
      let value = unsafe g_variant_get_child_value(parameters, 2)
    else { return }
    defer {
      unsafe g_variant_unref(key)
      unsafe g_variant_unref(value)
    }
    let text = unsafe g_variant_get_string(key, nil).map { unsafe String(cString: $0) }
    if text == Self.key { unsafe setScheme(value) }
  }

  /// Takes the scheme: 1 for dark, 2 for light, 0 for no wish.
  private func setScheme(_ value: OpaquePointer) {
    if unsafe g_variant_classify(value) == G_VARIANT_CLASS_VARIANT {
      guard let inner = unsafe g_variant_get_variant(value) else { return }
      defer { unsafe g_variant_unref(inner) }
      return unsafe setScheme(inner)
    }
    guard unsafe g_variant_classify(value) == G_VARIANT_CLASS_UINT32 else { return }
    switch unsafe g_variant_get_uint32(value) {
    case 1: desktopIsDark = true
    case 2: desktopIsDark = false
    default: desktopIsDark = nil
    }
    apply()
  }

  // MARK: Calls that end later

  /// The object, if it is still there when a call ends.
  @MainActor
  private final class Weak {
    weak var appearance: Appearance?

    init(_ appearance: Appearance) { self.appearance = appearance }
  }

  private func retainedBox() -> UnsafeMutableRawPointer { unsafe Unmanaged.passRetained(Weak(self)).toOpaque() }

  /// Returns the object of a call that has ended, and releases the call's hold on it.
  private static func owner(_ box: UnsafeMutableRawPointer?) -> Appearance? {
    // Retained for this one call.
    unsafe box.map { unsafe Unmanaged<Weak>.fromOpaque($0).takeRetainedValue() }?.appearance
  }
}
