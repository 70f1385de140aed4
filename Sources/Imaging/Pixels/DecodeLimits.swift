import VitrineRuntime

/// The limits within which an image is decoded.
///
/// All but the warnings and the time are checked from headers, before a pixel is allocated. ``ImageError/limit``
/// names the limit that was exceeded.
public struct DecodeLimits: Hashable, Sendable {
  /// The maximum number of pixels of any image, whatever the requested size.
  ///
  /// Defaults to 1,000 million.
  public var pixelCount = 1_000_000_000
  /// The maximum number of pixels of an image that must be held in memory as a whole to be decoded.
  ///
  /// Defaults to 100 million. Others are decoded row by row.
  public var heldPixelCount = 100_000_000
  /// The maximum number of pixels composed for one picture.
  ///
  /// Defaults to 2,000 million.
  ///
  /// For an animation these are the frames needed for the requested one, times the pixels of each. For a progressive
  /// JPEG these are its scans, times its pixels.
  public var composedPixelCount = 2_000_000_000
  /// The maximum length of a side, in pixels.
  ///
  /// Defaults to 65,535.
  public var side = 65_535
  /// The maximum size of the decoded bitmap, in bytes.
  ///
  /// Defaults to 256 MiB.
  public var outputByteCount = 256 << 20
  /// The maximum number of bytes held at once to decode one image.
  ///
  /// Defaults to 350 million, or half of the memory that the process may use if that is less.
  ///
  /// It counts the file, the result, and all that decoders and their libraries hold between the two: coefficients,
  /// planes, canvases, the rows of a picture that cannot stream. It is an estimate from the header for the requested
  /// size and frame.
  public var memoryByteCount = min(350_000_000, MemoryLimit.bytes / 2)
  /// The maximum number of frames of an animation, and of pictures in an icon.
  ///
  /// Defaults to 10,000.
  public var frameCount = 10_000
  /// The maximum number of faults that a decoder may ignore before the file counts as corrupt.
  ///
  /// Defaults to 100.
  public var warningCount = 100
  /// The maximum size of a profile or other metadata, in bytes.
  ///
  /// Defaults to 16 MiB.
  ///
  /// Larger metadata is left out, and the picture is decoded without it.
  public var metadataByteCount = 16 << 20
  /// The maximum time to decode one image, checked between rows.
  ///
  /// Defaults to `nil`: no limit.
  public var timeLimit: Duration?

  /// Makes limits with the default values.
  public init() {}

  /// The name of a limit, for comparison with ``ImageError/limit``.
  public struct Name: Hashable, Sendable, CustomStringConvertible {
    private enum Value: String {
      case pixelCount, heldPixelCount, composedPixelCount, side, outputByteCount, frameCount, warningCount
      case memoryByteCount, metadataByteCount, timeLimit
    }

    private let value: Value

    /// ``DecodeLimits/pixelCount``.
    package static let pixelCount = Name(value: .pixelCount)
    /// ``DecodeLimits/heldPixelCount``.
    package static let heldPixelCount = Name(value: .heldPixelCount)
    /// ``DecodeLimits/composedPixelCount``.
    package static let composedPixelCount = Name(value: .composedPixelCount)
    /// ``DecodeLimits/side``.
    package static let side = Name(value: .side)
    /// ``DecodeLimits/outputByteCount``.
    package static let outputByteCount = Name(value: .outputByteCount)
    /// ``DecodeLimits/memoryByteCount``.
    package static let memoryByteCount = Name(value: .memoryByteCount)
    /// ``DecodeLimits/frameCount``.
    package static let frameCount = Name(value: .frameCount)
    /// ``DecodeLimits/warningCount``.
    package static let warningCount = Name(value: .warningCount)
    /// ``DecodeLimits/metadataByteCount``.
    package static let metadataByteCount = Name(value: .metadataByteCount)
    /// ``DecodeLimits/timeLimit``.
    package static let timeLimit = Name(value: .timeLimit)

    /// The name of the property.
    public var description: String { value.rawValue }

    private init(value: Value) {
      self.value = value
    }

    /// Makes the name with the given ``description``; `nil` if there is none.
    package init?(_ description: String) {
      guard let value = Value(rawValue: description) else { return nil }
      self.value = value
    }
  }
}

extension DecodeLimits {
  /// The maximum number of pixels of an image that is held as a whole.
  package var mostHeldPixels: Int { min(pixelCount, heldPixelCount) }
  /// The limit that this number is.
  package var mostHeldName: Name { heldPixelCount < pixelCount ? .heldPixelCount : .pixelCount }

  package func check(_ info: ImageInfo) throws(ImageError) {
    let (width, height) = (info.width, info.height)
    guard width > 0, height > 0, width < 1 << 31, height < 1 << 31 else {
      throw ImageError(.corrupt, format: info.format, "the header says \(width)x\(height) pixels")
    }
    // A drawing takes memory only for the size at which it is drawn, not for the size in its header.
    guard !info.isVector else { return try check(frames: info.frameCount, format: info.format) }
    guard max(width, height) <= side else {
      throw Self.passed(.side, info.format, "\(width)x\(height) pixels, over the limit of \(side) on a side")
    }
    let isHeld = !info.streamsRows && width * height <= pixelCount
    let (most, name) = isHeld ? (mostHeldPixels, mostHeldName) : (pixelCount, .pixelCount)
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

  /// Checks a picture that usually streams but must be held, because a frame is composed on it.
  package func check(heldWidth width: Int, height: Int, format: ImageFormat) throws(ImageError) {
    guard width * height > mostHeldPixels else { return }
    let most = "over the limit of \(mostHeldPixels / 1_000_000) megapixels for a picture that frames are composed on"
    throw Self.passed(mostHeldName, format, "\(width)x\(height) pixels, \(most)")
  }

  /// Checks the total number of pixels composed for one picture.
  package func check(composed count: Int, format: ImageFormat) throws(ImageError) {
    guard count > composedPixelCount else { return }
    let most = composedPixelCount / 1_000_000
    throw Self.passed(.composedPixelCount, format, "over the limit of \(most) megapixels composed for one picture")
  }

  package func check(
    output plan: SamplingPlan,
    of info: ImageInfo,
    bytesPerPixel: Int = 4,
  ) throws(ImageError) {
    let byteCount = plan.width.multipliedSaturating(by: plan.height).multipliedSaturating(by: bytesPerPixel)
    // Callers calculate with the number, also where there is no limit.
    guard max(plan.width, plan.height) <= max(side, 65_535), byteCount <= min(outputByteCount, .max - 1) else {
      throw Self.passed(
        .outputByteCount,
        info.format,
        "\(plan.width)x\(plan.height) requested pixels, over the limit of \(outputByteCount >> 20) MiB",
      )
    }
  }

  /// Checks the bytes held to decode an image at the requested size.
  package func check(memory count: Int, of info: ImageInfo) throws(ImageError) {
    guard count > memoryByteCount else { return }
    throw Self.passed(
      .memoryByteCount,
      info.format,
      "\(info.width)x\(info.height) pixels needs \(count / 1_000_000) MB to decode, over the limit of "
        + "\(memoryByteCount / 1_000_000) MB",
    )
  }

  /// Returns the damage of an image whose decoder has warned of too many faults; `nil` if they are within the limit.
  package func damage(warnings: Int, first: @autoclosure () -> String, format: ImageFormat) -> ImageError? {
    guard warnings > warningCount else { return nil }
    return ImageError(
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
