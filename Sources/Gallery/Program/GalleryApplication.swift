import CGTK
import CVitrineGTK
import Vitrine
import VitrineCaching
import VitrineGTK
import VitrineGalleryModel
import VitrineImaging
import VitrineRuntime

/// The gallery as an application of the desktop: one program, with a window for whatever is opened with it.
@MainActor
final class GalleryApplication {
  private let options: GalleryOptions
  private let application: Application
  private let state: WindowState
  /// The library of the first window, which is listed before there is one.
  private var prepared: Library?
  private var parts: GalleryPipeline?
  private var windows: [GalleryWindow] = []

  init(_ options: GalleryOptions) {
    self.options = options
    state = WindowState(path: Self.statePath)
    let library = Library(order: state.order)
    library.isRecursive = state.isRecursive
    prepared = library
    // A large folder is listed while GTK starts on another core.
    if let paths = GallerySources.paths(options.sources, in: Self.workingFolder), !paths.isEmpty {
      library.prepare(paths)
    }
    Translation.begin()
    if !Application.findsDisplay { Gallery.fail("there is no display to open a window on", status: 1) }
    // A program without a bus, or that is to be alone, answers no other one.
    application = Application(
      options.isAlone ? nil : Desktop.applicationID,
      arguments: options.sources.map(Self.argument),
    )
  }

  /// Runs until the window is closed; returns the exit status.
  func run() -> Int32 {
    unsafe g_set_application_name(translated("Gallery"))
    unsafe gtk_window_set_default_icon_name(Desktop.applicationID)
    unsafe g_set_prgname(Desktop.applicationID)
    application.onOpen = { [weak self] _, files in self?.open(files.map(Self.place)) }
    endWithSignals()
    let status = application.run { [weak self] _ in self?.open([]) }
    windows = []
    closeDisk()
    return status
  }

  /// Closes the window, which writes the settings, when the session ends or the program is told to.
  private func endWithSignals() {
    for signal in [SIGTERM, SIGINT, SIGHUP] {
      // The application lives as long as the program runs.
      unsafe g_unix_signal_add(
        signal,
        { box in
          guard let box = unsafe box else { return 0 }
          let application = unsafe Unmanaged<GalleryApplication>.fromOpaque(box).takeUnretainedValue()
          MainActor.assumeIsolated {
            for window in application.windows { window.window.close() }
            application.application.quit()
          }
          return 1
        },
        Unmanaged.passUnretained(self).toOpaque(),
      )
    }
  }

  private func open(_ places: [String]) {
    // A start without anything to open shows what there is.
    let window = places.isEmpty ? windows.last ?? makeWindow() : windows.first { $0.library.isUnused } ?? makeWindow()
    if !places.isEmpty { window.library.open(places) }
    window.window.present()
  }

  private func makeWindow() -> GalleryWindow {
    let parts =
      parts
      ?? GalleryPipeline(cacheFolder: options.cacheFolder.map { URL(filePath: $0) } ?? GalleryPipeline.defaultFolder)
    self.parts = parts
    // A later window has the settings that were written last.
    let state = windows.isEmpty ? state : WindowState(path: Self.statePath)
    let library = prepared.take() ?? Library(order: state.order)
    library.dateReader = { Self.date(of: $0) }
    let window = GalleryWindow(
      application,
      parts,
      library,
      state,
      statePath: Self.statePath,
      isForDevelopers: options.isForDevelopers,
    )
    windows.append(window)
    window.onClose = { [weak self, weak window] in
      // After the signal, whose handler is the window's.
      Task { self?.windows.removeAll { $0 === window } }
    }
    if options.printsTimes {
      window.onFirstScreen = {
        // A reader waits for it; print(_:) would keep it.
        let line = Array("first screen: \(Self.age) ms\n".utf8)
        _ = unsafe write(1, line, line.count)
      }
    }
    return window
  }

  /// Returns the time at which a photograph was taken, in nanoseconds since 1970 of the camera's clock; blocks.
  private nonisolated static func date(of item: GalleryItem) -> Int64? {
    func date(in data: Data?) -> Date? {
      data.flatMap { try? GalleryPipeline.decoders.metadata(of: $0) }?.fields.original?.date(secondsFromUTC: 0)
    }
    guard let path = item.path, let head = FolderListing.head(of: path, count: 256 << 10) else { return nil }
    var found = date(in: head)
    // Cameras write it first into a JPEG. In other formats it may be anywhere.
    if found == nil, head.count < item.byteCount ?? 0, ImageFormat.sniff(head) != .jpeg {
      found = date(in: try? FileContents.at(ByteString(fileText: path)))
    }
    return found.map { Int64($0.timeIntervalSince1970 * 1e9) }
  }

  /// The path of a file URL, and any other URL as it is.
  private static func place(_ url: URL) -> String {
    PastedText.places(in: url.absoluteString).first?.text ?? url.absoluteString
  }

  /// Returns an argument as GTK takes it: a path with bytes that are no text as its URI.
  private static func argument(_ source: String) -> String {
    guard source.hasPrivateBytes else { return source }
    return (source.hasPrefix("/") ? source : workingFolder + "/" + source).fileURI
  }

  private static var workingFolder: String {
    // The caller owns the text.
    let folder = unsafe g_get_current_dir()
    defer { unsafe g_free(folder) }
    return unsafe folder.map { unsafe ByteString(cString: $0).fileText } ?? "/"
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
