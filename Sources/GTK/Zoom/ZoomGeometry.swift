import Vitrine
import VitrineImaging

/// The place of a picture on the screen: enlarged, moved and turned.
///
/// Lengths on the screen are device pixels. The *frame* is the viewport before the picture is mirrored and turned; it has the
/// axes of the upright picture. What is wished for (a zoom, a place in the middle) is kept, and limited where it is used: turning four
/// times, or making the window smaller and large again, changes nothing.
struct ZoomGeometry: Equatable {
  /// The largest zoom of a picture that is made of pixels.
  static let maximumZoom = 32.0

  /// A place in pixels, of the picture or of the screen.
  struct Point: Equatable {
    var x: Double
    var y: Double
  }

  /// A tile and its place in the frame.
  struct PlacedTile: Equatable {
    let place: TilePlace
    /// All of its pixels; a part may be outside the picture.
    let bounds: DeviceRectangle
    /// The part that can be seen.
    let visible: DeviceRectangle
  }

  let grid: TileGrid
  /// True if the picture has no pixels of its own, so that it may be shown at any size.
  var isDrawing: Bool { grid.levels.lowerBound < 0 }
  /// True if the pixels of levels are counted from the right, or from the bottom, since the file is stored that way.
  let countsFromRight: Bool
  let countsFromBottom: Bool

  private(set) var width: Int
  private(set) var height: Int
  /// The number of device pixels in a point.
  private(set) var scale: Double
  /// The quarter turns, clockwise: 0 to 3.
  private(set) var turns = 0
  /// True if the picture is mirrored left to right, before it is turned.
  private(set) var isMirrored = false
  /// True if the whole picture is shown, whatever the size of the viewport.
  private(set) var isFitting = true
  private var wantedZoom = 1.0
  private var wantedCenter: Point

  init(
    _ grid: TileGrid,
    orientation: Orientation = .up,
    width: Int,
    height: Int,
    scale: Double = 1,
  ) {
    self.grid = grid
    // Where the first stored pixel is in the upright picture.
    let first = orientation.upright(x: 0, y: 0, width: 2, height: 2)
    (countsFromRight, countsFromBottom) = (first.x > 0, first.y > 0)
    (self.width, self.height, self.scale) = (max(1, width), max(1, height), scale)
    wantedCenter = Point(x: Double(grid.width) / 2, y: Double(grid.height) / 2)
  }

  // MARK: The viewport

  mutating func setViewport(width: Int, height: Int, scale: Double) {
    (self.width, self.height, self.scale) = (max(1, width), max(1, height), scale)
  }

  private var isSideways: Bool { turns % 2 == 1 }

  /// The size of the viewport as the upright picture sees it.
  var frame: (width: Int, height: Int) { isSideways ? (height, width) : (width, height) }

  /// Returns the place in the frame of a place on the screen.
  func framePoint(_ point: Point) -> Point {
    let (width, height) = (Double(width), Double(height))
    let turned =
      switch turns {
      case 1: Point(x: point.y, y: width - point.x)
      case 2: Point(x: width - point.x, y: height - point.y)
      case 3: Point(x: height - point.y, y: point.x)
      default: point
      }
    return mirrored(turned)
  }

  private func mirrored(_ point: Point) -> Point {
    isMirrored ? Point(x: Double(frame.width) - point.x, y: point.y) : point
  }

  /// Returns the place on the screen of a place in the frame.
  func screenPoint(_ point: Point) -> Point {
    let (width, height, point) = (Double(width), Double(height), mirrored(point))
    return switch turns {
    case 1: Point(x: width - point.y, y: point.x)
    case 2: Point(x: width - point.x, y: height - point.y)
    case 3: Point(x: point.y, y: height - point.x)
    default: point
    }
  }

  // MARK: Zoom

  /// The zoom at which the whole picture is shown, not enlarged unless it is a drawing.
  var fittingZoom: Double {
    let frame = frame
    let most = isDrawing ? min(Double(frame.width), Double(frame.height)) : 1
    return min(most, Double(frame.width) / Double(grid.width), Double(frame.height) / Double(grid.height))
  }

  /// The zooms that there are.
  var zooms: ClosedRange<Double> {
    let fit = fittingZoom
    let most = isDrawing ? Self.power(-grid.levels.lowerBound) : Self.maximumZoom
    return fit...max(fit, most)
  }

  /// The number of device pixels of a pixel of the picture.
  var zoom: Double {
    let zooms = zooms
    return isFitting ? zooms.lowerBound : min(max(wantedZoom, zooms.lowerBound), zooms.upperBound)
  }

  /// Shows the whole picture.
  mutating func fit() {
    isFitting = true
    wantedCenter = Point(x: Double(grid.width) / 2, y: Double(grid.height) / 2)
  }

