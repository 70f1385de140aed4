// The table of operations. An operation is a row here, its place among the steps, and a line of the documentation, which a
// test compares with the row.
extension ImageOperation {
  /// The rows, in the order of texts for keys.
  package static let table = [
    resize, boxSize, resizingType, width, height, minimumWidth, minimumHeight, zoom, pixelRatio, enlarge, maximumSide,
    gravity, extend, extendAspectRatio, crop, trim, padding, rotate, autoRotate, flip, background, brightness, contrast,
    saturation, adjust, sepia, duotone, blur, sharpen, roundedCorners, watermark,
  ]

  // The steps are done in this order, whatever the order in which they are named, with the resize between the two lists.
  package static let beforeResize = [autoRotate, trim, rotate, flip, crop]
  package static let afterResize = [
    brightness, contrast, saturation, sepia, duotone, blur, sharpen, roundedCorners, extend, extendAspectRatio, padding,
    watermark, background,
  ]

  // MARK: - The box

  package static let resize = ImageOperation(
    "resize rs",
    sets: [resizingType, width, height, enlarge, extend],
    "rs:fill:300:200",
    "Sets the type and the size of the box.",
  )

  package static let boxSize = ImageOperation(
    "size s",
    sets: [width, height, enlarge, extend],
    "s:300:200",
    "Sets the size of the box.",
  )

  package static let resizingType = ImageOperation(
    "resizing_type rt",
    [.init("type", .choice(FitRules.Fit.allCases.map(\.rawValue)), initially: .text("fit"))],
    keepsWhenEmpty: true,
    "rt:fill",
    "Sets the way into the box.",
    processors: nil,
  )

  package static let width = side("width w", keepsWhenEmpty: true, "w:300", "Sets the width of the box; 0 is any.")
  package static let height = side("height h", keepsWhenEmpty: true, "h:200", "Sets the height of the box; 0 is any.")
  package static let minimumWidth = side(
    "min-width min_width mw",
    "mw:100",
    "Sets the least width, which may enlarge.",
  )
  package static let minimumHeight = side(
    "min-height min_height mh",
    "mh:100",
    "Sets the least height, which may enlarge.",
  )

  package static let zoom = ImageOperation(
    "zoom z",
    [.init("x", .number(0.01...100)), .init("y", .number(0.01...100))],
    keepsWhenEmpty: true,
    "z:2",
    "Multiplies the sides of the box; y is x by default.",
    complete: { values in values["y"] = values["y"] ?? values["x"] },
    isOff: { $0.number("x") == 1 && $0.number("y") == 1 },
    processors: nil,
  )

  package static let pixelRatio = ImageOperation(
    "dpr",
    [.init("ratio", .number(0.1...8))],
    keepsWhenEmpty: true,
    "dpr:2",
    "Multiplies the box and all distances, as far as the image has the pixels or is enlarged.",
    processors: nil,
  )

  package static let enlarge = ImageOperation(
    "enlarge el",
    [.init("enlarge", .flag, initially: .flag(false))],
    keepsWhenEmpty: true,
    "el:1",
    "Enlarges images that are smaller than the box.",
    processors: nil,
  )

  package static let maximumSide = side(
    "max_result_dimension mrd",
    "mrd:1000",
    "Shrinks a result with a longer side, with all that is around the image; a server may have a lower limit.",
  )

  package static let gravity = ImageOperation(
    "gravity g",
    [.init("gravity", .gravity(crops: true), initially: .gravity(.center))],
    keepsWhenEmpty: true,
    "g:sm",
    "Sets the part that stays when an image is cropped to the box.",
    processors: nil,
  )

  private static let lengths = 0...65_535

  private static func side(
    _ names: String,
    keepsWhenEmpty: Bool = false,
    _ example: String,
    _ summary: String,
  ) -> ImageOperation {
    let side = OperationParameter(String(names.prefix { $0 != " " }), .whole(lengths), .pixels, initially: .number(0))
    return ImageOperation(names, [side], keepsWhenEmpty: keepsWhenEmpty, example, summary, processors: nil)
  }

  // MARK: - Before the resize

