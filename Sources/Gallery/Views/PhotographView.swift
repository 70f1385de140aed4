import Vitrine
import VitrineGTK
import VitrineGalleryModel

/// The view of one photograph, which can be enlarged, moved and turned; an animation plays meanwhile.
///
/// The rest of the gallery does not see the widget inside.
@MainActor
@safe
final class PhotographView {
  let widget: Widget
  /// Called when the zoom or the content changes.
  var onChange: () -> Void = {}

  private let photograph: ZoomPicture
  /// The content and zoom that the window was last told of.
  private var told = ""
  /// The index of the page that is shown, of a file with several.
  private(set) var page = 0
  private var item: GalleryItem?

  init(_ pipeline: ImagePipeline) {
    photograph = ZoomPicture(pipeline)
    photograph.showsProgress = true
    photograph.showsRetry = true
    photograph.hasChequerboard = true
    photograph.outline = PixelColor(red: 128, green: 128, blue: 128, alpha: 90)
    photograph.memoryLimit = GalleryPipeline.photographLimit
    photograph.zoomDescription = { "\(Int(($0 * 100).rounded())) %" }
    widget = Widget(photograph)
    widget.addClass("photograph").expands()
    photograph.alternativeText = translated("Photograph")
    photograph.changed = { [weak self] in self?.tell() }
  }

  /// Shows a photograph; `nil` for none.
  ///
  /// - Parameters:
  ///   - item: The photograph.
  ///   - placeholder: Its pixels in another size, until it is there.
  ///   - keepsView: A Boolean value that indicates whether it is a newer version of the shown one.
  func load(_ item: GalleryItem?, placeholder: Bitmap? = nil, keepsView: Bool = false) {
    photograph.alternativeText = item?.name ?? translated("Photograph")
    if item?.id != self.item?.id { page = 0 }
    self.item = item
    // A neighbour that was loaded ahead is in memory at the size of the window.
    let other = placeholder.map { Placeholder.image($0) } ?? .none
    var request = item?.request
    request?.frame = page
    photograph.load(
      request,
      placeholder: keepsView ? .keepCurrent : .cachedVariant(else: other),
      failure: .symbol("image-missing-symbolic"),
    )
    onChange()
  }

  /// The number of pages of a file whose pictures are no animation; 1 for others, and until it is known.
  var pageCount: Int {
    guard let info = photograph.info, info.frameCount > 1, info.duration == 0 else { return 1 }
    return info.frameCount
  }

  /// Shows another page; at the ends it stays.
  func turnPage(by distance: Int) {
    let new = min(max(page + distance, 0), pageCount - 1)
    guard new != page, let item else { return }
    page = new
    load(item, keepsView: true)
  }

  /// The request of a photograph that is not shown yet, at the size that it would have.
  func request(for item: GalleryItem) -> ImageRequest? {
    let (width, height) = widget.size
    guard width > 0, height > 0 else { return nil }
    var request = item.request
    request.size = .pixels(Double(width * widget.scale), Double(height * widget.scale), .fit)
    return request
  }

  func focus() { widget.focus() }

  /// True once there is something of the photograph itself.
  var isLoaded: Bool {
    switch photograph.content {
    case .partial, .complete: true
    case .empty, .loading, .failure: false
    }
  }

  /// The error, if the photograph cannot be shown.
  var error: LoadError? {
    if case .failure(let error) = photograph.content { error } else { nil }
  }

  /// Where the file came from, and whether it was out of date; `nil` until it is known.
  var origin: (ImageResponse.Origin, isStale: Bool)? { photograph.origin.map { ($0, photograph.isStale) } }

  /// The reason why a part of the photograph is missing; `nil` if it is whole, and until it has been read.
  var damage: ImageError? { photograph.damage }

  private func tell() {
    // The window shows none of the places that the photograph is moved to.
    let new =
      "\(photograph.content) \(isFitting ? 0 : zoom) \(damage?.detail ?? "") \(photograph.player == nil) \(edit) \(pageCount)"
    guard new != told else { return }
    told = new
    onChange()
  }

  // MARK: Animations

  /// The player of an animation; `nil` for a still photograph.
  var player: AnimationPlayer? { photograph.player }

  /// A Boolean value that indicates whether animations play.
  var plays: Bool {
    get { photograph.plays }
    set { photograph.plays = newValue }
  }

  /// Shows another frame once it is decoded; from the last one it goes on with the first.
  func step(_ player: AnimationPlayer, by distance: Int, _ done: @escaping @MainActor () -> Void) {
    let count = player.image.frameCount
    let index = ((player.frameIndex + distance) % count + count) % count
    Task {
      _ = try? await player.image.frame(at: index)
      _ = try? player.seek(to: index)
      done()
    }
  }

  // MARK: Zoom

  /// The number of display pixels of a pixel of the photograph; 1 is its actual size.
  var zoom: Double { photograph.zoom }
  /// True if the whole photograph is shown in the window.
  var isFitting: Bool { photograph.isFitting }

  func zoomToFit() { photograph.zoomToFit() }
  func zoom(to zoom: Double) { photograph.zoom(to: zoom) }
  func zoomIn() { photograph.zoomIn() }
  func zoomOut() { photograph.zoomOut() }

  // MARK: Changes

  /// The changes of the photograph that are shown, and not yet saved.
  var edit: PictureEdit {
    var edit = turns
    edit.part = photograph.selection
    return edit
  }

  /// The changes but for the part.
  var turns: PictureEdit { PictureEdit(turns: photograph.turns, isMirrored: photograph.isMirrored) }

  func rotate(quarters: Int) { photograph.rotate(quarters: quarters) }
  func flip(_ axis: ImageProcessor.FlipAxis) { photograph.flip(axis) }

  /// Shows the photograph as it is stored, upright.
  func undoTurns() {
    photograph.rotate(quarters: -photograph.turns)
    if photograph.isMirrored { photograph.flip(.horizontal) }
  }

  // MARK: The part that is kept

  /// Lets the user choose a part, by a frame around most of the photograph; returns `false` while nothing is known of it.
  func beginSelecting() -> Bool {
    guard let info = photograph.info else { return false }
    let (x, y) = (info.width / 10, info.height / 10)
    photograph.selection = PixelRegion(x: x, y: y, width: info.width - 2 * x, height: info.height - 2 * y)
    return true
  }

  func endSelecting() {
    (photograph.selection, photograph.selectionRatio, photograph.selectablePart) = (nil, nil, nil)
    photograph.previewsSelection = false
    photograph.alternativeDescription = ""
  }

  /// True while the user chooses a part.
  var isSelecting: Bool { photograph.selection != nil }

  /// The width of the part over its height; `nil` for any.
  var selectionRatio: Double? {
    get { photograph.selectionRatio }
    set { photograph.selectionRatio = newValue }
  }

  /// True if only the part is shown.
  var previewsSelection: Bool {
    get { photograph.previewsSelection }
    set { photograph.previewsSelection = newValue }
  }

  /// Returns the part to select in place of the user's choice.
  var selectablePart: ((PixelRegion) -> PixelRegion)? {
    get { photograph.selectablePart }
    set { photograph.selectablePart = newValue }
  }

  /// The width over the height of the whole photograph as it is shown; `nil` if it is not known.
  var ratio: Double? {
    photograph.info.map { info in
      let ratio = Double(info.width) / Double(info.height)
      return photograph.turns % 2 == 0 ? ratio : 1 / ratio
    }
  }

  /// Tells screen readers of the part.
  func describeSelection(_ text: String) { photograph.alternativeDescription = text }
}
