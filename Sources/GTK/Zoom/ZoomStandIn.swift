import CGTK
import Vitrine

/// The placeholder of a zoom picture until there are pixels of its own, or its error image.
enum ZoomStandIn {
  case none
  case texture(Texture)
  case color(PixelColor)
  /// An icon of the theme, which is a widget of its own.
  case icon(String)

  @MainActor
  init(_ placeholder: Placeholder, _ request: ImageRequest?, _ opener: any PictureOpening) {
    switch placeholder {
    case .none, .native, .keepCurrent: self = .none
    case .color(let color): self = .color(color)
    case .image(let bitmap): self = .texture(Texture(bitmap))
    case .cachedVariant(let other):
      if let request, let known = opener.cachedVariant(for: request), known.isSameView, known.processing != .other {
        self = .texture(Texture(known.image))
      } else {
        self.init(other, request, opener)
      }
    case .thumbHash(let hash): self = .texture(Texture(hash.bitmap))
    case .blurHash(let hash, _): self = .color(hash.averageColor)
    case .resource(let name): self = ProgramPictures.texture(named: name).map { .texture($0) } ?? .none
    case .symbol(let name): self = .icon(name)
    }
  }

  /// Returns the default content of a failure: nothing that looks like the picture.
  static func ofFailure(_ placeholder: Placeholder) -> Placeholder {
    switch placeholder {
    case .cachedVariant(let other): ofFailure(other)
    case .keepCurrent, .image, .thumbHash, .blurHash: .none
    case .none, .color, .resource, .symbol, .native: placeholder
    }
  }

  /// Draws it over a widget of a size in points, as the picture will be if it is larger than that.
  @MainActor
  func draw(into snapshot: OpaquePointer, width: Double, height: Double, scale: Double) {
    guard width > 0, height > 0 else { return }
    let whole = PictureRectangle(width: width, height: height)
    guard case .texture(let texture) = self else { return unsafe draw(into: snapshot, whole) }
    let place = PicturePlace(mode: .fit, alignment: .center, scale: scale)
    unsafe draw(into: snapshot, place.rectangle(of: texture.bitmap, in: width, height, .placeholder))
  }

  /// Draws it into a rectangle.
  @MainActor
  func draw(into snapshot: OpaquePointer, _ rectangle: PictureRectangle) {
    switch self {
    case .none, .icon: break
    case .texture(let texture): unsafe texture.draw(into: snapshot, rectangle)
    case .color(let color):
      var (rgba, bounds) = (GdkRGBA(color), rectangle.bounds)
      // GTK copies both.
      unsafe gtk_snapshot_append_color(snapshot, &rgba, &bounds)
    }
  }
}
