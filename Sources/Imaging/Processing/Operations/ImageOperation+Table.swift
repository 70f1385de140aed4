// The table of operations. An operation is one row here, a place in `steps`, and a line of the documentation, which a test
// compares with the row.
extension ImageOperation {
  /// The rows, in the order of texts for keys.
  package static let table: [ImageOperation] = [
    resize, boxSize, resizingType, width, height, minimumWidth, minimumHeight, zoom, pixelRatio, enlarge, gravity,
    extend, extendAspectRatio, crop, trim, padding, rotate, autoRotate, flip, background, brightness, contrast,
    saturation, adjust, blur, sharpen, roundedCorners, watermark,
  ]

  /// The steps in the order in which they are done, whatever the order in which they are named.
  static let steps: [Step] = [
    .operation(trim),
    .operation(rotate),
    .operation(flip),
    .operation(crop),
    .resize,
    .operation(brightness),
    .operation(contrast),
    .operation(saturation),
    .operation(blur),
    .operation(sharpen),
    .operation(roundedCorners),
    .operation(extend),
    .operation(extendAspectRatio),
    .operation(padding),
    .operation(watermark),
    .operation(background),
  ]

  // MARK: - The box

  private static let sides = OperationParameter.Kind.whole(0...65_535)

  package static let resize = ImageOperation(
    "resize",
    "rs",
    sets: [resizingType, width, height, enlarge, extend],
    "Sets the type and the size of the box.",
    example: "rs:fill:300:200",
  )

  package static let boxSize = ImageOperation(
    "size",
    "s",
    sets: [width, height, enlarge, extend],
    "Sets the size of the box.",
    example: "s:300:200",
  )

  package static let resizingType = ImageOperation(
    "resizing_type",
    "rt",
    takes: [.init("type", .choice(ResizeBox.Fit.allCases.map(\.rawValue)), initially: .text("fit"))],
    keepsWhenEmpty: true,
    "Sets the way into the box.",
    example: "rt:fill",
    processors: nil,
  )

  package static let width = ImageOperation(
    "width",
    "w",
    takes: [.init("width", sides, .pixels, initially: .number(0))],
    keepsWhenEmpty: true,
    "Sets the width of the box; 0 is any.",
    example: "w:300",
    processors: nil,
  )

  package static let height = ImageOperation(
    "height",
    "h",
    takes: [.init("height", sides, .pixels, initially: .number(0))],
    keepsWhenEmpty: true,
    "Sets the height of the box; 0 is any.",
    example: "h:200",
    processors: nil,
  )

  package static let minimumWidth = ImageOperation(
    "min-width",
    "min_width",
    "mw",
    takes: [.init("width", sides, .pixels, initially: .number(0))],
    "Sets the least width, which may enlarge.",
    example: "mw:100",
    processors: nil,
  )

  package static let minimumHeight = ImageOperation(
    "min-height",
    "min_height",
    "mh",
    takes: [.init("height", sides, .pixels, initially: .number(0))],
    "Sets the least height, which may enlarge.",
    example: "mh:100",
    processors: nil,
  )

  package static let zoom = ImageOperation(
    "zoom",
    "z",
    takes: [.init("x", .number(0.01...100)), .init("y", .number(0.01...100))],
    keepsWhenEmpty: true,
    "Multiplies the sides of the box; y is x by default.",
    example: "z:2",
    complete: { values in values["y"] = values["y"] ?? values["x"] },
    isOff: { $0.number("x") == 1 && $0.number("y") == 1 },
    processors: nil,
  )

  package static let pixelRatio = ImageOperation(
    "dpr",
    takes: [.init("ratio", .number(0.1...8))],
    keepsWhenEmpty: true,
    "Multiplies the box and all distances.",
    example: "dpr:2",
    isOff: { _ in false },
    processors: nil,
  )

  package static let enlarge = ImageOperation(
    "enlarge",
    "el",
    takes: [.init("enlarge", .flag, initially: .flag(false))],
    keepsWhenEmpty: true,
    "Enlarges images that are smaller than the box.",
    example: "el:1",
    processors: nil,
  )

