import CGTK
import VitrineGTK

/// The menus of a picture: of a cell of the grid, and of the open photograph.
@MainActor
final class ContextMenu {
  private let owner: Widget
  /// Kept until it is closed, or the next one opens.
  private var open: Widget?

  /// - Parameter owner: The widget that the menus belong to.
  init(in owner: Widget) { self.owner = owner }

  /// Opens the menu at a place of a widget, in points; in its middle by default.
  func show(_ sections: [[Command]], over widget: Widget, at place: (x: Double, y: Double)? = nil) {
    let place = place ?? (Double(widget.size.width) / 2, Double(widget.size.height) / 2)
    open = widget.open(GalleryMenu.make(sections), x: place.x, y: place.y, in: owner)
  }

  static let ofCell: [[Command]] = [
    [.openPicture, .openWith], [.copy, .copyPixels, .copyTo, .moveTo, .rename, .saveAs, .print, .wallpaper],
    [.trash, .delete], [.info],
  ]
  static let ofPhotograph: [[Command]] = [
    [.previous, .next], [.zoomFit, .zoomActual, .slideshow, .fullscreen],
    [.rotateLeft, .rotateRight, .flipHorizontally, .flipVertically, .crop, .saveTurn],
    [.copy, .copyPixels, .copyTo, .moveTo, .rename, .saveAs, .print, .wallpaper, .openWith], [.trash, .delete],
    [.info],
  ]
}
