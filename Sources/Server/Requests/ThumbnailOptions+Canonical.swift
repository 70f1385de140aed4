import VitrineHTTP
import VitrineImaging
import VitrineRuntime

extension ThumbnailOptions {
  /// The options in the syntax of URLs, in a fixed order and without those that have their defaults.
  ///
  /// Equal options have equal texts, and different ones different texts, so it serves in validators and keys.
  public var canonical: String { parts.joined(separator: "/") }

  private var parts: [String] {
    let usual = ThumbnailOptions()
    var parts: [String] = []
    func add(_ name: String, _ values: String..., if isUnusual: Bool) {
      if isUnusual { parts.append("\(name):\(values.joined(separator: ":"))") }
    }
    add("rt", fit.rawValue, if: fit != usual.fit)
    add("w", "\(width)", if: width != 0)
    add("h", "\(height)", if: height != 0)
    add("mw", "\(minimumWidth)", if: minimumWidth != 0)
    add("mh", "\(minimumHeight)", if: minimumHeight != 0)
    add("z", Decimal.text(zoomX), Decimal.text(zoomY), if: (zoomX, zoomY) != (1, 1))
    if let pixelRatio { add("dpr", Decimal.text(pixelRatio), if: true) }
    add("el", "1", if: enlarges)
    add("g", gravity.canonical, if: gravity != usual.gravity)
    if let extends { add("ex", "1", extends.canonical, if: true) }
    if let extendsToAspectRatio { add("exar", "1", extendsToAspectRatio.canonical, if: true) }
    if let crop {
      let gravity = crop.gravity.map { ":\($0.canonical)" } ?? ""
      add("c", Decimal.text(crop.width), Decimal.text(crop.height) + gravity, if: true)
    }
    if let trim {
      add(
        "t",
        Decimal.text(trim.threshold),
        trim.color?.digits ?? "",
        trim.isEqualHorizontally ? "1" : "0",
        trim.isEqualVertically ? "1" : "0",
        if: true,
      )
    }
    add(
      "pd",
      "\(padding.top)",
      "\(padding.right)",
      "\(padding.bottom)",
      "\(padding.left)",
      if: padding != usual.padding,
    )
    add("rot", "\(rotation)", if: rotation != 0)
    add("fl", flipsHorizontally ? "1" : "0", flipsVertically ? "1" : "0", if: flipsHorizontally || flipsVertically)
    if let background { add("bg", background.digits, if: true) }
    add("br", "\(brightness)", if: brightness != 0)
    add("co", Decimal.text(contrast), if: contrast != 1)
    add("sa", Decimal.text(saturation), if: saturation != 1)
    add("bl", Decimal.text(blur), if: blur != 0)
    add("sh", Decimal.text(sharpening), if: sharpening != 0)
    add("rc", cornerRadii.map(Decimal.text).joined(separator: ":"), if: !cornerRadii.isEmpty)
    if let mark = watermark {
      add(
        "wm",
        Decimal.text(mark.opacity),
        mark.place.rawValue,
        Decimal.text(mark.x),
        Decimal.text(mark.y),
        Decimal.text(mark.scale),
        if: true,
      )
    }
    if let quality { add("q", "\(quality)", if: true) }
    let qualities = formatQualities.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }
    add("fq", qualities.joined(separator: ":"), if: !qualities.isEmpty)
    add("sm", "0", if: metadata == .all)
    add("kcr", "0", if: metadata == .none)
    add("scp", "0", if: keepsWideColors)
    add("pg", "\(page)", if: page != 0)
    add("da", "1", if: !animates)
    add("att", "1", if: isAttachment)
    if let fileName { add("fn", Base64URL.encode(fileName.utf8), "1", if: true) }
    if let cacheBuster { add("cb", PercentEncoding.encode(cacheBuster), if: true) }
    return parts
  }
}

extension ThumbnailOptions.Gravity {
  var canonical: String {
    switch self {
    case .place(let place, let x, let y) where (x, y) == (0, 0): place.rawValue
    case .place(let place, let x, let y): "\(place.rawValue):\(Decimal.text(x)):\(Decimal.text(y))"
    case .focus(let x, let y): "fp:\(Decimal.text(x)):\(Decimal.text(y))"
    case .smart: "sm"
    }
  }
}

extension PixelColor {
  fileprivate var digits: String { String(description.dropFirst()) }
}
