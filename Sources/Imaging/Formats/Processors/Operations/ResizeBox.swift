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
    rules.limit = operations[number: .maximumSide].map { side in
      var limit = FitRules.Limit(side: side)
      limit.keepsShape = operations[.extendAspectRatio] != nil
      limit.padding = operations[.padding].map(ImageOperation.edges(of:)) ?? SIMD4()
      return limit
    }
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

  /// The size for a decoder of an image that is turned afterwards.
  func size(_ turn: Orientation) -> TargetSize? {
    guard !isOpen else { return nil }
    var rules = rules
    rules.turn = turn
    guard rules.fit == .fit, rules.ratio == 1, (rules.zoomX, rules.zoomY) == (1, 1), !crops, rules.limit == nil else {
      return TargetSize(rules)
    }
    let (width, height) = turn.swapsAxes ? (rules.height, rules.width) : (rules.width, rules.height)
    return switch (width > 0, height > 0) {
    case (true, false): .pixels(width: width, enlarges: rules.enlarges)
    case (false, true): .pixels(height: height, enlarges: rules.enlarges)
    default: .pixels(width, height, enlarges: rules.enlarges)
    }
  }
}

extension ResizeBox {
  /// The step on an image that has been decoded whole.
  var resizing: ImageProcessor {
    .showing("context", ["thumbnail \(rules.text)"]) { [rules] (bitmap, context) throws(ImageError) in
      guard rules.gravity == .smart else { return try bitmap.resized(TargetSize(rules), ResamplingOptions(), context) }
      // The part that shows the most is found in the whole image.
      let (width, height) = (Double(bitmap.width), Double(bitmap.height))
      let result = rules.fitted(width, height)
      let size = TargetSize.pixels(result.width, result.height, .exact, enlarges: true)
      let (image, whole) = try bitmap.resized(size, ResamplingOptions(), context)
      guard (result.cropWidth, result.cropHeight) != (result.width, result.height) else { return (image, whole) }
      let part = try image.part(width: Int(result.cropWidth), height: Int(result.cropHeight), .attention, context)
      let (x, y) = (width / result.width, height / result.height)
      var plan = SamplingPlan(width: part.width, height: part.height)
      plan.crop = PixelRect(
        x: Double(part.x) * x,
        y: Double(part.y) * y,
        width: Double(part.width) * x,
        height: Double(part.height) * y,
      )
      return (try image.cropped(x: part.x, y: part.y, width: part.width, height: part.height), plan)
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

  /// Returns the processor that puts an image on a canvas; a part of it, if a side of the canvas is shorter.
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
      let canvas = size(.init(width: Double(bitmap.width), height: Double(bitmap.height)))
      let own = (width: min(Double(bitmap.width), canvas.width), height: min(Double(bitmap.height), canvas.height))
      let bitmap = try bitmap.cropped(x: 0, y: 0, width: Int(own.width), height: Int(own.height))
      let place = gravity.origin(of: own, in: (canvas.width, canvas.height), ratio: ratio)
      return try bitmap.placed(x: place.x, y: place.y, width: canvas.width, height: canvas.height, color, context)
    }
  }

  /// The size of a canvas with the sides of the box.
  func extended(_ sides: ImageOperation.Sides) -> ImageOperation.Sides {
    let extended = FitRules.extended((sides.width, sides.height), to: (width, height))
    return .init(width: extended.width, height: extended.height)
  }

  /// The size of a canvas with the shape of the box.
  func shaped(_ sides: ImageOperation.Sides) -> ImageOperation.Sides {
    let shaped = FitRules.shaped((sides.width, sides.height), like: (width, height))
    return .init(width: shaped.width, height: shaped.height)
  }
}
