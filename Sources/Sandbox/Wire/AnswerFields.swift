package import VitrineImaging
package import VitrineRuntime

/// An answer as a message and what belongs to it in the output: pixels at its beginning, then other long parts.
///
/// The same code writes and reads it.
package struct AnswerFields {
  /// A long part of an answer that is written.
  package enum Part: Sendable {
    case data(Data)
    case bitmap(Bitmap)
    case gray(GrayBitmap)
  }

  package var message: Message
  /// The long parts and their places in the output, once written.
  package private(set) var parts: [(range: SharedRange, part: Part)] = []
  /// The number of bytes of the output that are in use, once written.
  package private(set) var outputByteCount = 0
  // Borrowed: the maker keeps it for the life of this value. The worker may change it while it is read.
  private let output: Elements<UInt8>
  private let options: DecodeOptions

  /// Begins to write an answer.
  package init() {
    self.init(reading: Message(), .empty, DecodeOptions())
  }

  /// Begins to read the answer to a question with `options`; `output` must stay valid meanwhile.
  package init(reading message: Message, _ output: Elements<UInt8>, _ options: DecodeOptions) {
    (self.message, self.output, self.options) = (message, output, options)
  }

  /// The number of bytes that the parts of an answer besides its pixels need at most.
  package static func extraByteCount(_ info: ImageInfo) -> Int {
    (info.colorProfile?.data.count ?? 0) + 2 * alignment
  }

  private static let alignment = 64

  /// Reserves room for a part.
  private mutating func place(_ part: Part, _ count: Int) -> SharedRange {
    let range = SharedRange(offset: outputByteCount, count: count)
    parts.append((range, part))
    outputByteCount += (count + Self.alignment - 1) / Self.alignment * Self.alignment
    return range
  }

  private mutating func code(_ data: inout Data?, _ field: String, limit: Int) throws(Malformed) {
    var range = data.map { place(.data($0), $0.count) }
    try message.code(&range, field, from: SharedRange()) { (message, range) throws(Malformed) in
      try message.code(&range, field)
    }
    if !message.isWriting { data = try range?.copy(from: output, field, limit: limit) }
  }

  /// Codes the facts of an image, and `pixels` after them; the profile follows.
  private mutating func code(
    _ info: inout ImageInfo,
    pixels: (inout AnswerFields, ImageInfo) throws(Malformed) -> Void = { _, _ in },
  ) throws(Malformed) {
    var facts = info
    try message.code(&facts)
    if !message.isWriting {
      do throws(ImageError) { try options.limits.check(facts) } catch { throw Malformed(field: "size") }
    }
    try pixels(&self, facts)
    var profile = info.colorProfile?.data
    try code(&profile, "profile", limit: options.limits.metadataByteCount)
    facts.colorProfile = profile.map { ColorProfile(data: $0) }
    info = facts
  }

  /// Reads the place of pixels, which has the size that the question and the header lead to.
  private mutating func place(
    _ info: ImageInfo,
    isWhole: Bool,
    bytesPerPixel: Int,
    written: (width: Int, height: Int, range: SharedRange)?,
  ) throws(Malformed) -> (width: Int, height: Int, bytes: Elements<UInt8>) {
    var (width, height, range) = written ?? (1, 1, SharedRange())
    try message.code(&width, "width of the result", in: 1...Int(Int32.max))
    try message.code(&height, "height of the result", in: 1...Int(Int32.max))
    try message.code(&range, "place of the pixels")
    guard !message.isWriting else { return (width, height, output) }
    let expected: SamplingPlan
    do throws(ImageError) {
      var options = options
      if isWhole { (options.size, options.region, options.drawnPart) = (nil, nil, nil) }
      expected = try options.plan(for: info)
    } catch {
      throw Malformed(field: "size of the result")
    }
    guard width == expected.width, height == expected.height, range.count == width * height * bytesPerPixel else {
      throw Malformed(field: "size of the result")
    }
    return (width, height, try range.part(of: output, "place of the pixels"))
  }

  /// `isWhole` is true for a picture that has its own size, whatever the options say.
  private mutating func code(_ bitmap: inout Bitmap, _ info: ImageInfo, isWhole: Bool) throws(Malformed) {
    let range = message.isWriting ? place(.bitmap(bitmap), bitmap.byteCount) : SharedRange()
    let place = try place(
      info,
      isWhole: isWhole,
      bytesPerPixel: 4,
      written: message.isWriting ? (bitmap.width, bitmap.height, range) : nil,
    )
    var isOpaque = bitmap.alpha == .opaque
    try message.code(&isOpaque, "alpha")
    guard !message.isWriting else { return }
    bitmap = Bitmap.writing(
      width: place.width,
      height: place.height,
      alpha: isOpaque ? .opaque : .straight,
      colorSpace: isWhole ? .sRGB : options.colorSpace,
    ) { $0.update(from: place.bytes) }
  }

  private mutating func code(_ bitmap: inout GrayBitmap, _ info: ImageInfo) throws(Malformed) {
    let range = message.isWriting ? place(.gray(bitmap), bitmap.byteCount) : SharedRange()
    let place = try place(
      info,
      isWhole: false,
      bytesPerPixel: 1,
      written: message.isWriting ? (bitmap.width, bitmap.height, range) : nil,
    )
    guard !message.isWriting else { return }
    bitmap = GrayBitmap(width: place.width, height: place.height, storage: nil) { $0.update(from: place.bytes) }
  }
}

