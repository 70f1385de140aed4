public import CoreGraphics
import ImageIO
import VitrineRuntime

extension JPEGDecoder: HighRangeDecoding {
  package func highRange(
    of bytes: UnsafeRawBufferPointer,
    _ info: ImageInfo,
    frame: Int,
    _ plan: SamplingPlan,
  ) throws(ImageError) -> HighRangeBitmap? {
    guard unsafe JPEGHeader.isWhole(ByteReader(bytes)), let source = unsafe ImageIOSource(bytes) else { return nil }
    return try source.highRange(at: 0, info, plan)
  }
}

extension ImageIODecoder: HighRangeDecoding {
  package func highRange(
    of bytes: UnsafeRawBufferPointer,
    _ info: ImageInfo,
    frame: Int,
    _ plan: SamplingPlan,
  ) throws(ImageError) -> HighRangeBitmap? {
    guard let source = unsafe ImageIOSource(bytes) else { return nil }
    return try source.highRange(at: firstIndex(source, info.format) + frame, info, plan)
  }
}

extension ImageIOSource {
  /// Decodes what is brighter than white; returns `nil` if nothing is.
  func highRange(
    at index: Int,
    _ info: ImageInfo,
    _ plan: SamplingPlan,
  ) throws(ImageError) -> HighRangeBitmap? {
    let longest = max(info.width, info.height)
    let wanted = min(longest, max(1, Int((Double(longest) * plan.scale).rounded(.up))))
    guard let image = thumbnail(at: index, longestSide: wanted, range: .high), image.isHighRange else { return nil }
    return try unsafe HighRangeBitmap(
      width: plan.width,
      height: plan.height,
      headroom: max(1, image.contentHeadroom),
    ) { (pixels) throws(ImageError) in
      guard unsafe image.draw(intoFloats: pixels, info, plan) else {
        throw ImageError(.overLimit, format: info.format, "not enough memory for an image of high dynamic range")
      }
    }
  }
}

extension CGImage {
  /// A Boolean value that indicates whether something may be brighter than white.
  fileprivate var isHighRange: Bool {
    // 0 means that it is not known.
    contentHeadroom > 1
      || contentHeadroom == 0 && (colorSpace.map { CGColorSpaceIsPQBased($0) || CGColorSpaceIsHLGBased($0) } ?? false)
  }

  /// Draws the part of the upright image that a plan shows; returns `false` if there was no memory.
  fileprivate func draw(
    intoFloats pixels: UnsafeMutableRawBufferPointer,
    _ info: ImageInfo,
    _ plan: SamplingPlan,
  ) -> Bool {
    // `pixels` outlives the context, which ends with this function.
    guard let space = CGColorSpace(name: CGColorSpace.extendedLinearDisplayP3),
      let context = unsafe CGContext(
        data: pixels.baseAddress,
        width: plan.width,
        height: plan.height,
        bitsPerComponent: 16,
        bytesPerRow: 8 * plan.width,
        space: space,
        bitmapInfo: HighRangeBitmap.bitmapInfo.rawValue,
      )
    else { return false }
    context.interpolationQuality = .high
    context.setBlendMode(.copy)
    // What is bright is kept as it is, not mapped to less.
    _ = context.setEDRTargetHeadroom(max(1, contentHeadroom))
    let (scaleX, scaleY) = (Double(plan.width) / plan.crop.width, Double(plan.height) / plan.crop.height)
    let (width, height) = (Double(info.width) * scaleX, Double(info.height) * scaleY)
    // The origin of a context is at the bottom.
    let bottom = Double(plan.height) + plan.crop.y * scaleY - height
    context.draw(self, in: CGRect(x: -plan.crop.x * scaleX, y: bottom, width: width, height: height))
    return true
  }
}

extension HighRangeBitmap {
  fileprivate static var bitmapInfo: CGBitmapInfo {
    CGBitmapInfo(
      rawValue: CGImageAlphaInfo.premultipliedLast.rawValue | CGBitmapInfo.floatComponents.rawValue
        | CGBitmapInfo.byteOrder16Little.rawValue
    )
  }

  /// The pixels as an image of CoreGraphics, which shares them and has the headroom; `nil` if CoreGraphics refuses.
  ///
  /// Nothing is copied. A view shows it brighter than white if it prefers high dynamic range
  /// (`UIImageView.preferredImageDynamicRange`) and the display can. Complexity: O(1).
  public var cgImage: CGImage? {
    guard let space = CGColorSpace(name: CGColorSpace.extendedLinearDisplayP3), let provider = storage.provider else {
      return nil
    }
    return unsafe CGImage(
      headroom: headroom,
      width: width,
      height: height,
      bitsPerComponent: 16,
      bitsPerPixel: 64,
      bytesPerRow: bytesPerRow,
      space: space,
      bitmapInfo: Self.bitmapInfo,
      provider: provider,
      decode: nil,
      shouldInterpolate: true,
      intent: .defaultIntent,
    )
  }
}

extension PixelStorage {
  /// The memory for CoreGraphics, which keeps it alive.
  var provider: CGDataProvider? {
    guard let start = unsafe buffer.baseAddress else { return nil }
    // Retained here and released by the callback, once. The pixels live as long as the storage, and never change.
    return unsafe CGDataProvider(
      dataInfo: Unmanaged.passRetained(self).toOpaque(),
      data: start,
      size: buffer.count,
      releaseData: { info, _, _ in
        guard let info = unsafe info else { return }
        unsafe Unmanaged<PixelStorage>.fromOpaque(info).release()
      },
    )
  }
}
