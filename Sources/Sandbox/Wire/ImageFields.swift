package import VitrineImaging
import VitrineRuntime

// The values of decoding as fields of messages.

extension Message {
  /// The lengths of a side that any decoder can deliver.
  private static let sides = 1...Int(Int32.max)

  private static let formats = ImageFormat.all + [.bitmap]

  package mutating func code(_ format: inout ImageFormat, _ field: String) throws(Malformed) {
    var index = Self.formats.firstIndex(of: format) ?? 0
    try code(&index, field, in: 0...Self.formats.count - 1)
    format = Self.formats[index]
  }

  /// Codes all facts but the profile.
  package mutating func code(_ info: inout ImageInfo) throws(Malformed) {
    var format = info.format
    var (width, height, orientation) = (info.storedWidth, info.storedHeight, info.orientation)
    try code(&format, "format")
    try code(&width, "width", in: Self.sides)
    try code(&height, "height", in: Self.sides)
    try code(&orientation, "orientation")
    var other = ImageInfo(format: format, storedWidth: width, storedHeight: height, orientation: orientation)
    if isWriting { other = info.inRange }
    try code(&other.frameCount, "number of frames", in: Self.sides)
    try code(&other.duration, "duration", in: 0...1e12)
    try code(&other.loopCount, "number of loops", in: 0...Int(Int32.max))
    try code(&other.hasAlpha, "alpha")
    try code(&other.bitsPerComponent, "number of bits", in: 1...64)
    try code(&other.isVector, "kind of picture")
    try code(&other.colorModel, "colour model")
    try code(&other.colorEncoding, "colour encoding", from: .sRGB) { (message, encoding) throws(Malformed) in
      try message.code(&encoding)
    }
    let colors = HighRangeColors(.pq, primaries: .sRGB)
    try code(&other.highRangeColors, "dynamic range", from: colors) { (message, colors) throws(Malformed) in
      try message.code(&colors)
    }
    try code(&other.streamsRows, "kind of rows")
    try code(&other.workingByteCount, "memory", from: 0) { (message, count) throws(Malformed) in
      try message.code(&count, "memory", in: 0 ... .max)
    }
    info = other
  }

  private mutating func code(_ encoding: inout ColorEncoding) throws(Malformed) {
    try code(&encoding.red)
    try code(&encoding.green)
    try code(&encoding.blue)
    try code(&encoding.white)
    var gamma: Double?
    if case .gamma(let value) = encoding.transfer { gamma = value }
    try code(&gamma, "gamma", from: 1) { (message, gamma) throws(Malformed) in try message.code(&gamma, "gamma") }
    encoding.transfer = gamma.map { .gamma($0) } ?? .sRGB
  }

  private mutating func code(_ colors: inout HighRangeColors) throws(Malformed) {
    var (transfer, primaries, peak) = (colors.transfer, colors.primaries, colors.peak)
    try code(&transfer, "dynamic range")
    try code(&primaries)
    try code(&peak, "brightness", from: 0) { (message, peak) throws(Malformed) in
      try message.code(&peak, "brightness")
    }
    colors = HighRangeColors(transfer, primaries: primaries, peak: peak)
  }

  private mutating func code(_ color: inout ColorEncoding.Chromaticity) throws(Malformed) {
    try code(&color.x, "colour encoding")
    try code(&color.y, "colour encoding")
  }

  package mutating func code(_ error: inout ImageError) throws(Malformed) {
    var (code, detail) = (error.code.description, error.detail)
    var (format, limit) = (error.format, error.limit?.description ?? "")
    try self.code(&code, "kind of error")
    try self.code(&format, "format", from: .jpeg) { (message, format) throws(Malformed) in
      try message.code(&format, "format")
    }
    try self.code(&limit, "exceeded limit")
    try self.code(&detail, "message")
    guard let known = ImageError.Code(code), limit.isEmpty || DecodeLimits.Name(limit) != nil else {
      throw Malformed(field: "kind of error")
    }
    error = ImageError(known, format: format, limit: DecodeLimits.Name(limit), detail)
  }

  package mutating func code(_ damage: inout ImageError?) throws(Malformed) {
    try code(&damage, "damage", from: ImageError(.corrupt, "")) { (message, error) throws(Malformed) in
      try message.code(&error)
    }
  }

  package mutating func code(_ limits: inout DecodeLimits) throws(Malformed) {
    try code(&limits.pixelCount, "limit")
    try code(&limits.heldPixelCount, "limit")
    try code(&limits.composedPixelCount, "limit")
    try code(&limits.side, "limit")
    try code(&limits.outputByteCount, "limit")
    try code(&limits.memoryByteCount, "limit")
    try code(&limits.frameCount, "limit")
    try code(&limits.warningCount, "limit")
    try code(&limits.metadataByteCount, "limit")
    try code(&limits.timeLimit, "time limit", from: .zero) { (message, limit) throws(Malformed) in
      var seconds = limit / .seconds(1)
      try message.code(&seconds, "time limit", in: 0...1e9)
      limit = .seconds(seconds)
    }
  }