  package static let trim = ImageOperation(
    "trim t",
    [
      .init("threshold", .number(0...255)), .init("color", .color(hasComponents: false)),
      .init("equal left and right", .flag, initially: .flag(false)),
      .init("equal top and bottom", .flag, initially: .flag(false)),
    ],
    keepsWhenEmpty: true,
    "t:10",
    "Removes edges of one color, by default that of the top left pixel. Transparent pixels count as ff00ff.",
    needsOriginal: true,
  ) { values, _ in
    [
      .trim(
        tolerance: values.amount("threshold"),
        color: values.color("color"),
        // Transparent pixels are taken for magenta, as in imgproxy.
        onto: PixelColor(0xFF00FF),
        isEqualHorizontally: values.flag("equal left and right"),
        isEqualVertically: values.flag("equal top and bottom"),
      )
    ]
  }

  package static let rotate = ImageOperation(
    "rotate rot",
    [.init("angle", .whole(-3600...3600, multipleOf: 90), .degrees, initially: .number(0))],
    keepsWhenEmpty: true,
    "rot:90",
    "Turns clockwise, by multiples of 90.",
    complete: { values in
      let rest = values.amount("angle").truncatingRemainder(dividingBy: 360)
      values["angle"] = .number(rest < 0 ? rest + 360 : rest == 0 ? 0 : rest)
    },
    size: { values, sides, _ in
      values.amount("angle") == 180 ? sides : Sides(width: sides.height, height: sides.width)
    },
  ) { values, _ in [.rotate(degrees: values.amount("angle"))] }

  package static let autoRotate = ImageOperation(
    "auto_rotate ar",
    [.init("rotate", .flag, initially: .flag(true))],
    "ar:0",
    "Leaves images as they are stored, with 0; by default they are turned upright.",
    needsOriginal: true,
  ) { _, _ in [.storedOrientation] }

  package static let flip = ImageOperation(
    "flip fl",
    [
      .init("left and right", .flag, initially: .flag(false)), .init("top and bottom", .flag, initially: .flag(false)),
    ],
    "fl:1:0",
    "Mirrors.",
  ) { values, _ in
    let axes: [(String, ImageProcessor.FlipAxis)] = [("left and right", .horizontal), ("top and bottom", .vertical)]
    return axes.filter { values.flag($0.0) }.map { .flip($0.1) }
  }

  package static let crop = ImageOperation(
    "crop c",
    [
      .init("width", .number(0...65_535), .pixels, initially: .number(0)),
      .init("height", .number(0...65_535), .pixels, initially: .number(0)),
      .init("gravity", .gravity(crops: true)),
    ],
    "c:0.5:0:ea",
    "Keeps a part of the original; a side below 1 is a fraction, and 0 is all. The gravity is that of the box by default.",
    needsOriginal: true,
    isOff: { _ in false },
    size: { values, sides, _ in
      Sides(
        width: ResizeBox.part(values.amount("width"), of: sides.width),
        height: ResizeBox.part(values.amount("height"), of: sides.height),
      )
    },
  ) { values, context in
    let gravity = values.gravity("gravity") ?? context.box.rules.gravity
    return [ResizeBox.cropping(width: values.amount("width"), height: values.amount("height"), gravity)]
  }

  // MARK: - After the resize

  package static let brightness = ImageOperation(
    "brightness br",
    [.init("amount", .whole(-255...255), initially: .number(0))],
    "br:40",
    "Adds a number to each component.",
  ) { values, _ in [.brightness(values.amount("amount") / 255)] }

  package static let contrast = ImageOperation(
    "contrast co",
    [.init("factor", .number(0...100), initially: .number(1))],
    "co:1.3",
    "Multiplies the distance from gray.",
  ) { values, _ in [.contrast(values.amount("factor"))] }

  package static let saturation = ImageOperation(
    "saturation sa",
    [.init("factor", .number(0...100), initially: .number(1))],
    "sa:0.5",
    "Multiplies the distance of a color from its gray.",
  ) { values, _ in [.saturation(values.amount("factor"))] }

