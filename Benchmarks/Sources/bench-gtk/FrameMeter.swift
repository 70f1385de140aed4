import CGTK
import CVitrineGTK
import VitrineGTK
import VitrineRuntime

/// Measures frames and turns of the main loop.
@MainActor
final class FrameMeter {
  struct Figures {
    var frames = 0
    /// The longest time that Vitrine's code, or the naive cells', took within one turn of the main loop, in
    /// microseconds: the processor time, and the elapsed time, during which decoding threads may have had the
    /// processor.
    var longestHold = 0
    var longestHoldByTheClock = 0
    /// The longest frame from before-paint to after-paint, including all of GTK, in microseconds.
    var longestFrame = 0
    /// The number of frames that took longer than a display at 60 Hz gives them.
    var slowFrames = 0
    var frameTime = 0
    /// The peak memory of the process, in bytes.
    var peakMemory = 0

    var meanFrame: Int { frames == 0 ? 0 : frameTime / frames }
  }

  private(set) var figures = Figures()
  /// Called after each painted frame.
  var onFrame: () -> Void = {}
  private var start: gint64 = 0
  private let window: Window
  private var isConnected = false
  /// True between ``begin()`` and ``end()``.
  private(set) var isMeasuring = false

  /// The functions that GLib calls have no user data.
  private static weak var current: FrameMeter?

  init(_ window: Window) { self.window = window }

  private func connectOnce() {
    guard !isConnected else { return }
    isConnected = true
    let clock = unsafe gtk_widget_get_frame_clock(window.widget.pointer)
    unsafe connect(clock, "before-paint") { [weak self] in self?.start = g_get_monotonic_time() }
    unsafe connect(clock, "after-paint") { [weak self] in self?.painted() }
    // Wraps the poll in which the main loop waits: a turn is the time between two of them.
    unsafe g_main_context_set_poll_func(nil) { descriptors, count, timeout in
      MainActor.assumeIsolated { FrameMeter.current?.turnEnded() }
      return unsafe g_poll(descriptors, count, timeout)
    }
    Self.current = self
  }

  /// Begins with the frames of the window, which has been shown.
  func begin() {
    connectOnce()
    figures = Figures()
    // Memory that an earlier style has freed must not count in this one's peak.
    vitrine_gtk_trim_heap()
    resetPeakMemory()
    MainThreadWork.isMeasured = true
    _ = MainThreadWork.take()
    isMeasuring = true
  }

  func end() {
    isMeasuring = false
    MainThreadWork.isMeasured = false
    figures.peakMemory = peakMemory()
  }

  private func painted() {
    guard isMeasuring, start > 0 else { return }
    let time = Int(g_get_monotonic_time() - start)
    figures.frames += 1
    figures.frameTime += time
    if time > 16_700 { figures.slowFrames += 1 }
    figures.longestFrame = max(figures.longestFrame, time)
    onFrame()
  }

  private func turnEnded() {
    guard isMeasuring else { return }
    let span = MainThreadWork.take()
    figures.longestHold = max(figures.longestHold, span.processor / 1000)
    figures.longestHoldByTheClock = max(figures.longestHoldByTheClock, span.clock / 1000)
  }
}

/// Resets the peak memory of the process to its current use.
private func resetPeakMemory() {
  let file = unsafe open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC)
  guard file >= 0 else { return }
  // One byte of a literal.
  _ = unsafe write(file, "5", 1)
  close(file)
}

/// Returns the peak memory of the process, in bytes.
private func peakMemory() -> Int {
  let status = (try? FileContents.at("/proc/self/status")).map { String(decoding: $0, as: UTF8.self) } ?? ""
  let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
  return (line?.split(separator: " ").compactMap { Int($0) }.first ?? 0) << 10
}
