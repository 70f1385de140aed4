import CGTK
import Vitrine
import VitrineGTK
import VitrineRuntime

/// A cell of the grid, for the audit.
@MainActor
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
  let picture: Widget
  /// The widget that fills the cell.
  let root: Widget
  private let size: Int
  private let label = Widget.label("", "name")

  init(picture: Widget, size: Int) {
    (self.picture, self.size) = (picture, size)
    root = .box(GTK_ORIENTATION_VERTICAL, spacing: 6, [picture.addClass("picture"), label.minimumSize(width: size)])
    root.addClass("cell").aligned(GTK_ALIGN_CENTER)
    label.set("ellipsize", PANGO_ELLIPSIZE_MIDDLE)
    label.set("max-width-chars", 1)
  }

  /// The side of the picture in device pixels.
  var pixels: Int { size * picture.scale }

  func bind(_ index: Int, name: String, wasInMemory: Bool) {
    self.index = index
    self.wasInMemory = wasInMemory
    (shown, hasFlashed, beganWithImage) = (nil, false, nil)
    label.text = name
  }

  func unbind() {
    (index, shown) = (nil, nil)
  }

  /// Returns `true` if any part of the picture is visible within `view`.
  func isVisible(in view: Widget) -> Bool {
    guard index != nil, picture.isMapped else { return false }
    var bounds = graphene_rect_t()
    // Both are in one window; without a common parent the call fails.
    guard unsafe gtk_widget_compute_bounds(picture.pointer, view.pointer, &bounds) != 0 else { return false }
    return bounds.size.height > 0 && bounds.origin.y + bounds.size.height > 0
      && bounds.origin.y < Float(view.size.height)
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
  /// The `GtkListItemFactory`.
  var factory: GTKObject { get }
  /// The existing cells.
  var cells: [GridCell] { get }
  var counts: CellCounts { get }
}

/// Returns the index of an item of the list of numbers.
@MainActor
func index(of item: UnsafeMutablePointer<GObject>) -> Int { unsafe item.text.flatMap { Int($0) } ?? 0 }