  package static let adjust = ImageOperation(
    "adjust a",
    sets: [brightness, contrast, saturation],
    "a:10:1.2:0.5",
    "Sets the three of them.",
  )

  package static let sepia = ImageOperation(
    "sepia",
    [.init("intensity", .number(0...1), initially: .number(0))],
    "sepia:0.8",
    "Replaces colors by shades of brown; not in imgproxy.",
  ) { values, _ in [.sepia(values.amount("intensity"))] }

  package static let duotone = ImageOperation(
    "duotone dt",
    [
      .init("intensity", .number(0...1), initially: .number(0)),
      .init("shadows", .color(hasComponents: false), initially: .color(.black)),
      .init("highlights", .color(hasComponents: false), initially: .color(.white)),
    ],
    "dt:1:1a2a6c:fdbb2d",
    "Replaces colors by those between two, by default black for shadows and white for highlights.",
    isOff: { $0.amount("intensity") == 0 },
  ) { values, _ in
    guard let shadows = values.color("shadows"), let highlights = values.color("highlights") else { return [] }
    return [.duotone(shadows: shadows, highlights: highlights, amount: values.amount("intensity"))]
  }

  package static let blur = ImageOperation(
    "blur bl",
    [.init("deviation", .number(0...1000), .pixels, initially: .number(0))],
    "bl:4",
    "Blurs with a Gaussian of a standard deviation.",
  ) { values, _ in [.blur(radius: .pixels(values.amount("deviation")))] }

  package static let sharpen = ImageOperation(
    "sharpen sh",
    [.init("deviation", .number(0...100), .pixels, initially: .number(0))],
    "sh:1",
    "Sharpens by unsharp masking with a standard deviation.",
  ) { values, _ in [.sharpen(radius: .pixels(values.amount("deviation")))] }

  private static let corners = ["top left", "top right", "bottom right", "bottom left"]

  package static let roundedCorners = ImageOperation(
    "rounded_corners rc",
    corners.map { .init($0, .number(0...65_535), .pixels) },
    "rc:16",
    "Makes corners transparent, by one radius or four; not in imgproxy.",
    complete: { (values) throws(OperationParameter.Mismatch) in
      let radii = corners.compactMap { values.number($0) }
      guard radii.count == 4 || radii.count == 1 && values[corners[0]] != nil else {
        let given = radii.map(DecimalText.of).joined(separator: ":")
        throw OperationParameter.Mismatch(expected: "one radius or four", given: given)
      }
      guard radii.allSatisfy({ $0 == radii[0] }) else { return }
      for corner in corners.dropFirst() { values[corner] = nil }
    },
    isOff: { $0.amount(corners[0]) == 0 && $0[corners[1]] == nil },
  ) { values, context in
    let radii = corners.compactMap { values.number($0) }.map { Length.pixels($0 * context.box.ratio) }
    guard radii.count == 4 else { return radii.map { .roundedCorners(radius: $0) } }
    let shape = CornerRadii(topLeft: radii[0], topRight: radii[1], bottomRight: radii[2], bottomLeft: radii[3])
    return [.roundedCorners(shape)]
  }

  package static let extend = ImageOperation(
    "extend ex",
    [
      .init("extend", .flag, initially: .flag(false)),
      .init("gravity", .gravity(crops: false), initially: .gravity(.center)),
    ],
    keepsWhenEmpty: true,
    "ex:1",
    "Puts the image on a canvas of the size of the box.",
    isOff: { !$0.flag("extend") },
    size: { _, sides, context in context.box.extended(sides) },
  ) { values, context in
    let box = context.box
    guard box.width > 0 || box.height > 0 else { return [] }
    return [box.canvas(values.gravity("gravity"), context.canvasColor, "size") { box.extended($0) }]
  }

  package static let extendAspectRatio = ImageOperation(
    "extend_aspect_ratio extend_ar exar",
    [
      .init("extend", .flag, initially: .flag(false)),
      .init("gravity", .gravity(crops: false), initially: .gravity(.center)),
    ],
    keepsWhenEmpty: true,
    "exar:1",
    "Puts the image on a canvas of the shape of the box.",
    isOff: { !$0.flag("extend") },
    size: { _, sides, context in context.box.shaped(sides) },
  ) { values, context in
    let box = context.box
    guard box.width > 0, box.height > 0 else { return [] }
    return [box.canvas(values.gravity("gravity"), context.canvasColor, "shape") { box.shaped($0) }]
  }