  /// Changes the zoom, so that what is shown at a point of the screen stays there; in the middle by default.
  mutating func zoom(to new: Double, at point: Point? = nil) {
    guard new.isFinite else { return }
    let frame = frame
    let middle = Point(x: Double(frame.width) / 2, y: Double(frame.height) / 2)
    let fixed = point.map(framePoint) ?? middle
    let kept = picturePoint(inFrame: fixed)
    guard new > fittingZoom * (1 + 1e-9) else { return fit() }
    isFitting = false
    wantedZoom = min(new, zooms.upperBound)
    wantedCenter = Point(
      x: kept.x + (middle.x - fixed.x) / wantedZoom,
      y: kept.y + (middle.y - fixed.y) / wantedZoom,
    )
    wantedCenter = center
  }

  /// Moves the picture by a distance on the screen.
  mutating func pan(x: Double, y: Double) {
    guard x.isFinite, y.isFinite, !isFitting else { return }
    let (from, to) = (framePoint(Point(x: 0, y: 0)), framePoint(Point(x: x, y: y)))
    let (zoom, old) = (zoom, center)
    wantedCenter = Point(x: old.x - (to.x - from.x) / zoom, y: old.y - (to.y - from.y) / zoom)
    wantedCenter = center
  }

  /// Turns the picture clockwise; the place in the middle stays there.
  mutating func rotate(quarters: Int) { turns = ((turns + quarters % 4) % 4 + 4) % 4 }

  /// Mirrors what is on the screen; the place in the middle stays there.
  mutating func flip(_ axis: ImageProcessor.FlipAxis) {
    isMirrored.toggle()
    // The mirror comes before the turn, which it reverses.
    turns = (axis == .horizontal ? 4 - turns : 6 - turns) % 4
  }

  /// Returns whether the picture reaches out of the viewport, across and down on the screen.
  var reachesOut: (across: Bool, down: Bool) {
    let (extent, frame) = (extent, frame)
    let (across, down) = (extent.width > frame.width, extent.height > frame.height)
    return isSideways ? (down, across) : (across, down)
  }

  // MARK: Places

  /// The size of the whole picture on the screen.
  private var extent: (width: Int, height: Int) {
    let zoom = zoom
    return (Self.length(grid.width, zoom), Self.length(grid.height, zoom))
  }

  private static func length(_ pixels: Int, _ zoom: Double) -> Int { max(1, Int((Double(pixels) * zoom).rounded())) }

  /// The exact place of the picture's upper left corner in the frame.
  private var corner: Point {
    let (frame, zoom) = (frame, zoom)
    func start(_ length: Int, _ frame: Int, _ center: Double) -> Double {
      let (length, frame) = (Double(length) * zoom, Double(frame))
      return length <= frame ? (frame - length) / 2 : min(0, max(frame - length, frame / 2 - center * zoom))
    }
    return Point(
      x: start(grid.width, frame.width, wantedCenter.x),
      y: start(grid.height, frame.height, wantedCenter.y),
    )
  }

  /// The place of the picture that is in the middle of the viewport.
  var center: Point {
    let (frame, zoom, corner) = (frame, zoom, corner)
    return Point(
      x: (Double(frame.width) / 2 - corner.x) / zoom,
      y: (Double(frame.height) / 2 - corner.y) / zoom,
    )
  }

  private func picturePoint(inFrame point: Point) -> Point {
    let (zoom, corner) = (zoom, corner)
    return Point(x: (point.x - corner.x) / zoom, y: (point.y - corner.y) / zoom)
  }

  /// Returns the place in the picture of a place on the screen.
  func picturePoint(_ point: Point) -> Point { picturePoint(inFrame: framePoint(point)) }

  /// Returns the place on the screen of a place in the picture; it is drawn up to a pixel beside it.
  func screenPoint(ofPicture point: Point) -> Point {
    let (zoom, corner) = (zoom, corner)
    return screenPoint(Point(x: corner.x + point.x * zoom, y: corner.y + point.y * zoom))
  }

  /// The picture in the frame, in whole pixels.
  ///
  /// Everything is drawn from its upper left corner on, so that moving the picture draws the same pixels elsewhere.
  var picture: DeviceRectangle {
    let (frame, extent, corner) = (frame, extent, corner)
    func start(_ length: Int, _ frame: Int, _ exact: Double) -> Int {
      length <= frame ? (frame - length) / 2 : min(0, max(frame - length, Int(exact.rounded())))
    }
    let x = start(extent.width, frame.width, corner.x)
    let y = start(extent.height, frame.height, corner.y)
    return DeviceRectangle(left: x, top: y, right: x + extent.width, bottom: y + extent.height)
  }

  /// The viewport in the frame.
  var viewport: DeviceRectangle { DeviceRectangle(left: 0, top: 0, right: frame.width, bottom: frame.height) }

  // MARK: Tiles

  /// Returns 2 to a power.
  static func power(_ exponent: Int) -> Double { Double(sign: .plus, exponent: exponent, significand: 1) }

