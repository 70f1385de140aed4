import CGTK
import CVitrineGTK
import Vitrine
import VitrineRuntime

/// A widget that shows the frames of an animation.
@MainActor
protocol FrameDisplay: DrawnWidget {
  /// The playback of the animation that is shown.
  var playback: Playback? { get }

  /// Shows a frame.
  func show(frame: Bitmap)
}

/// Plays an animation by the frame clock of its widget, while that can be seen and the desktop wants motion.
///
/// Between frames that are far apart nothing runs but a timer, so that a still display stays asleep.
@MainActor
@safe
final class Playback {
  let player: AnimationPlayer
  private unowned let view: any FrameDisplay
  private let widget: UnsafeMutablePointer<GtkWidget>
  private var watch: WindowWatch?
  /// The wishes of the view: whether it plays, and whether it can be seen.
  private var wanted = (plays: false, isMapped: false)
  private var tick: guint = 0
  private var timer: guint = 0

  /// The longest wait for a frame, in microseconds, during which the frame clock runs.
  private static let shortWait = 50_000
  /// The time before a frame at which the frame clock is wanted again, in microseconds.
  private static let lead = 20_000

  /// Plays an animation, from where the view has played it while it arrived.
  init(_ image: AnimatedImage, after former: Playback? = nil, _ view: some FrameDisplay) {
    (player, self.view) = (AnimationPlayer(image, after: former?.player), view)
    unsafe widget = view.widget
    player.didSeek = { [weak self] in self?.sought() }
  }

  /// True while the frame clock runs.
  var isTicking: Bool { tick != 0 }
  /// True while frames are awaited.
  var isRunning: Bool { tick != 0 || timer != 0 }

  /// Plays or pauses; must be called before the widget is hidden, and after it has appeared.
  func update(plays: Bool, isMapped: Bool) {
    wanted = (plays, isMapped)
    if !isMapped {
      watch?.close()
      watch = nil
    } else if watch == nil {
      watch = unsafe WindowWatch(widget) { [weak self] in self?.update() }
    }
    update()
  }

  private func update() {
    let isStill = !view.wantsMotion
    if player.reducesMotion != isStill {
      player.reducesMotion = isStill
      if isStill { view.show(frame: player.bitmap) }
    }
    guard wanted.plays, wanted.isMapped, watch?.isHidden != true, !isStill else { return pause() }
    player.play()
    // From now on, not from the first tick, which for a long frame comes when that is nearly over.
    if let clock = unsafe gtk_widget_get_frame_clock(widget) {
      _ = unsafe player.advance(to: .microseconds(gdk_frame_clock_get_frame_time(clock)))
    }
    // Once it has begun it shows what the others show.
    view.show(frame: player.bitmap)
    wait()
  }

  /// Ends; must be called before the widget goes.
  func stop() {
    watch?.close()
    watch = nil
    pause()
  }

  private func pause() {
    player.pause()
    sleep()
  }

  private func sleep() {
    // Both are alive: the view stops its playback when its widget is disposed of.
    if tick != 0 { unsafe gtk_widget_remove_tick_callback(widget, tick) }
    if timer != 0 { g_source_remove(timer) }
    (tick, timer) = (0, 0)
  }

  /// Shows a frame that the program has sought, or waits for it.
  private func sought() {
    view.show(frame: player.bitmap)
    if isRunning { wait() }
  }

  /// Waits for the next frame: by the frame clock, or first by a timer if that is far away.
  private func wait() {
    guard let time = player.timeToNextFrame else { return sleep() }
    let microseconds = Int(min(time / .microseconds(1), 1e9))
    guard microseconds > Self.shortWait else { return startTicking() }
    sleep()
    // The box is released with the source, which is removed before this object goes.
    timer = unsafe g_timeout_add_full(
      G_PRIORITY_DEFAULT,
      guint((microseconds - Self.lead) / 1000),
      { box in
        guard let box = unsafe box else { return 0 }
        let playback = unsafe Unmanaged<WeakPlayback>.fromOpaque(box).takeUnretainedValue()
        MainActor.assumeIsolated { playback.target?.timerFired() }
        return 0
      },
      Unmanaged.passRetained(WeakPlayback(self)).toOpaque(),
      releaseObject,
    )
  }

  private func timerFired() {
    timer = 0
    startTicking()
  }

  private func startTicking() {
    guard tick == 0 else { return }
    if timer != 0 { g_source_remove(timer) }
    timer = 0
    // The tick ends with its widget and has no user data, so it outlives neither.
    tick = unsafe gtk_widget_add_tick_callback(
      widget,
      { widget, clock, _ in
        nonisolated(unsafe) let (widget, clock) = unsafe (widget, clock)
        return MainActor.assumeIsolated {
          guard let view = unsafe DrawnWidget.object(of: widget) as? any FrameDisplay, let playback = view.playback,
            playback.tick != 0
          else { return 0 }
          let time = unsafe gdk_frame_clock_get_frame_time(clock)
          return MainThreadWork.measure { playback.advance(to: .microseconds(time)) } ? 1 : 0
        }
      },
      nil,
      nil,
    )
  }

  /// Shows the frame that is due; returns `false` if the frame clock is not needed for a while.
  private func advance(to time: Duration) -> Bool {
    if player.advance(to: time) != nil { view.show(frame: player.bitmap) }
    guard let next = player.timeToNextFrame, next <= .microseconds(Self.shortWait) else {
      // Returning false removes the tick.
      tick = 0
      wait()
      return false
    }
    return true
  }

  /// The target of a timer, which may be gone when it fires.
  @MainActor
  private final class WeakPlayback {
    weak var target: Playback?

    init(_ target: Playback) { self.target = target }
  }
}

/// Watches whether a widget's window can be seen, and whether the desktop wants motion, while the widget is mapped.
@MainActor
@safe
final class WindowWatch {
  private let surface: OpaquePointer
  private var connections: [SignalConnection] = []

  /// Returns `nil` if the widget is in no window.
  init?(_ widget: UnsafeMutablePointer<GtkWidget>, _ onChange: @escaping @MainActor () -> Void) {
    guard let native = unsafe gtk_widget_get_native(widget), let surface = unsafe gtk_native_get_surface(native),
      let settings = unsafe gtk_widget_get_settings(widget)
    else { return nil }
    // Retained until `close()`.
    unsafe self.surface = surface
    unsafe g_object_ref(UnsafeMutableRawPointer(surface))
    connections = [unsafe connect(settings, "notify::gtk-enable-animations") { onChange() }]
    // A popover's surface has no state.
    if unsafe Self.isToplevel(surface) { unsafe connections.append(connect(surface, "notify::state") { onChange() }) }
  }

  private static func isToplevel(_ surface: OpaquePointer) -> Bool {
    // A surface is an instance of a class.
    unsafe g_type_check_instance_is_a(
      UnsafeMutableRawPointer(surface).assumingMemoryBound(to: GTypeInstance.self),
      gdk_toplevel_get_type(),
    ) != 0
  }

  /// The states in which the window is invisible: minimised, and suspended (GTK 4.12).
  private static let hiddenStates: UInt32 = 1 << 0 | 1 << 16

  /// True if the window is minimised, or covered as far as the desktop says so.
  var isHidden: Bool {
    guard unsafe Self.isToplevel(surface) else { return false }
    return unsafe gdk_toplevel_get_state(surface).rawValue & Self.hiddenStates != 0
  }

  /// Ends the watch; must be called.
  func close() {
    guard !connections.isEmpty else { return }
    for connection in connections { connection.disconnect() }
    connections = []
    unsafe g_object_unref(UnsafeMutableRawPointer(surface))
  }
}
