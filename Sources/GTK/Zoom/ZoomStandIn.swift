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
      self = request.flatMap { Self.known($0, opener) } ?? Self(other, request, opener)
    // A zoom picture has overviews of its own to load.
    case .request(let small, let other): self = Self.known(small, opener) ?? Self(other, request, opener)
    case .thumbHash(let hash): self = .texture(Texture(hash.bitmap))
    case .blurHash(let hash, _): self = .color(hash.averageColor)
    case .resource(let name): self = ProgramPictures.texture(named: name).map { .texture($0) } ?? .none
    case .symbol(let name): self = .icon(name)
    }
  }

  /// Returns an image in memory that shows all of a request's picture; `nil` if there is none.
  @MainActor
  private static func known(_ request: ImageRequest, _ opener: any PictureOpening) -> Self? {
    guard let known = opener.cachedVariant(for: request), known.isSameView, known.processing != .other else {
      return nil
    }
    return .texture(Texture(known.image))
  }

  /// Returns the default content of a failure: nothing that looks like the picture.
  static func ofFailure(_ placeholder: Placeholder) -> Placeholder {
    switch placeholder {
    case .cachedVariant(let other), .request(_, let other): ofFailure(other)
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
