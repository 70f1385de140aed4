/// The box of operations: its rules, and the sizes that follow for an image.
package struct ResizeBox: Sendable, Hashable {
  package let rules: FitRules
  /// The width in pixels of the result, at least 1; 0 for any.
  package let width: Double
  /// The height, like ``width``.
  package let height: Double
  /// The factor of distances.
  let ratio: Double

  /// Makes the box that operations describe, as large as it is for an image with enough pixels.
  package init(_ operations: ImageOperations) {
    var rules = FitRules()
    rules.fit = operations[.resizingType]?.text("type").flatMap(FitRules.Fit.init) ?? .fit
    (rules.width, rules.height) = (operations[number: .width] ?? 0, operations[number: .height] ?? 0)
    (rules.zoomX, rules.zoomY) = (operations[.zoom]?.number("x") ?? 1, operations[.zoom]?.number("y") ?? 1)
    rules.ratio = operations[number: .pixelRatio] ?? 1
    rules.minimumWidth = operations[number: .minimumWidth] ?? 0
    rules.minimumHeight = operations[number: .minimumHeight] ?? 0
    (rules.enlarges, rules.extends) = (operations[.enlarge] != nil, operations[.extend] != nil)
    rules.gravity = operations[.gravity]?.gravity("gravity") ?? .center
    self.rules = rules
    ratio = rules.ratio
    func side(_ length: Double, _ zoom: Double) -> Double {
      length > 0 ? max(1, (length * zoom * rules.ratio).rounded()) : 0
    }
    (width, height) = (side(rules.width, rules.zoomX), side(rules.height, rules.zoomY))
  }

  private init(_ rules: FitRules, _ result: FitRules.Result) {
    (self.rules, width, height, ratio) = (rules, result.boxWidth, result.boxHeight, result.ratio)
  }

  /// The box for an image.
  func fitted(_ image: ImageOperation.Sides) -> ResizeBox {
    ResizeBox(rules, rules.fitted(image.width, image.height))
  }

  /// A Boolean value that indicates whether an image may be cropped to the box.
  var crops: Bool {
    rules.minimumWidth > 0 || rules.minimumHeight > 0
      || ![.fit, .force].contains(rules.fit) && (rules.width > 0 && rules.height > 0)
  }

  /// A Boolean value that indicates whether an image may be resized.
  var isOpen: Bool {
    var plain = FitRules()
    (plain.fit, plain.enlarges, plain.extends, plain.gravity) = (
      rules.fit, rules.enlarges, rules.extends, rules.gravity,
    )
    return rules == plain
  }

  /// The size for a decoder of an image that is turned by `angle` afterwards.
  func size(turnedBy angle: Double) -> TargetSize? {
    guard !isOpen else { return nil }
    let rules = [90, 270].contains(angle) ? rules.turned : rules
    guard rules.fit == .fit, rules.ratio == 1, (rules.zoomX, rules.zoomY) == (1, 1), !crops else {
      return TargetSize(rules)
    }
    return switch (rules.width > 0, rules.height > 0) {
    case (true, false): .pixels(width: rules.width, enlarges: rules.enlarges)
    case (false, true): .pixels(height: rules.height, enlarges: rules.enlarges)
    default: .pixels(rules.width, rules.height, enlarges: rules.enlarges)
    }
  }
}

