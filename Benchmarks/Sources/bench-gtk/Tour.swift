import CGTK
import VitrineGTK
import VitrineRuntime

/// Scrolls through a window by itself: slowly, fast, in jumps, and back to the top.
@MainActor
final class Tour {
  private let window: Window
  private let audit: Audit
  private var frame: CheckedContinuation<Void, Never>?

  init(_ window: Window, audit: Audit) {
    (self.window, self.audit) = (window, audit)
    // The window owns the tick; it ends with the window, or with the tour.
    unsafe gtk_widget_add_tick_callback(
      window.scrolled.pointer,
      { _, _, tour in
        guard let tour = unsafe tour else { return 0 }
        let object = unsafe Unmanaged<Tour>.fromOpaque(tour).takeUnretainedValue()
        return MainActor.assumeIsolated { object.tick() ? 1 : 0 }
      },
      Unmanaged.passRetained(self).toOpaque(),
      { tour in
        guard let tour = unsafe tour else { return }
        unsafe Unmanaged<Tour>.fromOpaque(tour).release()
      },
    )
  }

  private var isOver = false

  private func tick() -> Bool {
    let waiting = frame
    frame = nil
    waiting?.resume()
    return !isOver
  }

  private func nextFrame() async {
    await withCheckedContinuation { frame = $0 }
  }

  /// Runs the whole tour.
  func run() async {
    defer { isOver = true }
    await rest()
    // Down: at reading speed, then in flicks that start fast and slow down.
    for _ in 0..<60 { await move(by: 12) }
    audit.countSettled()
    for _ in 0..<8 {
      var speed = 220.0
      while speed > 8 {
        await move(by: speed)
        speed *= 0.93
      }
      audit.countSettled()
    }
    // Far jumps, as by dragging the scroll bar, each too short for most images to arrive.
    for step in 1...10 {
      await jump(to: Double(step * 7 % 11) / 11 * window.end)
      for _ in 0..<6 { await move(by: 30) }
    }
    await rest()
    // Back over what has just been visible, then all the way up.
    for _ in 0..<30 { await move(by: -40) }
    audit.countSettled()
    await jump(to: window.position * 0.15)
    while window.position > 0 { await move(by: -240) }
    await rest()
  }

  private func move(by distance: Double) async {
    window.position += distance
    await nextFrame()
  }

  /// Jumps twice: a grid that has not measured all its rows may stop short the first time.
  private func jump(to position: Double) async {
    for _ in 0..<2 {
      window.position = position
      await nextFrame()
    }
  }

  /// Waits until every visible cell has its image, for at most about twenty seconds.
  private func rest() async {
    for _ in 0..<1200 {
      await nextFrame()
      if audit.isComplete { break }
    }
    // The last ones fade in.
    for _ in 0..<30 { await nextFrame() }
  }
}
