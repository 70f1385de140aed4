public import CGTK
import CVitrineGTK
import VitrineRuntime

/// A program with windows.
///
/// ```swift
/// @main
/// @MainActor
/// enum Hello {
///   static func main() {
///     Application("org.example.Hello").run { app in
///       let window = app.window(title: "Hello", width: 640, height: 480)
///       RemotePicture().append(to: window).load("https://example.org/photo.jpg")
///     }
///   }
/// }
/// ```
/// While it runs, `Task` and `await` work on the main actor. `main` must not be `async`, since the main loop of GTK
/// would then block the main actor.
@MainActor
@safe
public final class Application {
  /// The `GtkApplication`, which this object retains.
  public let pointer: UnsafeMutablePointer<GtkApplication>
  private let arguments: [String]?
  private var status: Int32 = 0

  /// Makes an application.
  ///
  /// - Parameters:
  ///   - id: The identifier, such as `org.example.Hello`. While the program runs, a second start activates the first
  ///     one. With `nil`, the default, each start is a program of its own.
  ///   - arguments: The arguments that GTK reads, without the name of the program. Defaults to the arguments of the process.
  ///     A program that reads its arguments itself passes none.
  public init(_ id: String? = nil, arguments: [String]? = nil) {
    MainActorSource.attach()
    // So that widgets can be made before `run`. Without a display it does nothing, and `run` says so.
    gtk_init_check()
    self.arguments = arguments
    assert(id.map { unsafe g_application_id_is_valid($0) != 0 } ?? true, "\(id ?? "") is not like org.example.Hello")
    // A constructor of GObject never returns NULL. The reference is released in `deinit`.
    unsafe pointer = gtk_application_new(id, id == nil ? G_APPLICATION_NON_UNIQUE : GApplicationFlags(rawValue: 0))
  }

  /// A Boolean value that indicates whether there is a display; GTK is initialised first.
  package static var findsDisplay: Bool {
    // It tells the first caller alone.
    gtk_init_check()
    return unsafe gdk_display_get_default() != nil
  }

  isolated deinit { unsafe g_object_unref(UnsafeMutableRawPointer(pointer)) }

  /// A closure that is called with the files and URLs of the command line, instead of the closure of ``run(_:)``.
  ///
  /// It must be set before the program runs. Defaults to `nil`: the program then refuses such arguments.
  public var onOpen: (@MainActor (Application, _ files: [URL]) -> Void)?

  /// Runs the program until its last window is closed or ``quit(status:)`` is called.
  ///
  /// - Parameter activate: Called when the program has started, and when it is started again.
  /// - Returns: The exit status of the program, for `exit`.
  @discardableResult
  public func run(_ activate: @escaping @MainActor (Application) -> Void) -> Int32 {
    let application = unsafe vitrine_gtk_application(UnsafeMutableRawPointer(pointer))
    var connections = [unsafe connect(pointer, "activate") { [unowned self] in if hasDisplay() { activate(self) } }]
    if onOpen != nil {
      let flags = unsafe g_application_get_flags(application).rawValue | G_APPLICATION_HANDLES_OPEN.rawValue
      unsafe g_application_set_flags(application, GApplicationFlags(rawValue: flags))
      unsafe connections.append(
        connect(pointer, "open") { [unowned self] (files: UnsafeMutablePointer<OpaquePointer?>, count: Int) in
          // GTK passes an array of so many files.
          let urls = unsafe UnsafeBufferPointer(start: files, count: count).compactMap { unsafe Self.url(of: $0) }
          if hasDisplay() { onOpen?(self, urls) }
        }
      )
    }
    defer { for connection in connections { connection.disconnect() } }
    let result = unsafe run(application)
    return status == 0 ? result : status
  }

  /// Returns true if there is a display; otherwise ends the program, as GTK 4.8 does itself.
  private func hasDisplay() -> Bool {
    if Self.findsDisplay { return true }
    let name = unsafe g_get_prgname().map { unsafe String(cString: $0) } ?? "error"
    let line = Array("\(name): there is no display to open a window on\n".utf8)
    // As many bytes as there are.
    _ = unsafe write(2, line, line.count)
    quit(status: 1)
    return false
  }

  /// Ends the program after the current turn of the main loop; windows are not asked.
  ///
  /// - Parameter status: The exit status. Defaults to 0.
  public func quit(status: Int32 = 0) {
    self.status = status
    unsafe g_application_quit(vitrine_gtk_application(UnsafeMutableRawPointer(pointer)))
  }

  /// Makes a window, which appears in the next turn of the main loop.
  ///
  /// Widgets that the program adds until then are laid out from the start.
  ///
  /// - Parameters:
  ///   - title: The title.
  ///   - width: The width in points. Defaults to the width of the contents.
  ///   - height: The height in points. Defaults to the height of the contents.
  /// - Returns: The window, a `GtkApplicationWindow`. The application owns it until it is closed.
  @discardableResult
  public func window(title: String, width: Int? = nil, height: Int? = nil) -> Widget {
    // A constructor of GObject never returns NULL.
    let widget: UnsafeMutablePointer<GtkWidget> = unsafe gtk_application_window_new(pointer)
    unsafe gtk_window_set_title(vitrine_gtk_window(widget), title)
    unsafe gtk_window_set_default_size(vitrine_gtk_window(widget), gint(width ?? -1), gint(height ?? -1))
    // The source retains the window, and releases it after the call.
    unsafe g_idle_add_full(
      G_PRIORITY_HIGH,
      { window in
        guard let window = unsafe window else { return 0 }
        // A window that has been closed meanwhile has no application.
        if unsafe gtk_window_get_application(vitrine_gtk_window(window)) != nil {
          unsafe gtk_window_present(vitrine_gtk_window(window))
        }
        return 0
      },
      g_object_ref(UnsafeMutableRawPointer(widget)),
      { unsafe g_object_unref($0) },
    )
    return unsafe Widget(widget)
  }

  private func run(_ application: UnsafeMutablePointer<GApplication>?) -> Int32 {
    // GTK copies the arguments before it changes them.
    guard let arguments else {
      // Those of the process: their bytes, whatever their encoding.
      return unsafe g_application_run(application, CommandLine.argc, CommandLine.unsafeArgv)
    }
    var words: [UnsafeMutablePointer<CChar>?] = unsafe (CommandLine.arguments.prefix(1) + arguments).map {
      unsafe strdup($0)
    }
    defer { unsafe words.forEach { unsafe free($0) } }
    return unsafe g_application_run(application, Int32(words.count), &words)
  }

  private static func url(of file: OpaquePointer?) -> URL? {
    // The caller owns the text.
    guard let text = unsafe g_file_get_uri(file) else { return nil }
    defer { unsafe g_free(text) }
    return unsafe URL(string: String(cString: text))
  }
}
