import CGTK
import CVitrineGTK
import Vitrine
import VitrineImaging

/// The tiles that are drawn for a place of the picture.
struct ZoomPlan {
  private(set) var level = 0
  private(set) var tiles: [ZoomGeometry.PlacedTile] = []
  /// The size of the whole picture on the screen.
  private var size = (width: 0, height: 0)

  init() {}

  /// Plans the level that has a pixel for each of the screen; a coarser one if its tiles are too many for the memory.
  @MainActor
  init(_ geometry: ZoomGeometry, _ tiles: ZoomTiles, memoryLimit: Int) {
    size = (geometry.picture.width, geometry.picture.height)
    level = geometry.level
    self.tiles = geometry.tiles(ofLevel: level)
    let most = memoryLimit / 4 * 3
    while level < geometry.grid.levels.upperBound, self.tiles.count * 4 * TileGrid.side * TileGrid.side > most {
      level += 1
      self.tiles = geometry.tiles(ofLevel: level)
    }
  }

  /// Returns whether the overview has as many pixels as the picture on the screen.
  @MainActor
  func usesOverview(_ tiles: ZoomTiles) -> Bool {
    guard tiles.isOverviewFinished, let overview = tiles.overview?.bitmap else { return false }
    // Sides are rounded here and there.
    return overview.width >= size.width - 1 && overview.height >= size.height - 1
  }

  /// Returns whether all that is visible is as sharp as it can be.
  @MainActor
  func isComplete(_ tiles: ZoomTiles) -> Bool {
    if usesOverview(tiles) { return true }
    return !self.tiles.isEmpty && self.tiles.allSatisfy { tiles.has($0.place) }
  }
}

/// The chequerboard beneath a picture, and the line around it.
struct ZoomBacking {
  /// True if transparent parts are over a chequerboard.
  var hasChequers = false
  /// The colour of a line around the picture; `nil` for none.
  var outline: PixelColor?

  /// The side of a square, in points.
  static let square: Float = 10
  static let colors = (PixelColor(0xC4C4C4), PixelColor(0xE6E6E6))
}

/// The drawing of a picture at a frame.
///
/// Where a tile is missing, the picture is drawn of finer or coarser ones, or of the overview. Nothing is drawn through
/// anything else that is translucent.
@MainActor
@safe
struct ZoomDrawing {
  /// The time for enlarging pixels at a frame, in microseconds.
  static let enlargingTime: gint64 = 1800
  /// The enlargement up to which pixels are smoothed.
  static let smoothEnlargement = 2.0

  private let snapshot: OpaquePointer
  private let geometry: ZoomGeometry
  private let tiles: ZoomTiles
  private let plan: ZoomPlan
  private let standIn: ZoomStandIn
  private let nearest: VitrineScaledTexture?
  private let backing: ZoomBacking
  private let hasTime: () -> Bool
  /// True if some pixels are still smooth that are to be crisp.
  private(set) var isUnfinished = false

  init(
    _ snapshot: OpaquePointer,
    _ geometry: ZoomGeometry,
    _ tiles: ZoomTiles,
    _ plan: ZoomPlan,
    _ standIn: ZoomStandIn,
    _ nearest: VitrineScaledTexture?,
    _ backing: ZoomBacking,
    hasTime: @escaping () -> Bool,
  ) {
    unsafe self.snapshot = snapshot
    unsafe self.nearest = nearest
    (self.geometry, self.tiles, self.plan, self.standIn, self.hasTime) = (geometry, tiles, plan, standIn, hasTime)
    self.backing = backing
  }

  private var isOpaque: Bool { !tiles.provider.info.hasAlpha }

  /// Draws the picture as it is now, or a frame of an animation, which is the whole picture.
  mutating func draw(_ frame: Texture?) {
    unsafe gtk_snapshot_save(snapshot)
    defer { unsafe gtk_snapshot_restore(snapshot) }
    turn()
    let shown = geometry.picture.intersection(geometry.viewport)
    guard !shown.isEmpty else { return }
    push(shown)
    if backing.hasChequers, !isOpaque { drawChequers(shown) }
    if let frame { drawFrame(frame) } else { drawTiles() }
    unsafe gtk_snapshot_pop(snapshot)
    if let color = backing.outline {
      unsafe rectangle(geometry.picture).grown(by: 1).drawOutline(color, into: snapshot)
    }
  }

