import CGTK
import CVitrineGTK
import Vitrine

/// A widget over which a ring is shown.
@MainActor
protocol RingHost: AnyObject {
  /// The icon that is shown; `nil` for none.
  var iconName: String? { get }
  /// True if there is a picture or a colour.
  var showsPixels: Bool { get }
}

extension PictureView: RingHost {}

/// A ring that fills while an image loads, and turns while the amount to load is unknown.
@MainActor
@safe
final class ProgressRing: DrawnWidget {
  /// The time after which a load is slow enough for a ring, in microseconds.
  static let patience: gint64 = 250_000
  /// The diameter in points, where there is room.
  private static let diameter = 32.0
  /// The diameter of a ring around an icon, in points.
  private static let diameterAroundIcon = 56.0
  /// The time of a turn, in microseconds.
  private static let turnTime = 1_200_000.0

  /// The share that has been loaded, from 0 to 1; `nil` if the whole is not known.
  private(set) var fraction: Double?
  private var start: gint64?
  private var now: gint64 = 0
  private var tick: guint = 0
  weak var view: (any RingHost)?

  init() { super.init(cssName: "vitrine-progress") }

  /// True if the load has lasted long enough.
  var isShown: Bool { start.map { now - $0 >= Self.patience } ?? false }

  /// True from the begin of a load to its end.
  var isRunning: Bool { tick != 0 }

  /// Begins with a load.
  func begin() {
    (fraction, start, now) = (nil, nil, 0)
    guard tick == 0 else { return }
    // The tick ends with its widget and has no user data, so it outlives neither.
    tick = unsafe gtk_widget_add_tick_callback(
      widget,
      { widget, clock, _ in
        nonisolated(unsafe) let (widget, clock) = unsafe (widget, clock)
        return MainActor.assumeIsolated {
          guard let ring = unsafe DrawnWidget.object(of: widget) as? ProgressRing, ring.tick != 0 else { return 0 }
          unsafe ring.advance(to: gdk_frame_clock_get_frame_time(clock))
          return 1
        }
      },
      nil,
      nil,
    )
  }

  func progressed(_ progress: LoadProgress) {
    fraction = progress.fraction > 0 ? progress.fraction : nil
    if isShown { unsafe gtk_widget_queue_draw(widget) }
  }

  /// Ends with the load.
  func end() {
    guard tick != 0 else { return }
    // The widget is alive, as this object is.
    unsafe gtk_widget_remove_tick_callback(widget, tick)
    (tick, start, fraction) = (0, nil, nil)
    unsafe gtk_widget_queue_draw(widget)
  }

  private func advance(to time: gint64) {
    let wasShown = isShown
    if start == nil { start = time }
    now = time
    // A ring that fills is drawn anew with each progress only.
    if isShown, !wasShown || fraction == nil { unsafe gtk_widget_queue_draw(widget) }
  }

  override func draw(into snapshot: OpaquePointer) {
    let (width, height) = unsafe (Double(gtk_widget_get_width(widget)), Double(gtk_widget_get_height(widget)))
    let diameter =
      view?.iconName == nil
      ? min(Self.diameter, width / 2, height / 2) : min(Self.diameterAroundIcon, width - 2, height - 2)
    guard isShown, diameter >= 4 else { return }
    let isOverPicture = view?.showsPixels == true
    var color = GdkRGBA(PixelColor(0xFFFFFF))
    if !isOverPicture { unsafe vitrine_gtk_color(widget, &color) }
    let thickness = min(4, max(2, diameter / 8))
    let radius = (diameter - thickness) / 2
    let edge = isOverPicture ? thickness : 0
    let (x, y) = (width / 2, height / 2)
    let side = diameter + 2 * edge
    var bounds = PictureRectangle(x: x - side / 2, y: y - side / 2, width: side, height: side).bounds
    // The context is owned, and drawn when the snapshot is.
    guard let context = unsafe gtk_snapshot_append_cairo(snapshot, &bounds) else { return }
    defer { unsafe cairo_destroy(context) }
    if isOverPicture {
      // Pictures have any colour, also the text's: white on a shade is seen on all.
      unsafe cairo_arc(context, x, y, side / 2, 0, 2 * .pi)
      unsafe cairo_set_source_rgba(context, 0, 0, 0, 0.45)
      unsafe cairo_fill(context)
    }
    unsafe cairo_set_line_width(context, thickness)
    unsafe cairo_set_line_cap(context, CAIRO_LINE_CAP_ROUND)
    func arc(from: Double, length: Double, opacity: Double) {
      let (red, green, blue) = (Double(color.red), Double(color.green), Double(color.blue))
      unsafe cairo_set_source_rgba(context, red, green, blue, Double(color.alpha) * opacity)
      unsafe cairo_arc(context, x, y, radius, from, from + length)
      unsafe cairo_stroke(context)
    }
    arc(from: 0, length: 2 * .pi, opacity: 0.25)
    let top = -Double.pi / 2
    guard let fraction else {
      let moves = unsafe vitrine_gtk_animations_enabled(widget) != 0
      let turn = moves ? Double(now - (start ?? now)) / Self.turnTime * 2 * .pi : 0
      return arc(from: top + turn, length: .pi / 2, opacity: 1)
    }
    arc(from: top, length: 2 * .pi * min(fraction, 1), opacity: 1)
  }
}
