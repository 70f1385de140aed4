import CGTK
import Vitrine
import VitrineGTK
import VitrineRuntime

/// Moves photographs about in a window, and measures what that costs the main thread and the memory.
@MainActor
@safe
final class PanRun {
  /// The highest cost: the bytes of pixels in the widget, and the main thread's processor time in a turn, in
  /// microseconds.
  static let limits = (pixels: 150_000_000, hold: 4000)
  /// The zooms, and the seconds at each.
  private static let zooms: [(zoom: Double, seconds: Int)] = [(0.25, 15), (0.6, 15), (1, 20), (3.3, 10)]
  /// The distance that the picture moves between two frames, in points: across the window in a second.
  private static let speed = 20.0

  private let files: [String]
  private let window: Window
  private let pipeline: ImagePipeline
  private let frames: FrameMeter
  private var isGood = true

  init(_ files: [String], _ window: Window, _ pipeline: ImagePipeline) {
    (self.files, self.window, self.pipeline) = (files, window, pipeline)
    frames = FrameMeter(window)
  }

  /// Runs all, prints the results, and returns `true` if all limits are held.
  func run() async -> Bool {
    print("# Photographs moved about in a window\n")
    print("\(Int(Self.speed)) points a frame, back and forth across the whole picture; Xvfb, drawn by GTK in software.")
    print("\"Incomplete\" are frames in which a tile was missing; it is drawn from the next coarser one there is.\n")
    print(
      "| file | zoom | seconds | frames | incomplete | longest hold | by the clock | mean frame | over 16.7 ms "
        + "| pixels, at most | peak memory |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for file in files { await run(file) }
    let (pixels, hold) = Self.limits
    print("\nLimits: \(hold / 1000) ms of processor time a turn, \(pixels / 1_000_000) MB of pixels.")
    print(isGood ? "All are held." : "Not all are held.")
    return isGood
  }

  private func run(_ file: String) async {
    let picture = ZoomPicture(pipeline)
    window.scrolled.add(Widget(picture))
    window.widget.present()
    picture.load(ImageRequest(.file(file)))
    guard await isComplete(picture) else {
      isGood = false
      return print("| \(file) | cannot be shown: \(picture.content) |")
    }
    for (zoom, seconds) in Self.zooms { await pan(picture, file, zoom, seconds) }
    picture.clear()
    window.clear()
  }

  private func pan(_ picture: ZoomPicture, _ file: String, _ zoom: Double, _ seconds: Int) async {
    picture.zoom(to: zoom)
    _ = await isComplete(picture)
    var (dx, dy) = (-Self.speed, -Self.speed * 0.4)
    var (mostPixels, incomplete) = (0, 0)
    frames.onFrame = {
      mostPixels = max(mostPixels, picture.pixelByteCount)
      if picture.isWaitingForTiles { incomplete += 1 }
      let before = picture.center
      picture.pan(x: dx, y: dy)
      guard let before, let after = picture.center else { return }
      // At an edge, the other way.
      if abs(after.x - before.x) * zoom < abs(dx) / 2 { dx = -dx }
      if abs(after.y - before.y) * zoom < abs(dy) / 2 { dy = -dy }
      unsafe gtk_widget_queue_draw(picture.widget)
    }
    frames.begin()
    unsafe gtk_widget_queue_draw(picture.widget)
    try? await Task.sleep(for: .seconds(seconds))
    frames.end()
    frames.onFrame = {}
    let figures = frames.figures
    print(
      "| \(URL(filePath: file).lastPathComponent) | \(zoom) | \(seconds) | \(figures.frames) | \(incomplete) "
        + "| \(milliseconds(figures.longestHold)) | \(milliseconds(figures.longestHoldByTheClock)) "
        + "| \(milliseconds(figures.meanFrame)) | \(figures.slowFrames) | \(mostPixels / 1_000_000) MB "
        + "| \(figures.peakMemory / 1_000_000) MB |"
    )
    if figures.longestHold > Self.limits.hold || mostPixels > Self.limits.pixels || figures.frames == 0 {
      isGood = false
    }
  }

  /// Waits until the picture is as sharp as it can be, for at most thirty seconds.
  private func isComplete(_ picture: ZoomPicture) async -> Bool {
    for _ in 0..<1500 {
      switch picture.content {
      case .complete: return true
      case .failure: return false
      default: try? await Task.sleep(for: .milliseconds(20))
      }
    }
    return false
  }

  private func milliseconds(_ microseconds: Int) -> String { "\(microseconds / 1000).\(microseconds / 100 % 10) ms" }
}
