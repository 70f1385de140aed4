import Vitrine
import VitrineGTK
import VitrineRuntime

/// Scrolls a grid of each style of cells, and compares them.
@MainActor
struct CellRun {
  private let options: Options
  private let window: Window
  private let pictures: [Picture]
  private let server: PictureServer

  init(_ options: Options, _ window: Window) throws(Mistake) {
    (self.options, self.window) = (options, window)
    pictures = try Picture.all(options)
    server = try PictureServer()
  }

  /// Shows each style in turn, prints the report, and returns `true` if VitrineGTK's cells kept all their promises.
  func run() async throws(Mistake) -> Bool {
    var report = Report()
    let frames = FrameMeter(window)
    for style in options.styles { report.columns.append(try await column(style, frames)) }
    print(report.text)
    print("\n\(pictures.count) pictures in the list")
    return report.isGood
  }

  private func column(_ name: Options.Style, _ frames: FrameMeter) async throws(Mistake) -> Report.Column {
    let requestsBefore = try server.requestCount()
    let disk = try BenchGTK.openDisk(options, name.rawValue)
    // The time limit of the gallery's grid.
    let pipeline = BenchGTK.makePipeline(
      memory: name == .memory ? 8 << 30 : 128 << 20,
      disk: disk,
      timeLimit: .seconds(5),
    )
    if name == .memory { await remember(pipeline) }
    let style: any CellStyle =
      switch name {
      case .vitrine, .memory: VitrineCells(pictures, server.root, pipeline: pipeline, size: options.size)
      case .naive: NaiveCells(pictures, server.root, pipeline: pipeline, size: options.size)
      }
    let audit = Audit(pictures, window: window, style: style)
    window.show(style, count: pictures.count)
    frames.onFrame = { audit.lookAtFrame() }
    frames.begin()
    await Tour(window, audit: audit).run()
    frames.end()
    frames.onFrame = {}
    await audit.lookAtRest()
    if name == options.styles[0], let file = options.output, !window.writeScreenshot(to: file) {
      throw Mistake(message: "could not write \(file)")
    }
    let requests = try server.requestCount() - requestsBefore
    let column = Report.Column(
      title: name.rawValue,
      counts: style.counts,
      findings: audit.findings,
      frames: frames.figures,
      requests: requests,
    )
    window.clear()
    if options.fillsCache { await fill(pipeline) }
    await disk.close()
    return column
  }

  /// Downloads what is not on disk, six at a time, the pipeline's own limit.
  private func fill(_ pipeline: ImagePipeline) async {
    await withTaskGroup { group in
      for picture in pictures {
        let request = picture.request(PictureServer.atOnce(server.root))
        group.addTask { _ = try? await pipeline.data(for: request) }
      }
    }
  }

  /// Loads everything into memory.
  private func remember(_ pipeline: ImagePipeline) async {
    let pixels = options.size * window.widget.scale
    let requests = pictures.map { picture in
      var request = picture.request(server.root, pixels: pixels)
      // As the widgets ask for it.
      request.animates = true
      return request
    }
    _ = await ImagePrefetcher(pipeline, maxConcurrentLoads: 16).load(requests)
  }
}