  private func drawChequers(_ shown: DeviceRectangle) {
    let side = ZoomBacking.square
    var (bounds, whole) = (rectangle(shown).bounds, graphene_rect_t())
    whole.size = graphene_size_t(width: 2 * side, height: 2 * side)
    // GTK copies rectangles and colours.
    unsafe gtk_snapshot_push_repeat(snapshot, &bounds, &whole)
    var color = GdkRGBA(ZoomBacking.colors.1)
    unsafe gtk_snapshot_append_color(snapshot, &color, &whole)
    color = GdkRGBA(ZoomBacking.colors.0)
    for start in [0, side] {
      var square = graphene_rect_t(
        origin: graphene_point_t(x: start, y: start),
        size: graphene_size_t(width: side, height: side),
      )
      unsafe gtk_snapshot_append_color(snapshot, &color, &square)
    }
    unsafe gtk_snapshot_pop(snapshot)
  }

  private func drawFrame(_ frame: Texture) {
    if geometry.zoom > Self.smoothEnlargement, let nearest = unsafe nearest {
      var bounds = rectangle(geometry.picture).bounds
      // GTK copies the rectangle and takes a reference to the texture.
      unsafe vitrine_gtk_call_nearest(nearest, snapshot, frame.pointer, &bounds)
    } else {
      draw(frame, geometry.picture)
    }
  }

  private mutating func drawTiles() {
    if plan.usesOverview(tiles) { return drawOverview() }
    let missing = plan.tiles.filter { !tiles.has($0.place) }
    if missing.count == plan.tiles.count, !tiles.hasTextures {
      drawOverview()
    } else if isOpaque {
      drawInsteadOpaquely(missing)
    } else {
      for tile in missing { drawInstead(tile) }
    }
    let enlargement = geometry.enlargement(ofLevel: plan.level)
    let isCrisp = enlargement > Self.smoothEnlargement && plan.level == 0
    for tile in plan.tiles {
      guard let texture = tiles.texture(tile.place) else { continue }
      if isCrisp { drawCrisply(tile, texture, enlargement) } else { draw(texture, tile.bounds) }
    }
  }

  /// Turns the frame to the screen, and mirrors it before that.
  private func turn() {
    if geometry.turns > 0 { rotate() }
    guard geometry.isMirrored else { return }
    var edge = graphene_point_t(x: Float(Double(geometry.frame.width) / geometry.scale), y: 0)
    // GTK copies the point.
    unsafe gtk_snapshot_translate(snapshot, &edge)
    unsafe gtk_snapshot_scale(snapshot, -1, 1)
  }

  private func rotate() {
    let (width, height) = (
      Float(Double(geometry.width) / geometry.scale), Float(Double(geometry.height) / geometry.scale),
    )
    var point = graphene_point_t()
    switch geometry.turns {
    case 1: point.x = width
    case 2: (point.x, point.y) = (width, height)
    default: point.y = height
    }
    // GTK copies the point.
    unsafe gtk_snapshot_translate(snapshot, &point)
    unsafe gtk_snapshot_rotate(snapshot, Float(90 * geometry.turns))
  }

  private func rectangle(_ pixels: DeviceRectangle) -> PictureRectangle {
    let scale = geometry.scale
    return PictureRectangle(
      x: Double(pixels.left) / scale,
      y: Double(pixels.top) / scale,
      width: Double(pixels.width) / scale,
      height: Double(pixels.height) / scale,
    )
  }

  private func push(_ pixels: DeviceRectangle) {
    var bounds = rectangle(pixels).bounds
    // GTK copies the rectangle.
    unsafe gtk_snapshot_push_clip(snapshot, &bounds)
  }

  private func draw(_ texture: Texture, _ pixels: DeviceRectangle) {
    unsafe texture.draw(into: snapshot, rectangle(pixels))
  }

  // MARK: In place of tiles