extension AnswerFields {
  private static let noInfo = ImageInfo(format: .bitmap, storedWidth: 1, storedHeight: 1)
  private static let noBitmap = Bitmap.writing(width: 1, height: 1, alpha: .opaque, colorSpace: .sRGB) { $0.clear() }

  /// Writes an answer, or reads that to a question of `kind` about `byteCount` bytes.
  ///
  /// - Returns: The answer.
  package mutating func code(
    _ answer: DecodeAnswer?,
    to kind: DecodeQuestion.Kind,
    byteCount: Int,
  ) throws(Malformed) -> DecodeAnswer {
    let result: DecodeAnswer
    switch kind {
    case .info:
      var info = answer?.info ?? Self.noInfo
      try code(&info)
      result = .info(info)
    case .metadata: result = .metadata(try code(answer?.metadata ?? ImageMetadata()))
    case .frameDelays: result = .frameDelays(try code(answer?.frameDelays ?? []))
    case .usesThumbnail:
      var uses = answer?.usesThumbnail ?? false
      try message.code(&uses, "use")
      result = .usesThumbnail(uses)
    case .image, .embeddedThumbnail:
      result = .image(try code(answer?.image ?? nil, isWhole: kind == .embeddedThumbnail))
    case .gray: result = .gray(try code(answer?.gray))
    case .preview: result = .preview(try code(answer?.preview ?? nil, byteCount))
    }
    try message.end()
    return result
  }

  private mutating func code(_ known: ImageMetadata) throws(Malformed) -> ImageMetadata {
    var metadata = known
    let limit = options.limits.metadataByteCount
    try code(&metadata.exif, "EXIF", limit: limit)
    try code(&metadata.xmp, "XMP", limit: limit)
    try code(&metadata.extendedXMP, "extended XMP", limit: limit)
    try code(&metadata.iptc, "IPTC", limit: limit)
    var profile = metadata.colorProfile?.data
    try code(&profile, "profile", limit: limit)
    metadata.colorProfile = profile.map { ColorProfile(data: $0) }
    return metadata
  }

  private mutating func code(_ known: [Double]) throws(Malformed) -> [Double] {
    var content = Message()
    for delay in known {
      var delay = delay
      try content.code(&delay, "delay")
    }
    var data: Data? = Data(content.bytes)
    try code(&data, "delays", limit: max(1, options.limits.frameCount).multipliedSaturating(by: 8))
    guard !message.isWriting, let data, data.count >= 8, data.count % 8 == 0 else {
      if message.isWriting { return known }
      throw Malformed(field: "delays")
    }
    var copy = Message(reading: Array(data))
    var delays: [Double] = []
    for _ in 0..<data.count / 8 {
      var delay = 0.0
      try copy.code(&delay, "delay", in: 0...1e9)
      delays.append(delay)
    }
    return delays
  }

