import CVitrineSVG
public import VitrineImaging

/// Draws SVG through librsvg, at the size asked for.
///
/// ```swift
/// import Vitrine
/// import VitrineSVG
///
/// let pipeline = try ImagePipeline { $0.decoders.add(.svg) }
/// ```
/// A drawing fills the size asked for even where that is larger than what it says of itself: `TargetSize.enlarges` makes no
/// difference. What it says is its `width` and `height`, or the size of its `viewBox`, or 300x150 pixels. Nothing outside the
/// file is loaded: no other file, no address, no entity. librsvg bounds how much a drawing may refer to; it draws
/// without a break, so a cancellation and the time limit are heard before and after.
public struct SVGDecoder: ImageDecoder, VitrineDecoder {
  /// Makes the decoder.
  public init() {}

  /// SVG.
  public var formats: [ImageFormat] { [.svg] }

  /// Parses the document.
  public func info(
    of bytes: UnsafeRawBufferPointer,
    format: ImageFormat,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo? {
    let size = try unsafe SVGDocument(bytes).size
    guard size.width < 1e9, size.height < 1e9 else {
      throw ImageError(
        .overLimit,
        format: .svg,
        limit: .side,
        "svg of \(size.width)x\(size.height) pixels, over the limit of 1e9 on a side",
      )
    }
    var info = ImageInfo(
      format: .svg,
      storedWidth: max(1, Int(size.width.rounded(.up))),
      storedHeight: max(1, Int(size.height.rounded(.up))),
    )
    info.hasAlpha = true
    info.isVector = true
    return info
  }

  /// Gets ready to draw.
  public func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    guard request.frame == 0 else { throw .noSuchFrame(request.frame, of: request.info) }
    let (info, limits) = (request.info, request.limits)
    let scaled = (Double(info.storedWidth) * request.scales.x, Double(info.storedHeight) * request.scales.y)
    // cairo counts in 16 bits.
    let side = Double(min(limits.side, 32_767))
    guard max(scaled.0, scaled.1) <= side, scaled.0 * scaled.1 <= Double(limits.pixelCount) else {
      throw ImageError(
        .overLimit,
        format: .svg,
        limit: max(scaled.0, scaled.1) <= side ? .pixelCount : .side,
        "svg to be drawn with \(scaled.0.rounded())x\(scaled.1.rounded()) pixels, over the limit of \(Int(side)) on a side"
          + " or \(limits.pixelCount) in all",
      )
    }
    let document = try unsafe SVGDocument(bytes)
    let (width, height) = (max(1, Int(scaled.0.rounded())), max(1, Int(scaled.1.rounded())))
    return unsafe HeldRows(width: width, height: height, hasAlpha: true) { (pixels, _) throws(ImageError) in
      try request.control.check()
      try unsafe document.draw(into: pixels, width: width, height: height)
      try request.control.check()
      unsafe pixels.unpremultiply()
    }
  }
}

extension ImageDecoder where Self == SVGDecoder {
  /// Draws SVG.
  public static var svg: SVGDecoder { SVGDecoder() }
}
