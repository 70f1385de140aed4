/// The bounds within which an image is decoded.
///
/// All but the warnings and the time are checked from headers, before a pixel is allocated. An ``ImageError`` says with
/// ``ImageError/limit`` which of them was passed.
public struct DecodeLimits: Hashable, Sendable {
  /// The most pixels an image may have that must be held whole to be decoded: 100 million.
  public var pixelCount = 100_000_000
  /// The most pixels an image may have whose rows stream through, whatever the size asked for: 1,000 million.
  public var streamedPixelCount = 1_000_000_000
  /// The most pixels that may be drawn over one another for one picture: 2,000 million.
  ///
  /// They are the frames of an animation up to the one asked for, where that builds on those before it, times the pixels
  /// of each; and the scans of a progressive JPEG, times its pixels.
  public var composedPixelCount = 2_000_000_000
  /// The longest side, in pixels: 65,535.
  public var side = 65_535
  /// The most bytes the decoded bitmap may take: 256 MiB.
  public var outputByteCount = 256 << 20
  /// The most frames an animation may have, and the most pictures an icon: 10,000.
  public var frameCount = 10_000
  /// The most things in a file that a decoder may overlook before it is called corrupt: 100.
  public var warningCount = 100
  /// The most bytes a profile or other metadata may take: 16 MiB.
  ///
  /// What takes more is left out, and the picture is decoded without it.
  public var metadataByteCount = 16 << 20
  /// The longest one image may take; checked between rows.
  ///
  /// `nil`, the default, sets no bound.
  public var timeLimit: Duration?

  /// The defaults named at each limit.
  public init() {}

  /// A limit's name, to compare with ``ImageError/limit``.
  public struct Name: Hashable, Sendable, CustomStringConvertible {
    private enum Value: String {
      case pixelCount, streamedPixelCount, composedPixelCount, side, outputByteCount, frameCount, warningCount
      case metadataByteCount, timeLimit
    }

    private let value: Value

    /// ``DecodeLimits/pixelCount``.
    public static let pixelCount = Name(value: .pixelCount)
    /// ``DecodeLimits/streamedPixelCount``.
    public static let streamedPixelCount = Name(value: .streamedPixelCount)
    /// ``DecodeLimits/composedPixelCount``.
    public static let composedPixelCount = Name(value: .composedPixelCount)
    /// ``DecodeLimits/side``.
    public static let side = Name(value: .side)
    /// ``DecodeLimits/outputByteCount``.
    public static let outputByteCount = Name(value: .outputByteCount)
    /// ``DecodeLimits/frameCount``.
    public static let frameCount = Name(value: .frameCount)
    /// ``DecodeLimits/warningCount``.
    public static let warningCount = Name(value: .warningCount)
    /// ``DecodeLimits/metadataByteCount``.
    public static let metadataByteCount = Name(value: .metadataByteCount)
    /// ``DecodeLimits/timeLimit``.
    public static let timeLimit = Name(value: .timeLimit)

    /// The name of the property.
    public var description: String { value.rawValue }

    private init(value: Value) {
      self.value = value
    }

    /// The limit of that ``description``.
    package init?(_ description: String) {
      guard let value = Value(rawValue: description) else { return nil }
      self.value = value
    }
  }
}

extension DecodeLimits {
  package func check(_ info: ImageInfo) throws(ImageError) {
    let (width, height) = (info.width, info.height)
    guard width > 0, height > 0, width < 1 << 31, height < 1 << 31 else {
      throw ImageError(.corrupt, format: info.format, "the header says \(width)x\(height) pixels")
    }
    // A drawing takes no memory for the size it says, only for the one it is drawn at.
    guard !info.isVector else { return }
    guard max(width, height) <= side else {
      throw Self.passed(.side, info.format, "\(width)x\(height) pixels, over the limit of \(side) on a side")
    }
    let (most, name) = info.streamsRows ? (streamedPixelCount, Name.streamedPixelCount) : (pixelCount, .pixelCount)
    guard width * height <= most else {
      throw Self.passed(
        name,
        info.format,
        "\(width)x\(height) pixels, over the limit of \(most / 1_000_000) megapixels",
      )
    }
    try check(frames: info.frameCount, format: info.format)
    if let profile = info.colorProfile, profile.data.count > metadataByteCount {
      throw Self.passed(
        .metadataByteCount,
        info.format,
        "a colour profile of \(profile.data.count) bytes, over the limit of \(metadataByteCount)",
      )
    }
  }

  package func check(frames: Int, format: ImageFormat) throws(ImageError) {
    guard frames > frameCount else { return }
    throw Self.passed(.frameCount, format, "\(frames) frames, over the limit of \(frameCount)")
  }

  /// To be asked where a picture that streams otherwise must be held, since a frame is composed on it.
  package func check(heldWidth width: Int, height: Int, format: ImageFormat) throws(ImageError) {
    guard width * height > pixelCount else { return }
    let most = "over the limit of \(pixelCount / 1_000_000) megapixels for what must be held to compose a frame"
    throw Self.passed(.pixelCount, format, "\(width)x\(height) pixels, \(most)")
  }

  /// To be asked with what is drawn for one picture altogether, layer over layer.
  package func check(composed count: Int, format: ImageFormat) throws(ImageError) {
    guard count > composedPixelCount else { return }
    let most = composedPixelCount / 1_000_000
    throw Self.passed(.composedPixelCount, format, "more than \(most) megapixels drawn over one another, the limit")
  }

  package func check(
    output plan: SamplingPlan,
    of info: ImageInfo,
    bytesPerPixel: Int = 4,
  ) throws(ImageError) {
    // Lengths are below 1e9, so their product fits.
    guard max(plan.width, plan.height) <= max(side, 65_535),
      plan.width * plan.height * bytesPerPixel <= outputByteCount
    else {
      throw Self.passed(
        .outputByteCount,
        info.format,
        "\(plan.width)x\(plan.height) pixels asked for, over the limit of \(outputByteCount >> 20) MiB",
      )
    }
  }

  package func check(warnings: Int, first: @autoclosure () -> String, format: ImageFormat) throws(ImageError) {
    guard warnings > warningCount else { return }
    throw ImageError(
      .corrupt,
      format: format,
      limit: .warningCount,
      "corrupt: more than \(warningCount) faults in the data (\(first()))",
    )
  }

  private static func passed(_ limit: Name, _ format: ImageFormat, _ detail: String) -> ImageError {
    ImageError(.overLimit, format: format, limit: limit, "\(format) of \(detail)")
  }
}
