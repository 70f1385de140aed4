import CGTK
import CVitrineGTK
import Vitrine
import VitrineCaching
import VitrineGTK
import VitrineGalleryModel
import VitrineRuntime

/// The gallery as an application of the desktop: one program with one window, whatever is opened with it.
@MainActor
final class GalleryApplication {
  static let id = "io.github.vitrine.Gallery"

  private let options: GalleryOptions
  private let application: Application
  private let library: Library
  private let state: WindowState
  private var parts: GalleryPipeline?
  private var window: GalleryWindow?

  init(_ options: GalleryOptions) {
    self.options = options
    state = WindowState(path: Self.statePath)
    library = Library(order: state.order)
    // A large folder is listed while GTK starts on another core.
    if let paths = GallerySources.paths(options.sources, in: Self.workingFolder), !paths.isEmpty {
      library.prepare(paths)
    }
    Translation.begin()
    if gtk_init_check() == 0 { Gallery.fail("there is no display to open a window on", status: 1) }
    // A program without a bus, or that is to be alone, answers no other one.
    application = Application(options.isAlone ? nil : Self.id, arguments: options.sources)
  }

  /// Runs until the window is closed; returns the exit status.
  func run() -> Int32 {
    unsafe g_set_application_name(translated("Gallery"))
    unsafe gtk_window_set_default_icon_name(Self.id)
    unsafe g_set_prgname(Self.id)
    application.onOpen = { [weak self] _, files in self?.open(files.map(Self.place)) }
    let status = application.run { [weak self] _ in self?.open([]) }
    window = nil
    closeDisk()
    return status
  }

  private func open(_ places: [String]) {
    let window = window ?? makeWindow()
    self.window = window
    if !places.isEmpty { window.library.open(places) }
    window.window.present()
  }

  private func makeWindow() -> GalleryWindow {
    let parts = GalleryPipeline(
      cacheFolder: options.cacheFolder.map { URL(filePath: $0) } ?? GalleryPipeline.defaultFolder
    )
    self.parts = parts
    let window = GalleryWindow(application, parts, library, state, statePath: Self.statePath)
    if options.printsTimes {
      window.onFirstScreen = {
        // A reader waits for it; print(_:) would keep it.
        let line = Array("first screen: \(Self.age) ms\n".utf8)
        _ = unsafe write(1, line, line.count)
      }
    }
    return window
  }

  /// The path of a file URL, and any other URL as it is.
  private static func place(_ url: URL) -> String {
    url.isFileURL ? url.path(percentEncoded: false) : url.absoluteString
  }

  private static var workingFolder: String {
    // The caller owns the text.
    let folder = unsafe g_get_current_dir()
    defer { unsafe g_free(folder) }
    return unsafe folder.map { unsafe String(cString: $0) } ?? "/"
  }

  private static var statePath: String {
    // GLib keeps the text.
    let folder = unsafe g_get_user_state_dir().map { unsafe String(cString: $0) } ?? "/tmp"
    return "\(folder)/vitrine-gallery/window.json"
  }

  /// The time since the process was started, in milliseconds.
  private static var age: Int {
    // After the name in parentheses, the 20th field is the start, in ticks since the machine's.
    let text = (try? FileContents.at("/proc/self/stat")).map { String(decoding: $0, as: UTF8.self) } ?? ""
    let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
    var now = timespec()
    // It outlives the call.
    unsafe clock_gettime(CLOCK_BOOTTIME, &now)
    let start = fields.count > 19 ? (Int(fields[19]) ?? 0) * 1000 / sysconf(Int32(_SC_CLK_TCK)) : 0
    return now.tv_sec * 1000 + now.tv_nsec / 1_000_000 - start
  }

  /// Runs the main loop until the disk cache has been written.
  private func closeDisk() {
    guard let disk = parts?.disk else { return }
    var isClosed = false
    Task {
      await disk.close()
      isClosed = true
    }
    while !isClosed { g_main_context_iteration(nil, 1) }
  }
}
