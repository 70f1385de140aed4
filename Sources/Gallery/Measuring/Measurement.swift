import CGTK
import Vitrine
import VitrineGTK
import VitrineRuntime

/// Windows whose cells are measured: `make demo` without a display, and the benchmarks of animations.
@MainActor
enum Measurement {
  private static var options: Options?
  private static var pictures: Pictures?
  private static var animations: AnimationFiles?
  private static var window: Window?
  private static var style: (any CellStyle)?
  /// The cache to close before the program ends.
  private static var disk: DiskCache?

  /// Runs the program, and ends the process.
  static func run(_ options: Options, _ arguments: [String]) -> Never {
    do throws(Options.Mistake) {
      try Headless.enterIfNeeded(options, arguments)
      Self.options = options
      if options.measuresAnimations {
        animations = try AnimationFiles(options.sources)
      } else if !options.measuresPanning {
        pictures = try Pictures(options)
      }
    } catch {
      Gallery.fail(error.message, status: 64)
    }
    // No identifier: each measurement is a process of its own. The arguments are ours, not GTK's.
    let status = Application(arguments: []).run { activate($0) }
    closeDisk()
    exit(status)
  }

  private static func activate(_ application: Application) {
    guard let options else { return }
    let window = Window(application)
    Self.window = window
    if let animations {
      let run = AnimationRun(animations, count: options.count ?? 50, window)
      Task { application.quit(status: await run.run(screenshot: options.output) ? 0 : 1) }
      return
    }
    if options.measuresPanning {
      do throws(Options.Mistake) {
        let disk = try makeCaches(.vitrine, options).disk
        Self.disk = disk
        let run = PanRun(options, window, disk: disk)
        Task { application.quit(status: await run.run() ? 0 : 1) }
      } catch {
        Gallery.fail(error.message, status: 1)
      }
      return
    }
    guard let pictures else { return }
    guard Headless.isEntered else {
      do throws(Options.Mistake) {
        let caches = try makeCaches(options.styles[0], options)
        disk = caches.disk
        let style = makeStyle(options.styles[0], options, pictures, caches.pipeline)
        Self.style = style
        window.show(style, count: pictures.all.count)
      } catch {
        Gallery.fail(error.message, status: 1)
      }
      return
    }
    Task {
      do throws(Options.Mistake) {
        application.quit(status: try await tour(options, pictures, window) ? 0 : 1)
      } catch {
        Gallery.fail(error.message, status: 1)
      }
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

  /// Shows each style in turn, and reports the results; returns `true` if they are good.
  private static func tour(
    _ options: Options,
    _ pictures: Pictures,
    _ window: Window,
  ) async throws(Options.Mistake) -> Bool {
    var report = Report()
    var meter: FrameMeter?
    for name in options.styles {
      let requestsBefore = try pictures.server?.requestCount()
      let caches = try makeCaches(name, options)
      let style = makeStyle(name, options, pictures, caches.pipeline)
      if name == .memory { await remember(pictures, caches.pipeline, options, window) }
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
      let requests = try pictures.server?.requestCount()
      report.columns.append(
        Report.Column(
          title: name.rawValue,
          counts: style.counts,
          findings: audit.findings,
          frames: frames.figures,
          requests: requests.map { $0 - (requestsBefore ?? 0) },
        )
      )
      window.clear()
      if options.fillsCache { try await fill(pictures, caches.pipeline) }
      await caches.disk.close()
    }
    print(report.text)
    print("\n\(options.output): \(pictures.all.count) pictures in the list")
    return report.isGood
  }

  /// Downloads what is not on disk, six at a time, the pipeline's own limit.
  private static func fill(_ pictures: Pictures, _ pipeline: ImagePipeline) async throws(Options.Mistake) {
    try pictures.server?.delay(false)
    await withTaskGroup { group in
      for picture in pictures.all {
        if picture.byteCount == nil { continue }
        group.addTask { _ = try? await pipeline.data(for: picture.request) }
      }
    }
    try pictures.server?.delay(true)
  }

  /// Loads everything into memory.
  private static func remember(
    _ pictures: Pictures,
    _ pipeline: ImagePipeline,
    _ options: Options,
    _ window: Window,
  ) async {
    let pixels = unsafe options.size * Int(gtk_widget_get_scale_factor(window.widget))
    let requests = pictures.all.map { picture in
      var request = picture.request(pixels: pixels)
      // As the widgets ask for it.
      request.animates = true
      return request
    }
    _ = await ImagePrefetcher(pipeline, maxConcurrentLoads: 16).load(requests)
  }

  private static func makeCaches(
    _ style: Options.Style,
    _ options: Options,
  ) throws(Options.Mistake) -> (pipeline: ImagePipeline, disk: DiskCache) {
    let folder = options.cacheFolder.map { URL(filePath: $0) } ?? GalleryPipeline.defaultFolder
    let disk: DiskCache
    do {
      // One for each style, so that neither finds what the other has left.
      disk = try DiskCache(directory: folder.appending(path: style.rawValue), sizeLimit: 1 << 30)
    } catch {
      throw Options.Mistake(message: "\(error)")
    }
    let memory = MemoryCache<CachedImage>(costLimit: style == .memory ? 8 << 30 : GalleryPipeline.memoryLimit)
    return (GalleryPipeline.make(memory, disk), disk)
  }

  private static func makeStyle(
    _ style: Options.Style,
    _ options: Options,
    _ pictures: Pictures,
    _ pipeline: ImagePipeline,
  ) -> any CellStyle {
    switch style {
    case .vitrine, .memory: VitrineCells(pictures, pipeline: pipeline, size: options.size, prefetch: options.prefetch)
    case .naive: NaiveCells(pictures, pipeline: pipeline, size: options.size)
    }
  }
}
