import CGTK
import CVitrineGTK
import VitrineGTK

/// The window: a header bar over a scrolling grid.
@MainActor
@safe
final class Window {
  let widget: Widget
  let scrolled = Widget(of: gtk_scrolled_window_get_type())

  init(_ application: Application) {
    vitrine_gtk_prefer_dark()
    css(Self.style)
    widget = application.window(title: "bench-gtk", width: 1280, height: 900)
    widget.add(scrolled.addClass("gallery"))
    widget.set("titlebar", Widget(of: gtk_header_bar_get_type()))
    scrolled.set("hscrollbar-policy", GTK_POLICY_NEVER)
  }

  /// Fills the window with a grid of `count` cells.
  func show(_ style: any CellStyle, count: Int) {
    widget.set("title", "\(count) pictures")
    let grid = Widget(of: gtk_grid_view_get_type())
    grid.set("model", StringList((0..<count).map(String.init)))
    grid.set("factory", style.factory)
    grid.set("max-columns", 8)
    scrolled.add(grid)
    grid.focus()
    widget.present()
  }

  /// Removes the grid, and with it the cells.
  func clear() { scrolled.set("child", nil) }

  /// The scroll position of the grid, in points.
  var position: Double {
    get { adjustment?.get("value") ?? 0 }
    set { adjustment?.set("value", newValue) }
  }

  /// The maximum scroll position.
  var end: Double {
    guard let upper: Double = adjustment?.get("upper"), let page: Double = adjustment?.get("page-size") else {
      return 0
    }
    return max(0, upper - page)
  }

  private var adjustment: GTKObject? { scrolled.object("vadjustment") }

  /// Writes the contents of the window as PNG.
  ///
  /// - Returns: `true` on success; `false` before the window has been drawn.
  func writeScreenshot(to path: String) -> Bool {
    let (width, height) = widget.size
    let paintable = unsafe gtk_widget_paintable_new(widget.pointer)
    defer { unsafe g_object_unref(cast(paintable)) }
    let snapshot = unsafe gtk_snapshot_new()
    unsafe gdk_paintable_snapshot(paintable, snapshot, Double(width), Double(height))
    // The call frees the snapshot; texture and node are freed below.
    guard let node = unsafe gtk_snapshot_free_to_node(snapshot) else { return false }
    defer { unsafe gsk_render_node_unref(node) }
    let renderer = unsafe gtk_native_get_renderer(gtk_widget_get_native(widget.pointer))
    guard let texture = unsafe gsk_renderer_render_texture(renderer, node, nil) else { return false }
    defer { unsafe g_object_unref(cast(texture)) }
    return unsafe gdk_texture_save_to_png(texture, path) != 0
  }

  private static let style = """
    .gallery { background: #1d1e20; }
    .gallery gridview { background: none; padding: 10px; }
    .gallery gridview > child { padding: 8px 5px; border-radius: 14px; }
    .cell { padding: 0; margin: 0; }
    .picture { border-radius: 10px; background: #2c2e31; color: #7d8087; }
    .name { color: #a9adb5; font-size: 12px; }
    """
}