  package static let gravity = ImageOperation(
    "gravity",
    "g",
    takes: [.init("gravity", .gravity(crops: true), initially: .gravity(.center))],
    keepsWhenEmpty: true,
    "Sets the part that stays when an image is cropped to the box.",
    example: "g:sm",
    processors: nil,
  )

  // MARK: - Before the resize

  package static let trim = ImageOperation(
    "trim",
    "t",
    takes: [
      .init("threshold", .number(0...255)), .init("color", .color(hasComponents: false)),
      .init("equal left and right", .flag, initially: .flag(false)),
      .init("equal top and bottom", .flag, initially: .flag(false)),
    ],
    keepsWhenEmpty: true,
    "Removes edges of one color, by default that of the top left pixel.",
    example: "t:10",
    needsOriginal: true,
    isOff: { _ in false },
  ) { values, _ in
    [
      .trim(
        tolerance: values.amount("threshold"),
        color: values.color("color"),
        isEqualHorizontally: values.flag("equal left and right") == true,
        isEqualVertically: values.flag("equal top and bottom") == true,
      )
    ]
  }

  package static let rotate = ImageOperation(
    "rotate",
    "rot",
    takes: [.init("angle", .whole(-3600...3600, multipleOf: 90), .degrees, initially: .number(0))],
    keepsWhenEmpty: true,
    "Turns clockwise, by multiples of 90.",
    example: "rot:90",
    complete: { values in
      let rest = values.amount("angle").truncatingRemainder(dividingBy: 360)
      values["angle"] = .number(rest < 0 ? rest + 360 : rest == 0 ? 0 : rest)
    },
    size: { values, sides, _ in
      values.amount("angle") == 180 ? sides : Sides(width: sides.height, height: sides.width)
    },
  ) { values, _ in [.rotate(degrees: values.amount("angle"))] }

  package static let autoRotate = ImageOperation(
    "auto_rotate",
    "ar",
    takes: [.init("rotate", .flag, initially: .flag(true))],
    "Turns images upright, which is always done.",
    example: "ar:1",
    complete: { (values) throws(OperationParameter.Mismatch) in
      // Decoders turn every image upright.
      guard values.flag("rotate") == true else {
        throw OperationParameter.Mismatch(expected: "1, since all images are turned upright", given: "0")
      }
    },
    processors: nil,
  )

  package static let flip = ImageOperation(
    "flip",
    "fl",
    takes: [
      .init("left and right", .flag, initially: .flag(false)), .init("top and bottom", .flag, initially: .flag(false)),
    ],
    "Mirrors.",
    example: "fl:1:0",
  ) { values, _ in
    let axes: [(String, ImageProcessor.FlipAxis)] = [("left and right", .horizontal), ("top and bottom", .vertical)]
    return axes.filter { values.flag($0.0) == true }.map { .flip($0.1) }
  }

  package static let crop = ImageOperation(
    "crop",
    "c",
    takes: [
      .init("width", .number(0...65_535), .pixels, initially: .number(0)),
      .init("height", .number(0...65_535), .pixels, initially: .number(0)),
      .init("gravity", .gravity(crops: true)),
    ],
    "Keeps a part of the original; a side below 1 is a fraction, and 0 is all. The gravity is that of the box by default.",
    example: "c:0.5:0:ea",
    needsOriginal: true,
    isOff: { _ in false },
    size: { values, sides, _ in
      Sides(
        width: ResizeBox.part(values.amount("width"), of: sides.width),
        height: ResizeBox.part(values.amount("height"), of: sides.height),
      )
    },
  ) { values, context in
    let gravity = values.gravity("gravity") ?? context.gravity
    return [ResizeBox.processor(width: values.amount("width"), height: values.amount("height"), gravity)]
  }

  // MARK: - After the resize

