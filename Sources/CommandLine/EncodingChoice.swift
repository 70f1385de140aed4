import VitrineImaging
import VitrineRuntime

/// The choices of the command line about how outputs are encoded.
struct EncodingChoice: Sendable {
  /// The options that have an effect; for manuals.
  static let options: [Option] = [.format, .quality, .lossless, .subsampling, .progressive, .metadata, .dynamicRange]

  /// Returns the first of the options that only encoding can follow.
  static func first(in parsed: Arguments) -> Option? {
    [Option.lossless, .subsampling, .progressive, .metadata, .dynamicRange].first {
      parsed.has($0) || parsed.bytes($0) != nil
    }
  }

  /// The format that was named; `nil` if it depends on the picture.
  let format: ImageFormat?
  private let quality: Int?
  private let isLossless: Bool
  private let subsampling: ImageEncoding.Subsampling?
  private let isProgressive: Bool
  let metadata: MetadataPolicy

  /// `format` is the one that `--format` or an extension names.
  init(_ parsed: Arguments, format: ImageFormat?) throws(UsageError) {
    self.format = format
    quality = try parsed.number(.quality)
    subsampling = try parsed.choice(.subsampling)
    (isLossless, isProgressive) = (parsed.has(.lossless), parsed.has(.progressive))
    let range: DynamicRange = try parsed.choice(.dynamicRange) ?? .standard
    metadata = range == .high ? try Self.metadata(parsed).adding(.gainMap) : try Self.metadata(parsed)
    guard let format else {
      if isLossless, subsampling != nil || isProgressive {
        throw UsageError("--lossless writes png or webp by default, so --subsampling and --progressive have no effect")
      }
      return
    }
    switch format.row.loss {
    case .always where isLossless:
      throw UsageError("--lossless: \(format) always loses something; use another --format")
    case .palette where isLossless:
      throw UsageError("--lossless: \(format) has at most 256 colors; use another --format")
    default: break
    }
    if range == .high, format != .jpeg { throw UsageError("--dynamic-range high is for jpeg, not \(format)") }
    if subsampling != nil, format != .jpeg { throw UsageError("--subsampling is for jpeg, not \(format)") }
    if isProgressive, format != .jpeg { throw UsageError("--progressive is for jpeg, not \(format)") }
  }

  /// The range of brightness of the images that are encoded.
  var dynamicRange: DynamicRange { metadata.keepsGainMap && [nil, .jpeg].contains(format) ? .high : .standard }

  private static func metadata(_ parsed: Arguments) throws(UsageError) -> MetadataPolicy {
    guard let text = try parsed.text(.metadata) else { return .strip }
    switch text {
    case "strip": return .strip
    case "keep": return .keep
    default: break
    }
    var fields: Set<MetadataPolicy.Field> = []
    for name in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let field = MetadataPolicy.Field(rawValue: String(name)) else {
        let names = MetadataPolicy.Field.allCases.map(\.rawValue).joined(separator: ",")
        throw UsageError("--metadata takes strip, keep, or some of \(names), not '\(name)'")
      }
      fields.insert(field)
    }
    return .only(fields)
  }

  /// Returns the format of an image: the one that was named, or else GIF for an animation, PNG for an image with
  /// transparency and JPEG for others; without loss, WebP for an animation and PNG for others.
  func format(for image: ImageContainer) -> ImageFormat {
    if let format { return format }
    if image.animation != nil { return isLossless ? .webp : .gif }
    let isTransparent = image.bitmap.hasTransparency && !image.isOpaqueApartFromDamage
    return isLossless || isTransparent ? .png : .jpeg
  }

  /// Encodes an image.
  ///
  /// Blocks.
  func encode(_ image: ImageContainer) throws(ImageError) -> (data: Data, format: ImageFormat) {
    let format = format(for: image)
    var encoding =
      format == .jpeg
      ? ImageEncoding.jpeg(quality: quality ?? 85, subsampling: subsampling ?? .yuv420, isProgressive: isProgressive)
      : ImageEncoding(format, quality: quality, isLossless: isLossless)
    encoding.metadata = metadata
    return try EncoderRegistry.ofTool.encode(image, as: encoding)
  }
}
