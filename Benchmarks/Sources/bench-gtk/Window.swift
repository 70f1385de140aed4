import CGTK
import CVitrineGTK
import VitrineGTK

/// The window: a header bar over a scrolling grid.
@MainActor
@safe
final class Window {
  let widget: UnsafeMutablePointer<GtkWidget>
  let scrolled: UnsafeMutablePointer<GtkWidget>

  init(_ application: Application) {
    vitrine_gtk_prefer_dark()
    css(Self.style)
    // The window owns all widgets, and the application keeps the window until it is closed.
    unsafe widget = application.window(title: "bench-gtk", width: 1280, height: 900)
    unsafe scrolled = gtk_scrolled_window_new().append(to: widget)
    unsafe gtk_window_set_titlebar(cast(widget), gtk_header_bar_new())
    unsafe gtk_widget_add_css_class(scrolled, "gallery")
    unsafe gtk_scrolled_window_set_policy(cast(scrolled), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC)
  }

  /// Fills the window with a grid of `count` cells.
  func show(_ style: any CellStyle, count: Int) {
    unsafe gtk_window_set_title(cast(widget), "\(count) pictures")
    let model = unsafe gtk_string_list_new(nil)
    for index in 0..<count { unsafe gtk_string_list_append(model, "\(index)") }
    // The selection takes ownership of the model, the grid of the selection and the factory, the window of the grid.
    let selection = unsafe gtk_no_selection_new(model)
    let grid = unsafe gtk_grid_view_new(selection, style.makeFactory()).append(to: scrolled)
    unsafe gtk_grid_view_set_max_columns(cast(grid), 8)
    unsafe gtk_widget_grab_focus(grid)
    unsafe gtk_window_present(cast(widget))
  }

  /// Removes the grid, and with it the cells.
  func clear() { unsafe gtk_scrolled_window_set_child(cast(scrolled), nil) }

  /// The scroll position of the grid, in points.
  var position: Double {
    get { unsafe gtk_adjustment_get_value(adjustment) }
    set { unsafe gtk_adjustment_set_value(adjustment, newValue) }
  }

  /// The maximum scroll position.
  var end: Double {
    unsafe max(0, gtk_adjustment_get_upper(adjustment) - gtk_adjustment_get_page_size(adjustment))
  }

  private var adjustment: UnsafeMutablePointer<GtkAdjustment>? {
    unsafe gtk_scrolled_window_get_vadjustment(cast(scrolled))
  }

  /// Writes the contents of the window as PNG.
  ///
  /// - Returns: `true` on success; `false` before the window has been drawn.
  func writeScreenshot(to path: String) -> Bool {
    let (width, height) = unsafe (gtk_widget_get_width(widget), gtk_widget_get_height(widget))
    let paintable = unsafe gtk_widget_paintable_new(widget)
    defer { unsafe g_object_unref(cast(paintable)) }
    let snapshot = unsafe gtk_snapshot_new()
    unsafe gdk_paintable_snapshot(paintable, snapshot, Double(width), Double(height))
    // The call frees the snapshot; texture and node are freed below.
    guard let node = unsafe gtk_snapshot_free_to_node(snapshot) else { return false }
    defer { unsafe gsk_render_node_unref(node) }
    let renderer = unsafe gtk_native_get_renderer(gtk_widget_get_native(widget))
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