  package static let brightness = ImageOperation(
    "brightness",
    "br",
    takes: [.init("amount", .whole(-255...255), initially: .number(0))],
    "Adds a number to each component.",
    example: "br:40",
  ) { values, _ in [.brightness(values.amount("amount") / 255)] }

  package static let contrast = ImageOperation(
    "contrast",
    "co",
    takes: [.init("factor", .number(0...100), initially: .number(1))],
    "Multiplies the distance from gray.",
    example: "co:1.3",
  ) { values, _ in [.contrast(values.amount("factor"))] }

  package static let saturation = ImageOperation(
    "saturation",
    "sa",
    takes: [.init("factor", .number(0...100), initially: .number(1))],
    "Multiplies the distance of a color from its gray.",
    example: "sa:0.5",
  ) { values, _ in [.saturation(values.amount("factor"))] }

  package static let adjust = ImageOperation(
    "adjust",
    "a",
    sets: [brightness, contrast, saturation],
    "Sets the three of them.",
    example: "a:10:1.2:0.5",
  )

  package static let blur = ImageOperation(
    "blur",
    "bl",
    takes: [.init("deviation", .number(0...1000), .pixels, initially: .number(0))],
    "Blurs with a Gaussian of a standard deviation.",
    example: "bl:4",
  ) { values, _ in [.blur(radius: .pixels(values.amount("deviation")))] }

  package static let sharpen = ImageOperation(
    "sharpen",
    "sh",
    takes: [.init("deviation", .number(0...100), .pixels, initially: .number(0))],
    "Sharpens by unsharp masking with a standard deviation.",
    example: "sh:1",
  ) { values, _ in [.sharpen(radius: .pixels(values.amount("deviation")))] }

  private static let corners = ["top left", "top right", "bottom right", "bottom left"]

  package static let roundedCorners = ImageOperation(
    "rounded_corners",
    "rc",
    takes: corners.map { .init($0, .number(0...65_535), .pixels) },
    "Makes corners transparent, by one radius or four; not in imgproxy.",
    example: "rc:16",
    complete: { (values) throws(OperationParameter.Mismatch) in
      let radii = corners.compactMap { values.number($0) }
      guard radii.count == 4 || radii.count == 1 && values[corners[0]] != nil else {
        throw OperationParameter.Mismatch(
          expected: "one radius or four",
          given: radii.map(DecimalText.of).joined(separator: ":"),
        )
      }
      guard radii.allSatisfy({ $0 == radii[0] }) else { return }
      for corner in corners.dropFirst() { values[corner] = nil }
    },
    isOff: { $0.amount(corners[0]) == 0 && $0[corners[1]] == nil },
  ) { values, context in
    let radii = corners.compactMap { values.number($0) }.map { Length.pixels($0 * context.box.ratio) }
    guard radii.count == 4 else { return radii.map { .roundedCorners(radius: $0) } }
    return [
      .roundedCorners(
        CornerRadii(topLeft: radii[0], topRight: radii[1], bottomRight: radii[2], bottomLeft: radii[3])
      )
    ]
  }

  private static let canvas: [OperationParameter] = [
    .init("extend", .flag, initially: .flag(false)),
    .init("gravity", .gravity(crops: false), initially: .gravity(.center)),
  ]

  package static let extend = ImageOperation(
    "extend",
    "ex",
    takes: canvas,
    keepsWhenEmpty: true,
    "Puts the image on a canvas of the size of the box.",
    example: "ex:1",
    isOff: { $0.flag("extend") != true },
    size: { _, sides, context in
      Sides(width: max(sides.width, context.box.width), height: max(sides.height, context.box.height))
    },
  ) { values, context in
    let box = context.box
    guard box.width > 0 || box.height > 0 else { return [] }
    let (anchor, offset) = context.placement(values.gravity("gravity"))
    let sides = [box.width, box.height].map { $0 > 0 ? Length.pixels($0) : .fraction(1) }
    return [.canvas(width: sides[0], height: sides[1], at: anchor, offset: offset, color: context.canvasColor)]
  }

