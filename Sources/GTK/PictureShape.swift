import CGTK
import Vitrine

/// The outline of a picture.
public enum PictureShape: Sendable, Hashable {
  /// A rectangle.
  case rectangle
  /// A rectangle with round corners, of a radius in points; a radius that is too large for the picture makes a pill.
  case rounded(radius: Double)
  /// The largest circle in the middle of the picture.
  case circle

  /// Calls `body` with drawing limited to the shape within a rectangle.
  @MainActor
  func clip(_ snapshot: OpaquePointer, to rectangle: PictureRectangle, _ body: () -> Void) {
    var bounds = rectangle.bounds
    switch self {
    case .rectangle: return body()
    case .rounded(let radius):
      guard radius.isFinite, radius > 0 else { return body() }
      unsafe push(snapshot, &bounds, radius: min(radius, rectangle.width / 2, rectangle.height / 2))
    case .circle:
      let side = min(rectangle.width, rectangle.height)
      var middle = PictureRectangle(
        x: rectangle.x + (rectangle.width - side) / 2,
        y: rectangle.y + (rectangle.height - side) / 2,
        width: side,
        height: side,
      ).bounds
      unsafe push(snapshot, &middle, radius: side / 2)
    }
    body()
    unsafe gtk_snapshot_pop(snapshot)
  }

  private func push(_ snapshot: OpaquePointer, _ bounds: inout graphene_rect_t, radius: Double) {
    var outline = GskRoundedRect()
    // GTK copies the outline.
    unsafe gsk_rounded_rect_init_from_rect(&outline, &bounds, Float(radius))
    unsafe gtk_snapshot_push_rounded_clip(snapshot, &outline)
  }
}

/// A rectangle in the points of a widget.
struct PictureRectangle: Hashable {
  var x = 0.0
  var y = 0.0
  var width: Double
  var height: Double

  var bounds: graphene_rect_t {
    var bounds = graphene_rect_t()
    _ = unsafe graphene_rect_init(&bounds, Float(x), Float(y), Float(width), Float(height))
    return bounds
  }

  /// Returns the part that is within 0, 0, width, height.
  func clipped(width most: Double, height highest: Double) -> PictureRectangle {
    let (left, top) = (max(0, x), max(0, y))
    return PictureRectangle(
      x: left,
      y: top,
      width: max(0, min(most, x + width) - left),
      height: max(0, min(highest, y + height) - top),
    )
  }
}

extension PictureRectangle {
  /// Returns a rectangle with so many points more on each side.
  func grown(by points: Double) -> PictureRectangle {
    PictureRectangle(x: x - points, y: y - points, width: width + 2 * points, height: height + 2 * points)
  }

  /// Draws a line of a point along the inside of the edge.
  @MainActor
  func drawOutline(_ color: PixelColor, into snapshot: OpaquePointer) {
    var (outline, bounds) = (GskRoundedRect(), bounds)
    unsafe gsk_rounded_rect_init_from_rect(&outline, &bounds, 0)
    let widths = [Float](repeating: 1, count: 4)
    let colors = [GdkRGBA](repeating: GdkRGBA(color), count: 4)
    // Four of each, which GTK copies.
    unsafe gtk_snapshot_append_border(snapshot, &outline, widths, colors)
  }
}

/// The place of a bitmap within a widget.
struct PicturePlace {
  /// The way a bitmap is fitted into a box.
  enum Fit {
    /// By its mode, never larger than its pixels unless it has to cover the box.
    case image
    /// Like the image that it stands for: its own pixels are few.
    case placeholder
  }

  var mode: TargetSize.Mode
  var alignment: Anchor
  /// The number of device pixels in a point.
  var scale: Double

  /// Returns the rectangle in which to draw a bitmap: exactly its pixels if the display has as many there.
  ///
  /// A bitmap that covers the box reaches out of it.
  func rectangle(of bitmap: Bitmap, in width: Double, _ height: Double, _ fit: Fit) -> PictureRectangle {
    // In device pixels first, which decide whether a picture is sharp.
    let (boxWidth, boxHeight) = ((width * scale).rounded(), (height * scale).rounded())
    let (scaleX, scaleY) = (boxWidth / Double(bitmap.width), boxHeight / Double(bitmap.height))
    var (drawnWidth, drawnHeight) = (boxWidth, boxHeight)
    switch mode {
    case .exact: break
    case .fill:
      let factor = max(scaleX, scaleY)
      (drawnWidth, drawnHeight) = (Double(bitmap.width) * factor, Double(bitmap.height) * factor)
    case .fit:
      let most = fit == .image ? 1 : Double.infinity
      let factor = min(scaleX, scaleY, most)
      (drawnWidth, drawnHeight) = (Double(bitmap.width) * factor, Double(bitmap.height) * factor)
    }
    return PictureRectangle(
      x: ((boxWidth - drawnWidth) * alignment.x).rounded(.down) / scale,
      y: ((boxHeight - drawnHeight) * alignment.y).rounded(.down) / scale,
      width: drawnWidth / scale,
      height: drawnHeight / scale,
    )
  }
}
