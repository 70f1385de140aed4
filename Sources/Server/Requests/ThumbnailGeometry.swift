import VitrineImaging
import VitrineRuntime

/// Sizes and places of a thumbnail, where they depend on the original's.
struct ThumbnailGeometry: Sendable, Hashable {
  typealias Gravity = ThumbnailOptions.Gravity

  var fit: ThumbnailOptions.Fit
  /// The box in pixels; 0 for any side.
  var width: Double
  var height: Double
  var minimumWidth: Double
  var minimumHeight: Double
  var enlarges: Bool
  /// The factor of distances.
  var ratio: Double

  init(_ options: ThumbnailOptions) {
    ratio = options.pixelRatio ?? 1
    fit = options.fit
    (width, height) = options.box(ratio: ratio)
    minimumWidth = (Double(options.minimumWidth) * ratio).rounded()
    minimumHeight = (Double(options.minimumHeight) * ratio).rounded()
    enlarges = options.enlarges
  }

  /// A Boolean value that indicates whether an image is cropped to the box.
  var crops: Bool { (fit == .fill || fit == .fillDown) && width > 0 && height > 0 }

  /// Returns the size of the whole image before it is cropped to the box.
  func scaled(width w: Double, height h: Double) -> (width: Double, height: Double) {
    let (x, y) = scales(w, h)
    // The least sizes come last, and enlarge.
    let least = max(1, minimumWidth / (w * x), minimumHeight / (h * y))
    return (max(1, (w * x * least).rounded()), max(1, (h * y * least).rounded()))
  }

  private func scales(_ w: Double, _ h: Double) -> (Double, Double) {
    let most = enlarges ? Double.infinity : 1
    let (x, y) = (width > 0 ? width / w : nil, height > 0 ? height / h : nil)
    guard let x, let y else {
      let scale = min(x ?? y ?? 1, most)
      return (scale, scale)
    }
    if fit == .force { return (min(x, most), min(y, most)) }
    let fills =
      switch fit {
      case .fit, .force: false
      case .fill, .fillDown: true
      case .auto: (w >= h) == (width >= height)
      }
    let scale = min(fills ? max(x, y) : min(x, y), most)
    return (scale, scale)
  }

  /// Returns the size to which an image is cropped.
  func cropped(width w: Double, height h: Double) -> (width: Double, height: Double) {
    let (boxWidth, boxHeight) = (width > 0 ? min(width, w) : w, height > 0 ? min(height, h) : h)
    guard fit == .fillDown, width > 0, height > 0, boxWidth < width || boxHeight < height else {
      return (boxWidth, boxHeight)
    }
    let scale = min(boxWidth / width, boxHeight / height)
    return (max(1, (width * scale).rounded()), max(1, (height * scale).rounded()))
  }

  /// Returns the place of a part of an image, within the image.
  static func origin(
    of part: (width: Double, height: Double),
    in image: (width: Double, height: Double),
    _ gravity: Gravity,
    ratio: Double,
  ) -> (x: Double, y: Double) {
    let (spaceX, spaceY) = (image.width - part.width, image.height - part.height)
    var (x, y) = (spaceX / 2, spaceY / 2)
    switch gravity {
    case .place(let place, let offsetX, let offsetY):
      let anchor = place.anchor
      x = spaceX * anchor.x + inwards(length(offsetX, ratio, of: image.width), anchor.x)
      y = spaceY * anchor.y + inwards(length(offsetY, ratio, of: image.height), anchor.y)
    case .focus(let focusX, let focusY):
      x = image.width * focusX - part.width / 2
      y = image.height * focusY - part.height / 2
    case .smart: break
    }
    return (min(max(x.rounded(), 0), spaceX), min(max(y.rounded(), 0), spaceY))
  }

  /// Returns a distance in pixels; below 1 it is a fraction.
  private static func length(_ distance: Double, _ ratio: Double, of side: Double) -> Double {
    abs(distance) < 1 ? distance * side : distance * ratio
  }

  /// Turns a distance around at the far edge.
  static func inwards(_ distance: Double, _ anchor: Double) -> Double { anchor == 1 ? -distance : distance }
}

