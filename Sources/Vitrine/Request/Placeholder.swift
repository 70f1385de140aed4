public import VitrineImaging

/// The content of a view whose image is loading or has failed.
public enum Placeholder: Sendable {
  /// Nothing: clears the view.
  case none
  /// The current content of the view; for slide shows, and for images whose URL changes.
  case keepCurrent
  /// A solid colour.
  case color(PixelColor)
  /// A bitmap.
  case image(Bitmap)
  /// The closest image in memory (``ImagePipeline/cachedVariant(for:)``), mostly the image in another size.
  ///
  /// It is shown as a preview, which the image replaces without a fade; if there is none, the alternative is shown. It
  /// may lack the request's processors, so do not use it where these make an image unrecognisable.
  indirect case cachedVariant(else: Placeholder)
  /// Another request for the same picture, such as the URL of its thumbnail; until that has loaded, the alternative is
  /// shown.
  ///
  /// ```swift
  /// request.placeholder = .request(ImageRequest(url: photo.thumbnailURL), else: .thumbHash(photo.hash))
  /// ```
  /// If its image is in memory, fresh or stale, it is shown at once. Otherwise the slot loads it beside the image, with a
  /// higher priority and in the view's size, unless it has a size of its own. It is shown as a preview, which the image
  /// replaces without a fade. The slot cancels it when the image arrives or fails, and when the view is hidden or rebound.
  /// Its own failure and its own ``ImageRequest/placeholder`` are ignored.
  indirect case request(ImageRequest, else: Placeholder = .none)
  /// A blurred picture of the image, in the image's place; the image fades in over it.
  ///
  /// It is decoded by the slot, within the call that shows it, in less time than a bitmap takes to be drawn. Processors
  /// of the request are not applied to it.
  case thumbHash(ThumbHash)
  /// A blurred picture of the image, as ``thumbHash(_:)``, from a hash that does not contain the image's shape.
  ///
  /// `aspectRatio` is the image's width divided by its height. Defaults to `nil`: the shape of the size at which the
  /// image is requested, or else of the view.
  case blurHash(BlurHash, aspectRatio: Double? = nil)
  /// A picture that came with the program, by its name.
  ///
  /// Each toolkit resolves the name in its own way: GTK takes a path of a GResource (`/org/example/cat.png`), or else a
  /// file as ``ImageSource/resource(_:in:)`` does; Apple's toolkits take the asset catalogue. The picture is read and
  /// decoded on the main thread when it is first shown, so keep it small. A name that is not found shows nothing.
  case resource(String)
  /// An icon by its name, which each toolkit resolves in its own way: in the icon theme, or among the system's symbols.
  case symbol(String)
  /// Content that only the view's own toolkit can show, such as a symbol of Apple's with its configuration.
  ///
  /// The toolkits' modules have functions that create it. A toolkit that does not know the value shows nothing.
  case native(any Hashable & Sendable)

  /// Returns the picture of a ThumbHash in base64; if the text is not a hash, the alternative.
  public static func thumbHash(base64 text: String, else other: Placeholder = .none) -> Placeholder {
    (try? ThumbHash(base64: text)).map { .thumbHash($0) } ?? other
  }

  /// Returns the picture of a BlurHash; if the text is not a hash, the alternative.
  public static func blurHash(
    _ text: String,
    aspectRatio: Double? = nil,
    else other: Placeholder = .none,
  ) -> Placeholder {
    (try? BlurHash(text)).map { .blurHash($0, aspectRatio: aspectRatio) } ?? other
  }

  /// The closest image in memory, or nothing; see ``cachedVariant(else:)``.
  public static let cached = Placeholder.cachedVariant(else: .none)

  /// The default failure content, which is never a picture of something else or in another size.
  var forFailure: Placeholder {
    switch self {
    case .keepCurrent: .none
    case .cachedVariant(let other), .request(_, let other): other.forFailure
    // A blurred picture would suggest that the image is still loading.
    case .thumbHash(let hash): .color(hash.averageColor)
    case .blurHash(let hash, _): .color(hash.averageColor)
    case .none, .color, .image, .resource, .symbol, .native: self
    }
  }

  /// Returns `true` if both show the same content; bitmaps are compared by identity.
  func isEqual(to other: Placeholder) -> Bool {
    switch (self, other) {
    case (.none, .none), (.keepCurrent, .keepCurrent): true
    case (.color(let one), .color(let other)): one == other
    case (.image(let one), .image(let other)): one.isSamePixels(as: other)
    case (.cachedVariant(let one), .cachedVariant(let other)): one.isEqual(to: other)
    case (.request(let one, let alternative), .request(let other, let otherAlternative)):
      one == other && alternative.isEqual(to: otherAlternative)
    case (.thumbHash(let one), .thumbHash(let other)): one == other
    case (.blurHash(let one, let ratio), .blurHash(let other, let otherRatio)): one == other && ratio == otherRatio
    case (.symbol(let one), .symbol(let other)), (.resource(let one), .resource(let other)): one == other
    case (.native(let one), .native(let other)): AnyHashable(one) == AnyHashable(other)
    default: false
    }
  }
}

extension BlurHash {
  /// The longer side of a placeholder, in pixels: enough to be enlarged smoothly.
  private static let placeholderSide = 32.0

  /// Returns the picture with an aspect ratio; invalid ratios become square, and extreme ones are limited to 1:32.
  func placeholder(aspectRatio: Double) -> Bitmap? {
    let ratio = aspectRatio.isFinite && aspectRatio > 0 ? min(max(aspectRatio, 1 / 32), 32) : 1
    let side = Self.placeholderSide
    return try? bitmap(
      width: Int((ratio > 1 ? side : side * ratio).rounded()),
      height: Int((ratio > 1 ? side / ratio : side).rounded()),
    )
  }
}