extension ResizeBox {
  /// The step on an image that has been decoded whole.
  var resizing: ImageProcessor {
    .showing("context", ["thumbnail \(rules.text)"]) { [rules] (bitmap, context) throws(ImageError) in
      let (width, height) = (Double(bitmap.width), Double(bitmap.height))
      let result = rules.fitted(width, height)
      let image = try bitmap.resized(
        to: .pixels(result.width, result.height, .exact, enlarges: true),
        limits: context.limits,
        isCancelled: context.isCancelled,
      )
      let part = (width: result.cropWidth, height: result.cropHeight)
      var plan = SamplingPlan(width: image.width, height: image.height)
      plan.crop = PixelRect(x: 0, y: 0, width: width, height: height)
      guard part != (result.width, result.height) else { return (image, plan) }
      let region: PixelRegion
      if rules.gravity == .smart {
        region = try image.part(width: Int(part.width), height: Int(part.height), .edges, context)
      } else {
        let place = rules.gravity.origin(of: part, in: (result.width, result.height), ratio: result.ratio)
        region = PixelRegion(x: Int(place.x), y: Int(place.y), width: Int(part.width), height: Int(part.height))
      }
      let (x, y) = (width / Double(image.width), height / Double(image.height))
      plan = SamplingPlan(width: region.width, height: region.height)
      plan.crop = PixelRect(
        x: Double(region.x) * x,
        y: Double(region.y) * y,
        width: Double(region.width) * x,
        height: Double(region.height) * y,
      )
      return (try image.cropped(x: region.x, y: region.y, width: region.width, height: region.height), plan)
    }
  }

  /// Returns the processor that keeps a part of an original.
  ///
  /// Below 1, a side of the part is a fraction; 0 is all of it.
  static func cropping(width: Double, height: Double, _ gravity: Gravity) -> ImageProcessor {
    func side(_ length: Double) -> Length {
      length == 0 ? .fraction(1) : length < 1 ? .fraction(length) : .pixels(length.rounded(.down))
    }
    if gravity == .smart { return .smartCrop(width: side(width), height: side(height)) }
    let sides = "\(DecimalText.of(width)) \(DecimalText.of(height))"
    let name = "original crop \(sides) \(gravity.text)"
    return ImageProcessor(
      "context",
      [name],
      part: { (bitmap, _) throws(ImageError) in
        let image = (width: Double(bitmap.width), height: Double(bitmap.height))
        let part = (width: part(width, of: image.width), height: part(height, of: image.height))
        let place = gravity.origin(of: part, in: image)
        return PixelRegion(x: Int(place.x), y: Int(place.y), width: Int(part.width), height: Int(part.height))
      },
    )
  }

  /// Returns a side of a part of an original.
  static func part(_ wanted: Double, of side: Double) -> Double {
    wanted == 0 ? side : min(side, max(1, wanted < 1 ? (wanted * side).rounded() : wanted.rounded(.down)))
  }

  /// Returns the processor that puts an image on a canvas of at least its own size.
  ///
  /// - Parameters:
  ///   - gravity: The place on the canvas.
  ///   - color: The colour of the canvas.
  ///   - name: A name that tells sizes apart.
  ///   - size: Returns the size of the canvas for an image's size.
  /// - Returns: The processor.
  func canvas(
    _ gravity: Gravity?,
    _ color: PixelColor,
    _ name: String,
    _ size: @escaping @Sendable (ImageOperation.Sides) -> ImageOperation.Sides,
  ) -> ImageProcessor {
    let (gravity, ratio) = (gravity ?? .center, ratio)
    return ImageProcessor(
      "thumbnail canvas",
      [name, "\(DecimalText.of(width)) \(DecimalText.of(height))", gravity.text, DecimalText.of(ratio), "\(color)"],
    ) { bitmap, context throws(ImageError) in
      let own = ImageOperation.Sides(width: Double(bitmap.width), height: Double(bitmap.height))
      let canvas = size(own)
      let place = gravity.origin(of: (own.width, own.height), in: (canvas.width, canvas.height), ratio: ratio)
      return try bitmap.placed(x: place.x, y: place.y, width: canvas.width, height: canvas.height, color, context)
    }
  }

  /// The size of a canvas with the sides of the box.
  func extended(_ sides: ImageOperation.Sides) -> ImageOperation.Sides {
    .init(width: max(sides.width, width), height: max(sides.height, height))
  }

  /// The size of a canvas with the shape of the box.
  func shaped(_ sides: ImageOperation.Sides) -> ImageOperation.Sides {
    guard width > 0, height > 0, sides.width > 0, sides.height > 0 else { return sides }
    let (x, y) = (width / sides.width, height / sides.height)
    return x > y
      ? .init(width: max(sides.width, (sides.height * width / height).rounded()), height: sides.height)
      : .init(width: sides.width, height: max(sides.height, (sides.width * height / width).rounded()))
  }
}