  private static let edgeNames = ["top", "right", "bottom", "left"]

  /// Returns the lengths of padding, at a ratio of 1.
  static func edges(of padding: OperationValues) -> SIMD4<Double> {
    SIMD4(edgeNames.map { padding.amount($0) })
  }

  /// Returns the lengths of padding in pixels of the result.
  private static func edges(_ padding: OperationValues, _ context: Context) -> SIMD4<Double> {
    (edges(of: padding) * context.box.ratio).rounded(.toNearestOrEven)
  }

  package static let padding = ImageOperation(
    "padding pd",
    edgeNames.map { .init($0, .whole(lengths), .pixels) },
    "pd:10:20",
    "Puts space around the result; an edge that is left out is that of the other side.",
    complete: { values in
      let top = values["top"] ?? .number(0)
      let right = values["right"] ?? top
      (values["top"], values["right"]) = (top, right)
      (values["bottom"], values["left"]) = (values["bottom"] ?? top, values["left"] ?? right)
    },
    isOff: { values in edgeNames.allSatisfy { values.amount($0) == 0 } },
    size: { values, sides, context in
      let lengths = edges(values, context)
      return Sides(width: sides.width + lengths[1] + lengths[3], height: sides.height + lengths[0] + lengths[2])
    },
  ) { values, context in
    let lengths = edges(values, context)
    let sides = lengths.indices.map { Length.pixels(lengths[$0]) }
    return [.padding(top: sides[0], right: sides[1], bottom: sides[2], left: sides[3], color: context.canvasColor)]
  }

  package static let watermark = ImageOperation(
    "watermark wm",
    [
      .init("picture", .text("a file or a URL"), only: .shell),
      .init("opacity", .number(0...1), initially: .number(0), only: .url),
      .init("place", .placeOrPattern, initially: .place(.center)),
      .init("x", .number(OperationParameter.distances), .pixels, initially: .number(0)),
      .init("y", .number(OperationParameter.distances), .pixels, initially: .number(0)),
      .init("scale", .number(0...10), initially: .number(0)),
      .init("opacity", .number(0...1), initially: .number(1), only: .shell),
    ],
    "wm:0.5:soea",
    atShell: "wm:logo.png:se:10:10:0.2:0.5",
    "Lays a picture over the result: in a URL that of the server. A scale fits it into a part of the result; 0 is its own "
      + "size. re repeats it with x and y between, ch leaves out every other one.",
    complete: { (values) throws(OperationParameter.Mismatch) in
      guard values.text("place") != nil, let gap = ["x", "y"].map({ values.amount($0) }).first(where: { $0 < 0 }) else {
        return
      }
      throw OperationParameter.Mismatch(expected: "no negative distance between pictures", given: DecimalText.of(gap))
    },
    isOff: { $0.amount("opacity") == 0 },
  ) { (values, context) throws(ImageOperationError) in
    let name = values.text("picture") ?? ""
    guard let mark = context.pictures[name] else {
      throw ImageOperationError("watermark", "needs a picture\(name.isEmpty ? "" : ", but there is no '\(name)'")")
    }
    let layout = WatermarkLayout(
      values.text("place").flatMap(WatermarkLayout.Pattern.init(name:)) ?? .once(values.place("place") ?? .center),
      x: values.amount("x"),
      y: values.amount("y"),
      scale: values.amount("scale"),
      ratio: context.box.ratio,
    )
    return [.watermark(mark, layout, opacity: values.amount("opacity"))]
  }

  package static let background = ImageOperation(
    "background bg",
    [.init("color", .color(hasComponents: true))],
    "bg:ff8000",
    "Sets the color behind transparent pixels and of canvases: R, G, B, or 3, 6 or 8 hexadecimal digits.",
  ) { values, _ in values.color("color").map { [.background($0)] } ?? [] }
}
