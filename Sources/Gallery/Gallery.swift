import CGTK
import CVitrineGTK
import Vitrine
import VitrineGTK
import VitrineRuntime

/// The gallery: a window with a grid of pictures.
@main
@MainActor
enum Gallery {
  private static var options: Options?
  private static var pictures: Pictures?
  private static var window: Window?
  private static var style: (any CellStyle)?
  /// The cache to close before the program ends.
  private static var disk: DiskCache?
  private static var status: Int32 = 0

  static func main() {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.contains("--help") || arguments.contains("-h") {
      print(Options.usage)
      return
    }
    do throws(Options.Mistake) {
      let options = try Options(arguments)
      try Headless.enterIfNeeded(options, arguments)
      Self.options = options
      pictures = try Pictures(options)
    } catch {
      fail(error.message, status: 64)
    }
    MainActorSource.attach()
    // No identifier: each gallery is a process of its own.
    let application = unsafe gtk_application_new(nil, G_APPLICATION_NON_UNIQUE)
    guard let application = unsafe application else { fail("GTK could not be started", status: 1) }
    unsafe Signals.connect(UnsafeMutableRawPointer(application), "activate") { unsafe activate(application) }
    // The arguments are ours, not GTK's.
    let result = unsafe g_application_run(vitrine_gtk_application(application), 0, nil)
    closeDisk()
    exit(status == 0 ? result : status)
  }

  private static func activate(_ application: UnsafeMutablePointer<GtkApplication>) {
    guard let options, let pictures else { return }
    let window = unsafe Window(application)
    Self.window = window
    guard Headless.isEntered else {
      do throws(Options.Mistake) {
        let caches = try makeCaches(options.styles[0], options)
        disk = caches.disk
        let style = makeStyle(options.styles[0], options, pictures, caches.pipeline)
        Self.style = style
        window.show(style, count: pictures.all.count)
      } catch {
        fail(error.message, status: 1)
      }
      return
    }
    Task {
      do throws(Options.Mistake) {
        try await tour(options, pictures, window)
      } catch {
        fail(error.message, status: 1)
      }
      unsafe g_application_quit(vitrine_gtk_application(application))
    }
  }

  /// Runs the main loop until the disk cache has been written.
  private static func closeDisk() {
    guard let disk else { return }
    var isClosed = false
    Task {
      await disk.close()
      isClosed = true
    }
    while !isClosed { g_main_context_iteration(nil, 1) }
  }

  /// Shows each style in turn, and reports the results.
  private static func tour(
    _ options: Options,
    _ pictures: Pictures,
    _ window: Window,
  ) async throws(Options.Mistake) {
    var report = Report()
    var meter: FrameMeter?
    for name in options.styles {
      let requestsBefore = pictures.requestCount
      let caches = try makeCaches(name, options)
      let style = makeStyle(name, options, pictures, caches.pipeline)
      let audit = Audit(pictures, window: window, style: style)
      window.show(style, count: pictures.all.count)
      let frames = unsafe meter ?? FrameMeter(window: window.widget)
      meter = frames
      frames.onFrame = { audit.lookAtFrame() }
      frames.begin()
      await Tour(window, audit: audit).run()
      frames.end()
      frames.onFrame = {}
      await audit.lookAtRest()
      if name == options.styles[0], !window.writeScreenshot(to: options.output) {
        throw Options.Mistake(message: "could not write \(options.output)")
      }
      report.columns.append(
        Report.Column(
          title: name.rawValue,
          counts: style.counts,
          findings: audit.findings,
          frames: frames.figures,
          requests: pictures.requestCount.map { $0 - (requestsBefore ?? 0) },
        )
      )
      window.clear()
      if options.fillsCache { await fill(pictures, caches.pipeline) }
      await caches.disk.close()
    }
    print(report.text)
    print("\n\(options.output): \(pictures.all.count) pictures in the list")
    if !report.isGood { status = 1 }
  }

  /// Downloads what is not on disk, six at a time, the pipeline's own limit.
  private static func fill(_ pictures: Pictures, _ pipeline: ImagePipeline) async {
    pictures.isSlow.withLock { $0 = false }
    await withTaskGroup { group in
      for picture in pictures.all {
        if picture.byteCount == nil { continue }
        group.addTask { _ = try? await pipeline.data(for: picture.request) }
      }
    }
    pictures.isSlow.withLock { $0 = true }
  }

  private static func makeCaches(
    _ style: Options.Style,
    _ options: Options,
  ) throws(Options.Mistake) -> (pipeline: ImagePipeline, disk: DiskCache) {
    let folder = options.cacheFolder.map { URL(filePath: $0) } ?? defaultCacheFolder
    let disk: DiskCache
    do {
      // One for each style, so that neither finds what the other has left.
      disk = try DiskCache(directory: folder.appending(path: style.rawValue), sizeLimit: 1 << 30)
    } catch {
      throw Options.Mistake(message: "\(error)")
    }
    let pipeline = ImagePipeline {
      $0.memoryCache = MemoryCache(costLimit: 128 << 20)
      $0.diskCache = disk
    }
    return (pipeline, disk)
  }

  private static func makeStyle(
    _ style: Options.Style,
    _ options: Options,
    _ pictures: Pictures,
    _ pipeline: ImagePipeline,
  ) -> any CellStyle {
    switch style {
    case .vitrine: VitrineCells(pictures, pipeline: pipeline, size: options.size)
    case .naive: NaiveCells(pictures, pipeline: pipeline, size: options.size)
    }
  }

  private static var defaultCacheFolder: URL {
    let environment = ProcessInfo.processInfo.environment
    let base =
      environment["XDG_CACHE_HOME"].map { URL(filePath: $0) }
      ?? URL(filePath: environment["HOME"] ?? "/tmp").appending(path: ".cache")
    return base.appending(path: "vitrine-gallery")
  }

  private static func fail(_ message: String, status: Int32) -> Never {
    let line = Array("vitrine-gallery: \(message)\n".utf8)
    // As many bytes as there are.
    _ = unsafe write(2, line, line.count)
    exit(status)
  }
}
