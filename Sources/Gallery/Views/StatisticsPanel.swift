import CGTK
import Vitrine
import VitrineCaching
import VitrineGTK
import VitrineGalleryModel

/// The panel with the figures of the caches, the queues and the main thread, over the pictures.
@MainActor
final class StatisticsPanel {
  let widget: Widget
  private let parts: GalleryPipeline
  private var timer: Repeating?

  init(_ parts: GalleryPipeline) {
    self.parts = parts
    widget = .label("", "statistics")
    widget.aligned(GTK_ALIGN_START, GTK_ALIGN_END).margins(12)
    widget.set("xalign", 0.0)
    widget.set("can-target", false)
    widget.isShown = false
  }

  /// Shows the panel, which is renewed every half second, or hides it.
  var isShown: Bool {
    get { widget.isShown }
    set {
      widget.isShown = newValue
      StallMeter.isRunning = newValue
      guard newValue else { return timer = nil }
      update()
      timer = Repeating(every: 500) { [weak self] in
        self?.update()
        return self != nil
      }
    }
  }

  private func update() {
    Task {
      let disk = await parts.disk?.statistics()
      if isShown { widget.text = text(disk) }
    }
  }

  private func text(_ disk: DataCacheStatistics?) -> String {
    let memory = parts.memory.statistics
    let shown = FrameMailbox.gtk.statistics
    var lines = [
      translated(
        "Memory: %s of %s, %s pictures, %s hits",
        PhotoFacts.bytes(memory.cost),
        PhotoFacts.bytes(parts.memory.costLimit),
        "\(memory.count)",
        Self.share(memory.hits, memory.misses),
      )
    ]
    if let disk {
      lines.append(
        translated(
          "Disk: %s of %s, %s entries, %s hits",
          PhotoFacts.bytes(disk.bytes),
          PhotoFacts.bytes(disk.limit),
          "\(disk.entries)",
          Self.share(disk.hits, disk.misses),
        )
      )
    }
    lines += [
      translated("Work under way: %s", "\(parts.pipeline.loadCount + parts.photographs.loadCount)"),
      translated(
        "Shown: %s from memory, %s from disk, %s from servers, %s from files",
        "\(shown.shownFromMemory)",
        "\(shown.shownFromDisk)",
        "\(shown.shownFromNetwork)",
        "\(shown.shownFromLocal)",
      ),
      translated(
        "Loads: %s begun, %s cancelled, %s failed, %s late",
        "\(shown.loadsStarted)",
        "\(shown.loadsCancelled)",
        "\(shown.failures)",
        "\(shown.late)",
      ),
      translated(
        "Longest turn of the main loop: %s ms now, %s ms at most",
        Self.milliseconds(StallMeter.takeLongest()),
        Self.milliseconds(StallMeter.longestOfAll),
      ),
    ]
    return lines.joined(separator: "\n")
  }

  private static func share(_ hits: Int, _ misses: Int) -> String {
    hits + misses == 0 ? "–" : "\(hits * 100 / (hits + misses)) %"
  }

  private static func milliseconds(_ microseconds: Int) -> String {
    "\(microseconds / 1000).\(microseconds / 100 % 10)"
  }
}

/// Measures the turns of the main loop, in which the window does not answer.
@MainActor
enum StallMeter {
  private static var start: gint64 = 0
  private static var longest = 0
  /// The longest turn since the meter was started, in microseconds.
  private(set) static var longestOfAll = 0

  /// A Boolean value that indicates whether turns are measured.
  static var isRunning = false {
    didSet {
      guard isRunning != oldValue else { return }
      (start, longest, longestOfAll) = (0, 0, 0)
      // The main loop waits in its poll: a turn is the time between two of them.
      if isRunning {
        unsafe g_main_context_set_poll_func(nil, measuredPoll)
      } else {
        unsafe g_main_context_set_poll_func(nil, g_poll)
      }
    }
  }

  /// Returns the longest turn since the last call, in microseconds.
  static func takeLongest() -> Int {
    defer { longest = 0 }
    return longest
  }

  fileprivate static func turnEnded() {
    guard start > 0 else { return }
    longest = max(longest, Int(g_get_monotonic_time() - start))
    longestOfAll = max(longestOfAll, longest)
  }

  fileprivate static func turnBegan() { start = g_get_monotonic_time() }
}

private func measuredPoll(_ files: UnsafeMutablePointer<GPollFD>?, _ count: guint, _ timeout: gint) -> gint {
  MainActor.assumeIsolated { StallMeter.turnEnded() }
  defer { MainActor.assumeIsolated { StallMeter.turnBegan() } }
  return unsafe g_poll(files, count, timeout)
}