  /// The coarsest level that has a pixel for each pixel of the screen; if there is none, the finest.
  var level: Int {
    // A little less, so that a level of exactly the size counts.
    let level = -((zoom * (1 - 1e-9)).exponent + 1)
    return min(max(level, grid.levels.lowerBound), grid.levels.upperBound)
  }

  /// Returns the number of device pixels of a level's pixel.
  func enlargement(ofLevel level: Int) -> Double { zoom * Self.power(level) }

  /// Returns the visible tiles of a level, those in the middle first.
  func tiles(ofLevel level: Int) -> [PlacedTile] { tiles(ofLevel: level, within: viewport) }

  /// Returns the tiles of a level in a part of the frame, those in its middle first.
  func tiles(ofLevel level: Int, within area: DeviceRectangle) -> [PlacedTile] {
    let (size, picture) = (grid.size(of: level), picture)
    let part = area.intersection(picture).intersection(viewport)
    guard !part.isEmpty else { return [] }
    let columns = spans(
      level,
      TileGrid.side,
      count: size.width,
      start: countsFromRight ? Double(grid.width) - Double(size.width) * Self.power(level) : 0,
      from: picture.left,
      part.left..<part.right,
    )
    let rows = spans(
      level,
      TileGrid.side,
      count: size.height,
      start: countsFromBottom ? Double(grid.height) - Double(size.height) * Self.power(level) : 0,
      from: picture.top,
      part.top..<part.bottom,
    )
    var tiles: [(distance: Int, tile: PlacedTile)] = []
    tiles.reserveCapacity(rows.count * columns.count)
    for row in rows {
      for column in columns {
        let bounds = DeviceRectangle(left: column.start, top: row.start, right: column.end, bottom: row.end)
        let place = TilePlace(level: level, column: column.index, row: row.index)
        let x = bounds.left + bounds.right - part.left - part.right
        let y = bounds.top + bounds.bottom - part.top - part.bottom
        tiles.append((x * x + y * y, PlacedTile(place: place, bounds: bounds, visible: bounds.intersection(part))))
      }
    }
    tiles.sort {
      ($0.distance, $0.tile.place.row, $0.tile.place.column) < ($1.distance, $1.tile.place.row, $1.tile.place.column)
    }
    return tiles.map(\.tile)
  }

  /// A part of an axis, in device pixels of the frame.
  typealias Span = (index: Int, start: Int, end: Int)

  /// Cuts an axis of a level into pieces of `side` pixels, and returns the pieces in a range of the frame.
  ///
  /// The level begins at the picture's pixel `start`; the picture begins at `origin` in the frame.
  private func spans(
    _ level: Int,
    _ side: Int,
    count: Int,
    start: Double,
    from origin: Int,
    _ range: Range<Int>,
  ) -> [Span] {
    let (zoom, unit) = (zoom, Self.power(level))
    func edge(_ pixel: Int) -> Int { origin + Int(((start + Double(min(pixel, count)) * unit) * zoom).rounded()) }
    let last = (count - 1) / side
    // About where the range begins and ends; the edges say it exactly.
    func index(_ place: Int) -> Int {
      let index = (Double(place - origin) / zoom - start) / unit / Double(side)
      return Int(min(max(index, 0), Double(last)))
    }
    return (max(0, index(range.lowerBound) - 1)...min(last, index(range.upperBound) + 1)).compactMap { index in
      // A picture that is thinner than a pixel of the screen is shown.
      let (start, end) = (edge(index * side), max(edge((index + 1) * side), last == 0 ? origin + 1 : .min))
      return start < range.upperBound && end > range.lowerBound && start < end ? (index, start, end) : nil
    }
  }

  /// Returns the parts of `side` x `side` pixels of level 0 in a part of the frame, in no particular order.
  func blocks(ofSide side: Int, within area: DeviceRectangle) -> [(column: Int, row: Int, bounds: DeviceRectangle)] {
    let picture = picture
    let part = area.intersection(picture).intersection(viewport)
    guard !part.isEmpty else { return [] }
    let columns = spans(0, side, count: grid.width, start: 0, from: picture.left, part.left..<part.right)
    let rows = spans(0, side, count: grid.height, start: 0, from: picture.top, part.top..<part.bottom)
    return rows.flatMap { row in
      columns.map { column in
        let bounds = DeviceRectangle(left: column.start, top: row.start, right: column.end, bottom: row.end)
        return (column.index, row.index, bounds)
      }
    }
  }
}

/// A rectangle of whole device pixels.
struct DeviceRectangle: Hashable {
  var left: Int
  var top: Int
  var right: Int
  var bottom: Int

  var width: Int { right - left }
  var height: Int { bottom - top }
  var isEmpty: Bool { left >= right || top >= bottom }

  func intersection(_ other: DeviceRectangle) -> DeviceRectangle {
    DeviceRectangle(
      left: max(left, other.left),
      top: max(top, other.top),
      right: min(right, other.right),
      bottom: min(bottom, other.bottom),
    )
  }
}
