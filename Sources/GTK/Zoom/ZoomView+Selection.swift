import CGTK
import Vitrine

// The part of the picture that the user chooses. Every change is made on the screen, where directions and ratios are seen, and kept
// in pixels of the picture.
extension ZoomView {
  /// The distance of an arrow key, in points.
  private static let arrowDistance = 8.0
  /// The least side of a part, in points.
  private static let leastSide = 16.0

  /// The state of the choice.
  struct Selecting {
    var selection: ZoomSelection?
    var ratio: Double?
    var selectablePart: ((PixelRegion) -> PixelRegion)?
    var isPreviewed = false
  }

  /// The part of the picture that the user chooses; `nil` for none.
  var selection: ZoomSelection? {
    get { selecting.selection }
    set {
      guard newValue != selection else { return }
      selecting.selection = newValue
      redraw()
    }
  }

  /// The width over the height of the part on the screen; `nil` for any.
  var selectionRatio: Double? {
    get { selecting.ratio }
    set {
      guard newValue != selecting.ratio else { return }
      selecting.ratio = newValue
      ratioChanged()
    }
  }

  /// Returns the part to select in place of the user's choice; `nil` for that itself.
  var selectablePart: ((PixelRegion) -> PixelRegion)? {
    get { selecting.selectablePart }
    set {
      selecting.selectablePart = newValue
      selectionChanged()
    }
  }

  /// True if only the part is shown.
  var previewsSelection: Bool {
    get { selecting.isPreviewed }
    set {
      selecting.isPreviewed = newValue
      redraw()
    }
  }

  private static let shade = PixelColor(red: 0, green: 0, blue: 0, alpha: 150)
  private static let outside = PixelColor(red: 0, green: 0, blue: 0, alpha: 255)
  private static let line = PixelColor(red: 255, green: 255, blue: 255, alpha: 255)
  private static let thirds = PixelColor(red: 255, green: 255, blue: 255, alpha: 90)

  /// The part in whole pixels that can be had.
  var selectedPart: PixelRegion? {
    guard let selection, let grid = geometry?.grid else { return nil }
    let part = selection.part(ofWidth: grid.width, height: grid.height)
    return selectablePart?(part) ?? part
  }

  /// Selects a part, or none.
  func select(_ part: PixelRegion?) {
    guard let part, let grid = geometry?.grid, let inside = part.clipped(width: grid.width, height: grid.height) else {
      selection = nil
      return selectionChanged()
    }
    selection = ZoomSelection(
      box: ZoomSelection.Box(
        left: Double(inside.x),
        top: Double(inside.y),
        right: Double(inside.x + inside.width),
        bottom: Double(inside.y + inside.height),
      )
    )
    ratioChanged()
    selectionChanged()
  }

  func selectionChanged() {
    redraw()
    tellChange()
  }

  // MARK: The screen

  private func onScreen(_ box: ZoomSelection.Box, _ geometry: ZoomGeometry) -> ZoomSelection.Box {
    ZoomSelection.Box(
      geometry.screenPoint(ofPicture: ZoomGeometry.Point(x: box.left, y: box.top)),
      geometry.screenPoint(ofPicture: ZoomGeometry.Point(x: box.right, y: box.bottom)),
    )
  }

  private func bounds(_ geometry: ZoomGeometry) -> ZoomSelection.Box {
    onScreen(
      ZoomSelection.Box(left: 0, top: 0, right: Double(geometry.grid.width), bottom: Double(geometry.grid.height)),
      geometry,
    )
  }

  /// Takes a rectangle on the screen.
  private func take(_ box: ZoomSelection.Box, _ geometry: ZoomGeometry) {
    let new = ZoomSelection.Box(
      geometry.picturePoint(ZoomGeometry.Point(x: box.left, y: box.top)),
      geometry.picturePoint(ZoomGeometry.Point(x: box.right, y: box.bottom)),
    )
    guard new != selection?.box else { return }
    selection = ZoomSelection(box: new)
    selectionChanged()
  }

  func ratioChanged() {
    guard let geometry, let selection, let ratio = selectionRatio else { return }
    take(onScreen(selection.box, geometry).reshaped(ratio, within: bounds(geometry)), geometry)
  }

  // MARK: The pointer

  /// Returns what a drag that begins at a place of the screen changes; `nil` if nothing is being selected.
  func grip(at point: ZoomGeometry.Point) -> ZoomSelection.Grip? {
    guard let geometry, let selection else { return nil }
    let box = onScreen(selection.box, geometry)
    if let edges = box.edges(at: point, reach: ZoomSelection.reach * scale) {
      return ZoomSelection.Grip(edges: edges, box: box)
    }
    // Another rectangle begins here.
    let bounds = bounds(geometry)
    let (x, y) = (min(max(point.x, bounds.left), bounds.right), min(max(point.y, bounds.top), bounds.bottom))
    return ZoomSelection.Grip(edges: [.right, .bottom], box: ZoomSelection.Box(left: x, top: y, right: x, bottom: y))
  }

