/// The bounds within which an image is decoded.
///
/// All but the warnings and the time are checked from headers, before a pixel is allocated.
public struct DecodeLimits: Hashable, Sendable {
  /// The most pixels an image may have that must be held whole to be decoded: 100 million.
  public var pixelCount = 100_000_000
  /// The most pixels an image may have whose rows stream through, whatever the size asked for: 1,000 million.
  public var streamedPixelCount = 1_000_000_000
  /// The longest side, in pixels: 65,535.
  public var side = 65_535
  /// The most bytes the decoded bitmap may take: 256 MiB.
  public var outputByteCount = 256 << 20
  /// The most frames an animation may have: 10,000.
  public var frameCount = 10_000
  /// The most things in a file that a decoder may overlook before it is called corrupt: 100.
  public var warningCount = 100
  /// The most bytes a profile or other metadata may take: 16 MiB.
  public var metadataByteCount = 16 << 20
  /// The longest one image may take; checked between rows.
  ///
  /// `nil`, the default, sets no bound.
  public var timeLimit: Duration?

  /// The defaults named at each limit.
  public init() {}

  package func check(_ info: ImageInfo) throws(ImageError) {
    let (width, height) = (info.width, info.height)
    guard width > 0, height > 0, width < 1 << 31, height < 1 << 31 else {
      throw ImageError(.corrupt, format: info.format, "the header says \(width)x\(height) pixels")
    }
    // A drawing takes no memory for the size it says, only for the one it is drawn at.
    guard !info.isVector else { return }
    guard max(width, height) <= side else {
      throw overLimit(info, "\(width)x\(height) pixels, over the limit of \(side) on a side")
    }
    let most = info.streamsRows ? streamedPixelCount : pixelCount
    guard width * height <= most else {
      throw overLimit(info, "\(width)x\(height) pixels, over the limit of \(most / 1_000_000) megapixels")
    }
    guard info.frameCount <= frameCount else {
      throw overLimit(info, "\(info.frameCount) frames, over the limit of \(frameCount)")
    }
    if let profile = info.colorProfile, profile.data.count > metadataByteCount {
      throw overLimit(info, "a colour profile of \(profile.data.count) bytes, over the limit of \(metadataByteCount)")
    }
  }

  func check(output plan: SamplingPlan, of info: ImageInfo) throws(ImageError) {
    // Lengths are below 1e9, so their product fits.
    guard max(plan.width, plan.height) <= max(side, 65_535), plan.width * plan.height * 4 <= outputByteCount else {
      throw overLimit(
        info,
        "\(plan.width)x\(plan.height) pixels asked for, over the limit of \(outputByteCount >> 20) MiB",
      )
    }
  }

  func check(warnings: Int, first: @autoclosure () -> String, format: ImageFormat) throws(ImageError) {
    guard warnings > warningCount else { return }
    throw ImageError(.corrupt, format: format, "corrupt: more than \(warningCount) faults in the data (\(first()))")
  }

  private func overLimit(_ info: ImageInfo, _ detail: String) -> ImageError {
    ImageError(.overLimit, format: info.format, "\(info.format) of \(detail)")
  }
}
