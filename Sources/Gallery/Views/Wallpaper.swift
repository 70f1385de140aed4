import CGTK
import CVitrineGTK
import VitrineGTK
import VitrineRuntime

/// Sets the background of the desktop, by the portal of freedesktop.org, which asks the user.
@MainActor
enum Wallpaper {
  /// The end of a request.
  enum Outcome: Sendable {
    /// The portal has taken the picture, and shows it or asks about it.
    case asked
    /// The desktop has no such service.
    case unavailable
    case failed(String)
  }

  private final class Answer {
    let told: @MainActor (Outcome) -> Void

    init(_ told: @escaping @MainActor (Outcome) -> Void) { self.told = told }
  }

  /// The time for which the portal may take to answer, in milliseconds.
  private static let patience: gint = 30_000

  /// Writes the picture where the desktop finds it also later, and opens the file; blocks.
  nonisolated static func write(_ data: Data) throws(FileError) -> Int32 {
    // GLib keeps the text. Some desktops go on reading the file.
    let folder = unsafe g_get_user_data_dir().map { unsafe String(cString: $0) } ?? "/tmp"
    let path = ByteString("\(folder)/vitrine-gallery/background.jpg")
    try AtomicFile.makeParents(of: path)
    try AtomicFile.replace(path, with: data)
    let file = unsafe path.withCString { unsafe open($0, O_RDONLY | O_CLOEXEC) }
    guard file >= 0 else { throw FileError(code: errno) }
    return file
  }

  /// Gives a picture to the portal.
  ///
  /// - Parameters:
  ///   - file: A file that is open for reading, which the call closes.
  ///   - told: Called with the outcome.
  static func set(_ file: Int32, _ told: @escaping @MainActor (Outcome) -> Void) {
    defer { close(file) }
    var error: UnsafeMutablePointer<GError>?
    guard let bus = unsafe g_bus_get_sync(G_BUS_TYPE_SESSION, nil, &error) else {
      unsafe g_clear_error(&error)
      return told(.unavailable)
    }
    defer { unsafe g_object_unref(UnsafeMutableRawPointer(bus)) }
    let files = unsafe g_unix_fd_list_new()
    defer { unsafe g_object_unref(UnsafeMutableRawPointer(files)) }
    // The list has a copy of the descriptor.
    guard unsafe g_unix_fd_list_append(files, file, nil) == 0 else {
      return told(.failed(FileError(code: errno).description))
    }
    unsafe g_dbus_connection_call_with_unix_fd_list(
      bus,
      "org.freedesktop.portal.Desktop",
      "/org/freedesktop/portal/desktop",
      "org.freedesktop.portal.Wallpaper",
      "SetWallpaperFile",
      arguments(),
      nil,
      G_DBUS_CALL_FLAGS_NONE,
      patience,
      files,
      nil,
      { bus, result, answer in
        guard let answer = unsafe answer else { return }
        // Retained for this one call.
        let body = unsafe Unmanaged<Answer>.fromOpaque(answer).takeRetainedValue()
        var error: UnsafeMutablePointer<GError>?
        let reply = unsafe g_dbus_connection_call_with_unix_fd_list_finish(OpaquePointer(bus), nil, result, &error)
        if let reply = unsafe reply { unsafe g_variant_unref(reply) }
        let outcome = unsafe Wallpaper.outcome(error)
        unsafe g_clear_error(&error)
        MainActor.assumeIsolated { body.told(outcome) }
      },
      Unmanaged.passRetained(Answer(told)).toOpaque(),
    )
  }

  private nonisolated static func outcome(_ error: UnsafeMutablePointer<GError>?) -> Outcome {
    guard let error = unsafe error else { return .asked }
    let name = unsafe g_dbus_error_get_remote_error(error).map { name in
      defer { unsafe g_free(name) }
      return unsafe String(cString: name)
    }
    let missing = ["ServiceUnknown", "UnknownMethod", "UnknownInterface", "UnknownObject", "NameHasNoOwner"]
    if let name, missing.contains(where: { name == "org.freedesktop.DBus.Error.\($0)" }) { return .unavailable }
    unsafe g_dbus_error_strip_remote_error(error)
    return unsafe .failed(String(cString: error.pointee.message))
  }

  /// The window above, by no name, the first file of the list, and the wish to ask the user.
  private static func arguments() -> OpaquePointer? {
    // Each variant takes the floating ones that it is made of.
    var entries = unsafe [
      g_variant_new_dict_entry(
        g_variant_new_string("show-preview"),
        g_variant_new_variant(g_variant_new_boolean(1)),
      ),
      g_variant_new_dict_entry(
        g_variant_new_string("set-on"),
        g_variant_new_variant(g_variant_new_string("background")),
      ),
    ]
    let dictionary = unsafe g_variant_new_array(nil, &entries, gsize(entries.count))
    var parts = unsafe [g_variant_new_string(""), g_variant_new_handle(0), dictionary]
    return unsafe g_variant_new_tuple(&parts, gsize(parts.count))
  }
}