  private func drawOverview() {
    let isPartial = !tiles.isOverviewFinished
    // Rows that are missing show the placeholder; under a translucent picture it would shine through.
    if tiles.overview == nil || isPartial && isOpaque {
      unsafe standIn.draw(into: snapshot, rectangle(geometry.picture))
    }
    guard let overview = tiles.overview else { return }
    var place = geometry.picture
    let (width, height) = (overview.bitmap.width, overview.bitmap.height)
    // At its own size it is sharp, and drawn in a fourth of the time.
    if abs(width - place.width) <= 1, abs(height - place.height) <= 1 {
      (place.right, place.bottom) = (place.left + width, place.top + height)
    }
    draw(overview, place)
  }

  /// Returns the tiles of another level that stand for a tile; `nil` if that needs the overview.
  private func standIns(for tile: ZoomGeometry.PlacedTile) -> [ZoomGeometry.PlacedTile]? {
    let levels = geometry.grid.levels
    for level in [plan.level - 1] + Array(plan.level + 1...max(plan.level + 1, levels.upperBound))
    where levels.contains(level) {
      let others = geometry.tiles(ofLevel: level, within: tile.visible)
      if others.allSatisfy({ tiles.has($0.place) }) { return others }
    }
    return nil
  }

  private func drawInstead(_ tile: ZoomGeometry.PlacedTile) {
    push(tile.visible)
    defer { unsafe gtk_snapshot_pop(snapshot) }
    guard let others = standIns(for: tile) else { return drawOverview() }
    for other in others {
      guard let texture = tiles.texture(other.place) else { continue }
      // Clipped, since tiles of coarse levels may overlap by a pixel.
      push(other.visible)
      draw(texture, other.bounds)
      unsafe gtk_snapshot_pop(snapshot)
    }
  }

  /// Draws each texture once, one over the other.
  private func drawInsteadOpaquely(_ missing: [ZoomGeometry.PlacedTile]) {
    var needsOverview: DeviceRectangle?
    var others: [TilePlace: ZoomGeometry.PlacedTile] = [:]
    for tile in missing {
      if let found = standIns(for: tile) {
        for other in found { others[other.place] = other }
      } else {
        needsOverview = needsOverview.map { $0.union(tile.visible) } ?? tile.visible
      }
    }
    if let area = needsOverview {
      push(area)
      drawOverview()
      unsafe gtk_snapshot_pop(snapshot)
    }
    // The coarsest first.
    for other in others.values.sorted(by: { $0.place.level > $1.place.level }) {
      if let texture = tiles.texture(other.place) { draw(texture, other.bounds) }
    }
  }

  // MARK: Crisp pixels

  private mutating func drawCrisply(_ tile: ZoomGeometry.PlacedTile, _ texture: Texture, _ enlargement: Double) {
    if let nearest = unsafe nearest {
      var bounds = rectangle(tile.bounds).bounds
      // GTK copies the rectangle and takes a reference to the texture.
      unsafe vitrine_gtk_call_nearest(nearest, snapshot, texture.pointer, &bounds)
      return
    }
    let factor = EnlargedBlock.factor(for: enlargement)
    var (ready, missing): ([(Texture, DeviceRectangle)], [DeviceRectangle]) = ([], [])
    for place in geometry.blocks(ofSide: EnlargedBlock.side(for: factor), within: tile.visible) {
      let block = EnlargedBlock(column: place.column, row: place.row, factor: factor)
      if let enlarged = tiles.enlarged(block, mayMake: hasTime()) {
        ready.append((enlarged, place.bounds))
      } else {
        missing.append(place.bounds.intersection(tile.visible))
      }
    }
    if let first = missing.first {
      isUnfinished = true
      for area in isOpaque ? [missing.dropFirst().reduce(first) { $0.union($1) }] : missing {
        push(area)
        draw(texture, tile.bounds)
        unsafe gtk_snapshot_pop(snapshot)
      }
    }
    for (enlarged, bounds) in ready { draw(enlarged, bounds) }
  }
}

extension DeviceRectangle {
  /// Returns the smallest rectangle around both.
  func union(_ other: DeviceRectangle) -> DeviceRectangle {
    DeviceRectangle(
      left: min(left, other.left),
      top: min(top, other.top),
      right: max(right, other.right),
      bottom: max(bottom, other.bottom),
    )
  }
}
