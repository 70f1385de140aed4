/// The box into which an image is resized, and sizes and places where they depend on the original's.
package struct ResizeBox: Sendable, Hashable {
  /// The way in which the image is fitted into the box.
  package enum Fit: String, Sendable, Hashable, CaseIterable {
    /// Inside the box, keeping the aspect ratio.
    case fit
    /// Covering the box, keeping the aspect ratio, cropped to it.
    case fill
    /// Like ``fill``; an image that is too small is cropped to the aspect ratio of the box.
    case fillDown = "fill-down"
    /// Stretched to the box.
    case force
    /// ``fill`` if the image and the box are both landscape or both portrait, otherwise ``fit``.
    case auto
  }

  let fit: Fit
  /// The width in pixels, at least 1; 0 for any.
  package let width: Double
  /// The height, like ``width``.
  package let height: Double
  let minimumWidth: Double
  let minimumHeight: Double
  let enlarges: Bool
  /// The factor of distances.
  let ratio: Double

  /// Makes the box that operations describe.
  package init(_ operations: ImageOperations) {
    let ratio = operations[number: .pixelRatio] ?? 1
    func side(_ operation: ImageOperation, _ zoom: String) -> Double {
      guard let length = operations[number: operation] else { return 0 }
      return max(1, (length * (operations[.zoom]?.number(zoom) ?? 1) * ratio).rounded())
    }
    func least(_ operation: ImageOperation) -> Double { ((operations[number: operation] ?? 0) * ratio).rounded() }
    fit = operations[.resizingType]?.text("type").flatMap(Fit.init) ?? .fit
    (width, height) = (side(.width, "x"), side(.height, "y"))
    (minimumWidth, minimumHeight) = (least(.minimumWidth), least(.minimumHeight))
    enlarges = operations[.enlarge] != nil
    self.ratio = ratio
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

extension ResizeBox {
  /// The name of the geometry for keys.
  private var name: String {
    let numbers = [width, height, minimumWidth, minimumHeight].map(DecimalText.of).joined(separator: " ")
    return "\(fit.rawValue) \(numbers)\(enlarges ? " enlarging" : "")"
  }

  /// Returns the steps on an image that a decoder has fitted into the box.
  func cropping(_ anchor: Anchor) -> [ImageProcessor] {
    fit == .fillDown && crops ? [.crop(aspectRatio: width / height, anchor: anchor)] : []
  }

  /// Returns the steps on an image that has been decoded whole.
  func resizing(_ gravity: Gravity) -> [ImageProcessor] { [resizing] + cropping(gravity) }

  private var resizing: ImageProcessor {
    .customInContext(id: "thumbnail size \(name)") { bitmap, context in
      let size = scaled(width: Double(bitmap.width), height: Double(bitmap.height))
      return try bitmap.resized(
        to: .pixels(size.width, size.height, .exact, enlarges: true),
        limits: context.limits,
        isCancelled: context.isCancelled,
      )
    }
  }

  /// Returns the steps that crop a resized image to the box.
  private func cropping(_ gravity: Gravity) -> [ImageProcessor] {
    guard width > 0 || height > 0 else { return [] }
    guard gravity != .smart else {
      let sides = [width, height].map { $0 > 0 ? Length.pixels($0) : .fraction(1) }
      return [.smartCrop(width: sides[0], height: sides[1])]
        + (fit == .fillDown && crops ? [.smartCrop(aspectRatio: width / height)] : [])
    }
    let name = "thumbnail crop \(fit == .fillDown ? "down " : "")\(DecimalText.of(width)) \(DecimalText.of(height))"
    return [
      Self.crop("\(name) \(gravity.text) \(DecimalText.of(ratio))", gravity, ratio) {
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
  ///
  /// Below 1, a side of the part is a fraction; 0 is all of it.
  static func processor(width: Double, height: Double, _ gravity: Gravity) -> ImageProcessor {
    func side(_ length: Double) -> Length {
      length == 0 ? .fraction(1) : length < 1 ? .fraction(length) : .pixels(length.rounded())
    }
    if gravity == .smart { return .smartCrop(width: side(width), height: side(height)) }
    let sides = "\(DecimalText.of(width)) \(DecimalText.of(height))"
    return Self.crop("original crop \(sides) \(gravity.text)", gravity, 1) { ownWidth, ownHeight in
      (part(width, of: ownWidth), part(height, of: ownHeight))
    }
  }

  /// Returns a side of a part of an original.
  static func part(_ wanted: Double, of side: Double) -> Double {
    wanted == 0 ? side : min(side, max(1, (wanted < 1 ? wanted * side : wanted).rounded()))
  }
}