  /// Changes the rectangle as the pointer has moved since a drag began.
  func dragged(_ grip: ZoomSelection.Grip, by distance: ZoomGeometry.Point) {
    guard let geometry, selection != nil else { return }
    var (edges, bounds) = (grip.edges, bounds(geometry))
    if grip.box.width == 0 {
      // The pointer says in which direction a new rectangle goes.
      edges = [distance.x < 0 ? .left : .right, distance.y < 0 ? .top : .bottom]
    }
    // The whole rectangle stays on the picture, whatever rounding does.
    bounds = ZoomSelection.Box(
      left: min(bounds.left, grip.box.left),
      top: min(bounds.top, grip.box.top),
      right: max(bounds.right, grip.box.right),
      bottom: max(bounds.bottom, grip.box.bottom),
    )
    let least = grip.box.width == 0 ? geometry.zoom : Self.leastSide * scale
    let new = grip.box.dragged(
      edges,
      x: distance.x,
      y: distance.y,
      within: bounds,
      least: least,
      ratio: selectionRatio,
    )
    take(new, geometry)
  }

  /// Shows by the pointer's shape how a drag would change the part.
  func showGrip() {
    guard selection != nil, let pointer, let grip = grip(at: pointer) else {
      return unsafe gtk_widget_set_cursor_from_name(widget, nil)
    }
    unsafe gtk_widget_set_cursor_from_name(widget, grip.box.width == 0 ? "crosshair" : grip.edges.cursor)
  }

  // MARK: The keyboard

  /// Moves the part, or its right and lower edges, by an arrow key; returns `false` for another key.
  func selectionPressed(_ key: UInt32, _ modifiers: GdkModifierType) -> Bool {
    guard let geometry, let selection, modifiers.rawValue & GDK_ALT_MASK.rawValue == 0 else { return false }
    let isFine = modifiers.rawValue & GDK_CONTROL_MASK.rawValue != 0
    let resizes = modifiers.rawValue & GDK_SHIFT_MASK.rawValue != 0
    let step = isFine ? geometry.zoom : max(geometry.zoom, Self.arrowDistance * scale)
    let (x, y): (Double, Double)
    switch Int32(key) {
    case GDK_KEY_Left, GDK_KEY_KP_Left: (x, y) = (-step, 0)
    case GDK_KEY_Right, GDK_KEY_KP_Right: (x, y) = (step, 0)
    case GDK_KEY_Up, GDK_KEY_KP_Up: (x, y) = (0, -step)
    case GDK_KEY_Down, GDK_KEY_KP_Down: (x, y) = (0, step)
    default: return false
    }
    let edges: ZoomSelection.Edges = resizes ? (x != 0 ? .right : .bottom) : []
    let new = onScreen(selection.box, geometry).dragged(
      edges,
      x: x,
      y: y,
      within: bounds(geometry),
      least: min(Self.leastSide * scale, geometry.zoom * 16),
      ratio: selectionRatio,
    )
    take(new, geometry)
    return true
  }

  // MARK: Drawing

  /// Draws what is around the part darker, and its frame; as a preview it hides what is around.
  func drawSelection(into snapshot: OpaquePointer) {
    guard let geometry, let part = selectedPart else { return }
    let scale = geometry.scale
    let all = unsafe PictureRectangle(
      width: Double(gtk_widget_get_width(widget)),
      height: Double(gtk_widget_get_height(widget)),
    )
    let box = onScreen(
      ZoomSelection.Box(
        left: Double(part.x),
        top: Double(part.y),
        right: Double(part.x + part.width),
        bottom: Double(part.y + part.height),
      ),
      geometry,
    )
    // On whole pixels of the display, as the picture is.
    func points(_ value: Double) -> Double { value.rounded() / scale }
    let (left, top, right, bottom) = (points(box.left), points(box.top), points(box.right), points(box.bottom))
    let color = previewsSelection ? Self.outside : Self.shade
    let around = [
      PictureRectangle(width: all.width, height: max(0, top)),
      PictureRectangle(y: bottom, width: all.width, height: max(0, all.height - bottom)),
      PictureRectangle(y: top, width: max(0, left), height: bottom - top),
      PictureRectangle(x: right, y: top, width: max(0, all.width - right), height: bottom - top),
    ]
    for rectangle in around { unsafe fill(rectangle, color, snapshot) }
    guard !previewsSelection else { return }
    let frame = PictureRectangle(x: left, y: top, width: right - left, height: bottom - top)
    unsafe drawFrame(frame, into: snapshot)
  }

  /// Draws the lines of thirds, the outline, and the handles at corners and edges.
  private func drawFrame(_ frame: PictureRectangle, into snapshot: OpaquePointer) {
    for share in [1.0 / 3, 2.0 / 3] {
      let (x, y) = (frame.x + frame.width * share, frame.y + frame.height * share)
      unsafe fill(PictureRectangle(x: x, y: frame.y, width: 1, height: frame.height), Self.thirds, snapshot)
      unsafe fill(PictureRectangle(x: frame.x, y: y, width: frame.width, height: 1), Self.thirds, snapshot)
    }
    unsafe frame.grown(by: 1).drawOutline(Self.line, into: snapshot)
    let side = 9.0
    for across in [0, 0.5, 1] {
      for down in [0, 0.5, 1] where across != 0.5 || down != 0.5 {
        let handle = PictureRectangle(
          x: frame.x + frame.width * across - side / 2,
          y: frame.y + frame.height * down - side / 2,
          width: side,
          height: side,
        )
        unsafe fill(handle, Self.line, snapshot)
        unsafe handle.drawOutline(Self.outside, into: snapshot)
      }
    }
  }

  private func fill(_ rectangle: PictureRectangle, _ color: PixelColor, _ snapshot: OpaquePointer) {
    var (bounds, color) = (rectangle.bounds, GdkRGBA(color))
    // GTK copies both.
    unsafe gtk_snapshot_append_color(snapshot, &color, &bounds)
  }
}
