import VitrineImaging
import VitrineRuntime

// The options that change colours and what is drawn.
extension OptionTable {
  static let looks: [Option] = [
    Option("background", "bg", values: 3) { (values, draft) throws(RequestError) in
      // Without a value there is none.
      draft.options.background = try values.color(0)
    },
    Option("brightness", "br", values: 1) { (values, draft) throws(RequestError) in
      try setBrightness(values, &draft.options)
    },
    Option("contrast", "co", values: 1) { (values, draft) throws(RequestError) in
      draft.options.contrast = try values.number(0, in: 0...100) ?? 1
    },
    Option("saturation", "sa", values: 1) { (values, draft) throws(RequestError) in
      draft.options.saturation = try values.number(0, in: 0...100) ?? 1
    },
    Option("adjust", "a", values: 3) { (values, draft) throws(RequestError) in
      try setBrightness(values, &draft.options)
      draft.options.contrast = try values.number(1, in: 0...100) ?? 1
      draft.options.saturation = try values.number(2, in: 0...100) ?? 1
    },
    Option("blur", "bl", values: 1) { (values, draft) throws(RequestError) in
      draft.options.blur = try values.number(0, in: 0...1000) ?? 0
    },
    Option("sharpen", "sh", values: 1) { (values, draft) throws(RequestError) in
      draft.options.sharpening = try values.number(0, in: 0...100) ?? 0
    },
    Option("rounded_corners", "rc", values: 4) { (values, draft) throws(RequestError) in
      var radii: [Double] = []
      for index in values.texts.indices {
        guard let radius = try values.number(index, in: 0...65_535) else { throw values.error(index, "radii") }
        radii.append(radius)
      }
      guard radii.count == 1 || radii.count == 4 else { throw values.error(0, "one radius or four") }
      let isEqual = radii.allSatisfy { $0 == radii[0] }
      draft.options.cornerRadii = !isEqual ? radii : radii[0] == 0 ? [] : [radii[0]]
    },
    Option("watermark", "wm", values: 5) { (values, draft) throws(RequestError) in
      guard let opacity = try values.number(0, in: 0...1), opacity > 0 else {
        draft.options.watermark = nil
        return
      }
      let range = -65_535.0...65_535.0
      draft.options.watermark = ThumbnailOptions.Watermark(
        opacity: opacity,
        place: try values.choice(1) ?? .center,
        x: try values.number(2, in: range) ?? 0,
        y: try values.number(3, in: range) ?? 0,
        scale: try values.number(4, in: 0...10) ?? 0,
      )
    },
  ]

  /// Reads a brightness from -255 to 255.
  private static func setBrightness(_ values: OptionValues, _ options: inout ThumbnailOptions) throws(RequestError) {
    options.brightness = try values.integer(0, in: -255...255) ?? 0
  }
}