  private mutating func code(_ known: ImageContainer?, isWhole: Bool) throws(Malformed) -> ImageContainer? {
    var isThere = known != nil
    try message.code(&isThere, "image")
    guard isThere else {
      // Only an embedded thumbnail may be missing.
      guard isWhole else { throw Malformed(field: "image") }
      return nil
    }
    var (bitmap, info, damage) = (known?.bitmap ?? Self.noBitmap, known?.info ?? Self.noInfo, known?.damage)
    try code(&info) { (fields, info) throws(Malformed) in try fields.code(&bitmap, info, isWhole: isWhole) }
    try message.code(&damage)
    var map = known?.gainMap
    try code(&map, most: bitmap)
    if let known { return known }
    var image = ImageContainer(bitmap, info: info, damage: damage)
    image.gainMap = map
    return image
  }

  /// Codes a gain map, which has at most as many pixels as its picture.
  private mutating func code(_ map: inout GainMap?, most picture: Bitmap) throws(Malformed) {
    var isThere = map != nil
    try message.code(&isThere, "gain map")
    guard isThere else { return }
    var bitmap = map?.bitmap ?? Self.noBitmap
    var formula = map?.formula ?? GainMapFormula(maximum: 1)
    var (width, height) = (bitmap.width, bitmap.height)
    try message.code(&width, "width of the gain map", in: 1...max(1, picture.width))
    try message.code(&height, "height of the gain map", in: 1...max(1, picture.height))
    var range = message.isWriting ? place(.bitmap(bitmap), bitmap.byteCount) : SharedRange()
    try message.code(&range, "place of the gain map")
    try message.code(&formula.colorSpace, "colour space of gains")
    try message.code(&formula.baseHeadroom, "headroom", in: -1e3...1e3)
    try message.code(&formula.alternateHeadroom, "headroom", in: -1e3...1e3)
    for place in 0..<3 {
      try message.code(&formula.minimum[place], "gain", in: -1e3...1e3)
      try message.code(&formula.maximum[place], "gain", in: -1e3...1e3)
      try message.code(&formula.gamma[place], "gamma", in: -1e3...1e3)
      try message.code(&formula.baseOffset[place], "offset", in: -1e3...1e3)
      try message.code(&formula.alternateOffset[place], "offset", in: -1e3...1e3)
    }
    guard !message.isWriting else { return }
    guard formula.isValid, range.count == 4 * width * height else { throw Malformed(field: "gain map") }
    let bytes = try range.part(of: output, "place of the gain map")
    bitmap = Bitmap.writing(width: width, height: height, alpha: .opaque, colorSpace: .sRGB) { $0.update(from: bytes) }
    map = GainMap(bitmap, formula)
  }

  private mutating func code(_ known: DecodedGrayImage?) throws(Malformed) -> DecodedGrayImage {
    var (info, damage) = (known?.info ?? Self.noInfo, known?.damage)
    var bitmap = known?.bitmap ?? GrayBitmap(Self.noBitmap)
    try code(&info) { (fields, info) throws(Malformed) in try fields.code(&bitmap, info) }
    try message.code(&damage)
    return known ?? DecodedGrayImage(bitmap: bitmap, info: info, damage: damage)
  }

  private mutating func code(
    _ known: ImagePreview?,
    _ byteCount: Int,
  ) throws(Malformed) -> ImagePreview? {
    var isThere = known != nil
    try message.code(&isThere, "preview")
    guard isThere else { return nil }
    var (bitmap, info) = (known?.bitmap ?? Self.noBitmap, known?.info ?? Self.noInfo)
    try code(&info) { (fields, info) throws(Malformed) in try fields.code(&bitmap, info, isWhole: false) }
    var share = 1.0
    if case .rows(let known) = known?.detail { share = known }
    try message.code(&share, "share of rows", in: Double.leastNonzeroMagnitude...1)
    if let known { return known }
    return ImagePreview(
      bitmap: bitmap,
      info: info,
      detail: share < 1 ? .rows(share: share) : .whole,
      byteCount: byteCount,
    )
  }
}
