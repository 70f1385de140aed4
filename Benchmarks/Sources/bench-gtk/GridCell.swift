import CGTK
import Vitrine
import VitrineGTK
import VitrineRuntime

/// A cell of the grid, for the audit.
///
/// The grid owns its widgets, which are alive while it is bound.
@MainActor
@safe
final class GridCell {
  /// The index of the picture that the cell is bound to; `nil` between two.
  var index: Int?
  /// The image that the cell shows; `nil` if it shows none.
  var shown: ImageResponse?
  /// True if the image was in memory when the cell was bound to it.
  var wasInMemory = false
  /// True if a frame was painted that should have shown that image, and did not.
  var hasFlashed = false
  /// True if the first frame that showed the cell had its image; `nil` before that frame.
  var beganWithImage: Bool?
  /// The picture's widget.
  let picture: UnsafeMutablePointer<GtkWidget>
  private let size: Int
  private let label: UnsafeMutablePointer<GtkWidget>
  /// The widget that fills the cell.
  let root: UnsafeMutablePointer<GtkWidget>

  init(picture: UnsafeMutablePointer<GtkWidget>, size: Int) {
    self.size = size
    // Each belongs to the one around it.
    unsafe self.picture = picture
    unsafe label = gtk_label_new(nil)
    unsafe root = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6)
    unsafe picture.append(to: root)
    unsafe label.append(to: root)
    unsafe gtk_widget_add_css_class(root, "cell")
    unsafe gtk_widget_add_css_class(picture, "picture")
    unsafe gtk_widget_add_css_class(label, "name")
    unsafe gtk_label_set_ellipsize(cast(label), PANGO_ELLIPSIZE_MIDDLE)
    unsafe gtk_label_set_max_width_chars(cast(label), 1)
    unsafe gtk_widget_set_size_request(label, gint(size), -1)
    unsafe gtk_widget_set_halign(root, GTK_ALIGN_CENTER)
  }

  /// The side of the picture in device pixels.
  var pixels: Int { unsafe size * Int(gtk_widget_get_scale_factor(picture)) }

  func bind(_ index: Int, name: String, wasInMemory: Bool) {
    self.index = index
    self.wasInMemory = wasInMemory
    (shown, hasFlashed, beganWithImage) = (nil, false, nil)
    unsafe gtk_label_set_text(cast(label), name)
  }

  func unbind() {
    (index, shown) = (nil, nil)
  }

  /// Returns `true` if any part of the picture is visible within `view`.
  func isVisible(in view: UnsafeMutablePointer<GtkWidget>) -> Bool {
    guard index != nil, unsafe gtk_widget_get_mapped(picture) != 0 else { return false }
    var bounds = graphene_rect_t()
    // Both are in one window; without a common parent the call fails.
    guard unsafe gtk_widget_compute_bounds(picture, view, &bounds) != 0 else { return false }
    return bounds.size.height > 0 && bounds.origin.y + bounds.size.height > 0
      && bounds.origin.y < Float(unsafe gtk_widget_get_height(view))
  }
}

/// The counts of one style of cells.
struct CellCounts {
  var cellsMade = 0
  var binds = 0
  var loadsStarted = 0
  var loadsCancelled = 0
  var fromMemory = 0
  var fromDisk = 0
  var fromNetwork = 0

  var shown: Int { fromMemory + fromDisk + fromNetwork }
}

/// A style of cells of the grid.
@MainActor
protocol CellStyle: AnyObject {
  /// Returns a `GtkListItemFactory` with a reference for the caller.
  func makeFactory() -> OpaquePointer
  /// The existing cells.
  var cells: [GridCell] { get }
  var counts: CellCounts { get }
}

/// Returns the index of an item of the gallery; the model is a list of numbers as text.
func index(of item: UnsafeMutablePointer<GObject>) -> Int {
  // Every item of the gallery's model is a `GtkStringObject`, whose text lives as long as it does.
  let text = unsafe gtk_string_object_get_string(cast(item))
  return unsafe text.flatMap { unsafe Int(String(cString: $0)) } ?? 0
}
