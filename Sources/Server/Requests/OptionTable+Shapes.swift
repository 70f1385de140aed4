import VitrineImaging
import VitrineRuntime

// The options that change size and shape.
extension OptionTable {
  /// The largest number in an option of lengths.
  private static let maxLength = 65_535

  static let shapes: [Option] = [
    Option("resize", "rs", values: 8) { (values, draft) throws(RequestError) in
      draft.options.fit = try values.choice(0) ?? draft.options.fit
      try setSize(values.dropFirst(1), &draft.options)
    },
    Option("size", "s", values: 7) { (values, draft) throws(RequestError) in
      try setSize(values, &draft.options)
    },
    Option("resizing_type", "rt", values: 1) { (values, draft) throws(RequestError) in
      draft.options.fit = try values.choice(0) ?? draft.options.fit
    },
    Option("width", "w", values: 1) { (values, draft) throws(RequestError) in
      draft.options.width = try values.integer(0, in: 0...maxLength) ?? draft.options.width
    },
    Option("height", "h", values: 1) { (values, draft) throws(RequestError) in
      draft.options.height = try values.integer(0, in: 0...maxLength) ?? draft.options.height
    },
    Option("min-width", "min_width", "mw", values: 1) { (values, draft) throws(RequestError) in
      draft.options.minimumWidth = try values.integer(0, in: 0...maxLength) ?? 0
    },
    Option("min-height", "min_height", "mh", values: 1) { (values, draft) throws(RequestError) in
      draft.options.minimumHeight = try values.integer(0, in: 0...maxLength) ?? 0
    },
    Option("zoom", "z", values: 2) { (values, draft) throws(RequestError) in
      guard let x = try values.number(0, in: 0.01...100) else { return }
      (draft.options.zoomX, draft.options.zoomY) = (x, try values.number(1, in: 0.01...100) ?? x)
    },
    Option("dpr", values: 1) { (values, draft) throws(RequestError) in
      draft.options.pixelRatio = try values.number(0, in: 0.1...8) ?? draft.options.pixelRatio
    },
    Option("enlarge", "el", values: 1) { (values, draft) throws(RequestError) in
      draft.options.enlarges = try values.boolean(0) ?? draft.options.enlarges
    },
    Option("extend", "ex", values: 4) { (values, draft) throws(RequestError) in
      draft.options.extends = try canvas(values, draft.options.extends)
    },
    Option("extend_aspect_ratio", "extend_ar", "exar", values: 4) { (values, draft) throws(RequestError) in
      draft.options.extendsToAspectRatio = try canvas(values, draft.options.extendsToAspectRatio)
    },
    Option("gravity", "g", values: 3) { (values, draft) throws(RequestError) in
      draft.options.gravity = try values.gravity(0, allowsSmart: true) ?? draft.options.gravity
    },
    Option("crop", "c", values: 5) { (values, draft) throws(RequestError) in
      let range = 0.0...Double(maxLength)
      draft.options.crop = ThumbnailOptions.Crop(
        width: try values.number(0, in: range) ?? 0,
        height: try values.number(1, in: range) ?? 0,
        gravity: try values.gravity(2, allowsSmart: true),
      )
    },
    Option("trim", "t", values: 4) { (values, draft) throws(RequestError) in
      guard let threshold = try values.number(0, in: 0...255) else { return }
      draft.options.trim = ThumbnailOptions.Trim(
        threshold: threshold,
        color: try values.first(2).color(1),
        isEqualHorizontally: try values.boolean(2) ?? false,
        isEqualVertically: try values.boolean(3) ?? false,
      )
    },
    Option("padding", "pd", values: 4) { (values, draft) throws(RequestError) in
      let range = 0...maxLength
      let top = try values.integer(0, in: range) ?? 0
      let right = try values.integer(1, in: range) ?? top
      draft.options.padding = ThumbnailOptions.Padding(
        top: top,
        right: right,
        bottom: try values.integer(2, in: range) ?? top,
        left: try values.integer(3, in: range) ?? right,
      )
    },
    Option("rotate", "rot", values: 1) { (values, draft) throws(RequestError) in
      guard let degrees = try values.integer(0, in: -3600...3600) else { return }
      guard degrees.isMultiple(of: 90) else { throw values.error(0, "a multiple of 90") }
      draft.options.rotation = (degrees % 360 + 360) % 360
    },
    Option("auto_rotate", "ar", values: 1) { (values, _) throws(RequestError) in
      // Decoders turn every image upright.
      guard try values.boolean(0) != false else { throw values.error(0, "1, since all images are turned upright") }
    },
    Option("flip", "fl", values: 2) { (values, draft) throws(RequestError) in
      draft.options.flipsHorizontally = try values.boolean(0) ?? false
      draft.options.flipsVertically = try values.boolean(1) ?? false
    },
  ]

  /// Reads width, height, enlarging and extending.
  private static func setSize(_ values: OptionValues, _ options: inout ThumbnailOptions) throws(RequestError) {
    options.width = try values.integer(0, in: 0...maxLength) ?? options.width
    options.height = try values.integer(1, in: 0...maxLength) ?? options.height
    options.enlarges = try values.boolean(2) ?? options.enlarges
    options.extends = try canvas(values.dropFirst(3), options.extends)
  }

  /// Reads whether there is a canvas, and the place of the image on it.
  private static func canvas(
    _ values: OptionValues,
    _ old: ThumbnailOptions.Gravity?,
  ) throws(RequestError) -> ThumbnailOptions.Gravity? {
    guard let isWanted = try values.boolean(0) else { return old }
    let gravity = try values.gravity(1, allowsSmart: false)
    return isWanted ? gravity ?? .center : nil
  }
}