extension ThumbnailOptions {
  /// The box in pixels; 0 for a side that is open, and at least 1 for one that is not.
  func box(ratio: Double) -> (width: Double, height: Double) {
    func side(_ length: Int, _ zoom: Double) -> Double {
      length == 0 ? 0 : max(1, (Double(length) * zoom * ratio).rounded())
    }
    return (side(width, zoomX), side(height, zoomY))
  }

  /// The sides that the result has at most, with padding, as far as the options tell: open ones have only that.
  func mostSides(ratio: Double) -> (width: Double, height: Double) {
    let box = box(ratio: ratio)
    return (
      max(box.width, Double(minimumWidth) * ratio) + Double(padding.left + padding.right) * ratio,
      max(box.height, Double(minimumHeight) * ratio) + Double(padding.top + padding.bottom) * ratio,
    )
  }
}

extension ThumbnailGeometry {
  /// The name of the geometry for keys.
  private var name: String {
    let numbers = [width, height, minimumWidth, minimumHeight].map(Decimal.text).joined(separator: " ")
    return "\(fit.rawValue) \(numbers)\(enlarges ? " enlarging" : "")"
  }

  /// The processor that resizes the whole image.
  var resizing: ImageProcessor {
    .customInContext(id: "thumbnail size \(name)") { bitmap, context in
      let size = scaled(width: Double(bitmap.width), height: Double(bitmap.height))
      return try bitmap.resized(
        to: .pixels(size.width, size.height, .exact, enlarges: true),
        limits: context.limits,
        isCancelled: context.isCancelled,
      )
    }
  }

  /// The processors that crop a resized image to the box.
  func cropping(_ gravity: Gravity) -> [ImageProcessor] {
    guard width > 0 || height > 0 else { return [] }
    guard gravity != .smart else {
      let sides = [width, height].map { $0 > 0 ? Length.pixels($0) : .fraction(1) }
      return [.smartCrop(width: sides[0], height: sides[1])]
        + (fit == .fillDown && crops ? [.smartCrop(aspectRatio: width / height)] : [])
    }
    let name = "thumbnail crop \(fit == .fillDown ? "down " : "")\(Decimal.text(width)) \(Decimal.text(height))"
    return [
      Self.crop("\(name) \(gravity.canonical) \(Decimal.text(ratio))", gravity, ratio) {
        cropped(width: $0, height: $1)
      }
    ]
  }

  /// Makes a processor that keeps a part of a size that depends on the image's.
  private static func crop(
    _ id: String,
    _ gravity: Gravity,
    _ ratio: Double,
    _ size: @escaping @Sendable (Double, Double) -> (width: Double, height: Double),
  ) -> ImageProcessor {
    .customInContext(id: id) { bitmap, _ in
      let image = (width: Double(bitmap.width), height: Double(bitmap.height))
      let part = size(image.width, image.height)
      let place = origin(of: part, in: image, gravity, ratio: ratio)
      return try bitmap.cropped(
        x: Int(place.x),
        y: Int(place.y),
        width: Int(part.width),
        height: Int(part.height),
      )
    }
  }

  /// Returns the processor that keeps a part of an original.
  static func processor(_ crop: ThumbnailOptions.Crop, _ gravity: Gravity) -> ImageProcessor {
    func side(_ length: Double) -> Length {
      length == 0 ? .fraction(1) : length < 1 ? .fraction(length) : .pixels(length.rounded())
    }
    if gravity == .smart { return .smartCrop(width: side(crop.width), height: side(crop.height)) }
    let sides = "\(Decimal.text(crop.width)) \(Decimal.text(crop.height))"
    return Self.crop("original crop \(sides) \(gravity.canonical)", gravity, 1) { width, height in
      func length(_ wanted: Double, of side: Double) -> Double {
        wanted == 0 ? side : min(side, max(1, (wanted < 1 ? wanted * side : wanted).rounded()))
      }
      return (length(crop.width, of: width), length(crop.height, of: height))
    }
  }
}
