import VitrineImaging

/// A decoder that hides profiles, so that stored values come out unchanged.
///
/// The compared programs do not convert them, or each in its own way.
struct Uncolored<Base: ImageDecoder>: ImageDecoder {
  let base: Base

  var formats: [ImageFormat] { base.formats }

  func info(
    of bytes: UnsafeRawBufferPointer,
    format: ImageFormat,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo? {
    try base.info(of: bytes, format: format, limits: limits).map(uncolored)
  }

  func info(
    ofFrame frame: Int,
    of bytes: UnsafeRawBufferPointer,
    _ info: ImageInfo,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo {
    uncolored(try base.info(ofFrame: frame, of: bytes, info, limits: limits))
  }

  /// Encoded again, which drops gamma and primaries from the header too.
  private func uncolored(_ info: ImageInfo) -> ImageInfo {
    // The decoder makes other pixels of high dynamic range, which its colours go with.
    guard info.dynamicRange == .standard else { return info }
    var plain = ImageInfo(
      format: info.format,
      storedWidth: info.storedWidth,
      storedHeight: info.storedHeight,
      orientation: info.orientation,
    )
    (plain.frameCount, plain.duration, plain.loopCount) = (info.frameCount, info.duration, info.loopCount)
    (plain.hasAlpha, plain.bitsPerComponent, plain.colorModel) = (
      info.hasAlpha, info.bitsPerComponent, info.colorModel,
    )
    plain.streamsRows = info.streamsRows
    return plain
  }

  func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    try base.open(bytes, request)
  }
}