  package static let extendAspectRatio = ImageOperation(
    "extend_aspect_ratio",
    "extend_ar",
    "exar",
    takes: canvas,
    keepsWhenEmpty: true,
    "Puts the image on a canvas of the shape of the box.",
    example: "exar:1",
    isOff: { $0.flag("extend") != true },
    size: { _, sides, context in
      let (width, height) = (context.box.width, context.box.height)
      guard width > 0, height > 0 else { return sides }
      return Sides(
        width: max(sides.width, (sides.height * width / height).rounded()),
        height: max(sides.height, (sides.width * height / width).rounded()),
      )
    },
  ) { values, context in
    let box = context.box
    guard box.width > 0, box.height > 0 else { return [] }
    let (anchor, offset) = context.placement(values.gravity("gravity"))
    return [.canvas(aspectRatio: box.width / box.height, at: anchor, offset: offset, color: context.canvasColor)]
  }

  private static let edges = ["top", "right", "bottom", "left"]

  package static let padding = ImageOperation(
    "padding",
    "pd",
    takes: edges.map { .init($0, sides, .pixels) },
    "Puts space around the result; an edge that is left out is that of the other side.",
    example: "pd:10:20",
    complete: { values in
      let top = values["top"] ?? .number(0)
      let right = values["right"] ?? top
      (values["top"], values["right"]) = (top, right)
      (values["bottom"], values["left"]) = (values["bottom"] ?? top, values["left"] ?? right)
    },
    isOff: { values in edges.allSatisfy { values.amount($0) == 0 } },
    size: { values, sides, context in
      let lengths = edges.map { (values.amount($0) * context.box.ratio).rounded() }
      return Sides(width: sides.width + lengths[1] + lengths[3], height: sides.height + lengths[0] + lengths[2])
    },
  ) { values, context in
    let lengths = edges.map { Length.pixels((values.amount($0) * context.box.ratio).rounded()) }
    return [
      .padding(
        top: lengths[0],
        right: lengths[1],
        bottom: lengths[2],
        left: lengths[3],
        color: context.canvasColor,
      )
    ]
  }

  /// The parameter of `watermark` that names a picture.
  static let picture = "picture"

  package static let watermark = ImageOperation(
    "watermark",
    "wm",
    takes: [
      .init(picture, .text("a file or a URL"), only: .shell),
      .init("opacity", .number(0...1), initially: .number(0), only: .url),
      .init("place", .place, initially: .place(.center)),
      .init("x", .number(OperationParameter.distances), .pixels, initially: .number(0)),
      .init("y", .number(OperationParameter.distances), .pixels, initially: .number(0)),
      .init("scale", .number(0...10), initially: .number(0)),
      .init("opacity", .number(0...1), initially: .number(1), only: .shell),
    ],
    "Lays a picture over the result: in a URL that of the server. The scale is one of the width; 0 is its own size.",
    example: "wm:0.5:soea",
    inShell: "wm:logo.png:se:10:10:0.2:0.5",
    isOff: { $0.amount("opacity") == 0 },
  ) { (values, context) throws(ImageOperationError) in
    let name = values.text(picture) ?? ""
    guard let mark = context.pictures[name] else {
      throw ImageOperationError("watermark", "needs a picture\(name.isEmpty ? "" : ", but there is no '\(name)'")")
    }
    let place = values.place("place") ?? .center
    let (anchor, offset) = context.placement(.place(place, x: values.amount("x"), y: values.amount("y")))
    let scale = values.amount("scale")
    return [
      .overlay(
        mark,
        at: anchor,
        offset: offset,
        width: scale > 0 ? .fraction(scale) : nil,
        opacity: values.amount("opacity"),
      )
    ]
  }

  package static let background = ImageOperation(
    "background",
    "bg",
    takes: [.init("color", .color(hasComponents: true))],
    "Sets the color behind transparent pixels and of canvases: R, G, B, or 3, 6 or 8 hexadecimal digits.",
    example: "bg:ff8000",
  ) { values, _ in values.color("color").map { [.background($0)] } ?? [] }
}