  package mutating func code(_ options: inout DecodeOptions) throws(Malformed) {
    try code(&options.limits)
    try code(&options.size, "size", from: .pixels(1)) { (message, size) throws(Malformed) in
      try message.code(&size)
    }
    try code(&options.region, "region", from: PixelRegion(x: 0, y: 0, width: 1, height: 1)) {
      (message, region) throws(Malformed) in
      try message.code(&region)
    }
    let part = DrawnPart(ofWidth: 1, height: 1, region: PixelRegion(x: 0, y: 0, width: 1, height: 1))
    try code(&options.drawnPart, "part of a drawing", from: part) { (message, part) throws(Malformed) in
      try message.code(&part.width, "part of a drawing", in: 1...Int(Int32.max))
      try message.code(&part.height, "part of a drawing", in: 1...Int(Int32.max))
      try message.code(&part.region)
    }
    try code(&options.quality, "quality")
    try code(&options.filter, "filter")
    try code(&options.usesLinearLight, "linear light")
    try code(&options.colorSpace, "colour space")
    try code(&options.dynamicRange, "dynamic range")
    try code(&options.frame, "frame")
    try code(&options.acceptsPartial, "partial")
    try code(&options.bytesPerPixel, "pixel size", in: 1...4)
  }

  private mutating func code(_ region: inout PixelRegion) throws(Malformed) {
    try code(&region.x, "region")
    try code(&region.y, "region")
    try code(&region.width, "region")
    try code(&region.height, "region")
  }

  private mutating func code(_ size: inout TargetSize) throws(Malformed) {
    var rules = size.rules
    try code(&rules, "box", from: FitRules()) { (message, rules) throws(Malformed) in try message.code(&rules) }
    if let rules {
      size = TargetSize(rules)
      return
    }
    // Lengths that cannot be used are refused where they are used.
    var (width, height) = (size.width, size.height)
    var (mode, enlarges, x, y) = (size.mode, size.enlarges, size.anchor.x, size.anchor.y)
    try code(&width, "width", from: 0) { (message, width) throws(Malformed) in try message.code(any: &width, "width") }
    try code(&height, "height", from: 0) { (message, height) throws(Malformed) in
      try message.code(any: &height, "height")
    }
    try code(&mode, "mode")
    try code(&enlarges, "enlarges")
    try code(&x, "anchor", in: 0...1)
    try code(&y, "anchor", in: 0...1)
    switch (width, height) {
    case (let width?, let height?): size = .pixels(width, height, mode, enlarges: enlarges)
    case (let width?, nil): size = .pixels(width: width, enlarges: enlarges)
    case (nil, let height?): size = .pixels(height: height, enlarges: enlarges)
    case (nil, nil): throw Malformed(field: "size")
    }
    size.anchor = Anchor(x: x, y: y)
  }

  private mutating func code(_ rules: inout FitRules) throws(Malformed) {
    let (lengths, factors, distances) = (0...1e9, 1e-9...1e9, -1e9...1e9)
    try code(&rules.fit, "box")
    try code(&rules.width, "box", in: lengths)
    try code(&rules.height, "box", in: lengths)
    try code(&rules.minimumWidth, "box", in: lengths)
    try code(&rules.minimumHeight, "box", in: lengths)
    try code(&rules.zoomX, "box", in: factors)
    try code(&rules.zoomY, "box", in: factors)
    try code(&rules.ratio, "box", in: factors)
    try code(&rules.enlarges, "box")
    try code(&rules.extends, "box")
    try code(&rules.turn, "box")
    try code(&rules.limit, "box", from: FitRules.Limit(side: 1)) { (message, limit) throws(Malformed) in
      try message.code(&limit.side, "box", in: 1...1e9)
      try message.code(&limit.keepsShape, "box")
      for edge in limit.padding.indices { try message.code(&limit.padding[edge], "box", in: lengths) }
    }
    var (place, isFocus, x, y): (Gravity.Place, Bool, Double, Double) =
      switch rules.gravity {
      case .place(let place, let x, let y): (place, false, x, y)
      case .focus(let x, let y): (.center, true, x, y)
      // The decoder keeps no part by its contents.
      case .smart: (.center, false, 0, 0)
      }
    try code(&place, "gravity")
    try code(&isFocus, "gravity")
    try code(&x, "gravity", in: distances)
    try code(&y, "gravity", in: distances)
    rules.gravity = isFocus ? .focus(x: x, y: y) : .place(place, x: x, y: y)
  }

  /// Codes a number that need not be finite.
  private mutating func code(any number: inout Double, _ field: String) throws(Malformed) {
    var bits = Int(bitPattern: UInt(number.bitPattern))
    try code(&bits, field)
    number = Double(bitPattern: UInt64(UInt(bitPattern: bits)))
  }
}

extension ImageInfo {
  /// The facts with numbers that a message can have: no picture is lost for one that means nothing.
  fileprivate var inRange: ImageInfo {
    var info = self
    info.frameCount = min(max(1, frameCount), Int(Int32.max))
    info.duration = duration >= 0 ? min(duration, 1e12) : 0
    info.loopCount = min(max(0, loopCount), Int(Int32.max))
    info.bitsPerComponent = min(max(1, bitsPerComponent), 64)
    info.workingByteCount = workingByteCount.map { max(0, $0) }
    return info
  }
}
