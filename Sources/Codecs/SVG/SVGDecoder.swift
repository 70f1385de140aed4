import CVitrineSVG
public import VitrineImaging
import VitrineRuntime

/// Draws SVG with librsvg, at the requested size.
///
/// ```swift
/// import Vitrine
/// import VitrineSVG
///
/// let pipeline = try ImagePipeline { $0.decoders.add(.svg) }
/// ```
/// A drawing fills the requested size even if that is larger than its nominal size; `TargetSize.enlarges` makes no
/// difference. The nominal size is its `width` and `height`, or the size of its `viewBox`, or 300x150 pixels; an em is one
/// of 16 pixels. Nothing outside the file is loaded: no file, no URL, no entity. librsvg limits the number of references. A
/// file that gzip has compressed (`.svgz`) may become as long as an eighth of `DecodeLimits.memoryByteCount`.
///
/// librsvg draws in one step, so cancellation and the time limit take effect only before and after. What it holds meanwhile
/// cannot be told from the file: a small one may take all the memory and time that there is, or end the program. Drawings
/// of strangers belong into a process of their own, whose memory the system limits: see `VitrineSandbox`.
public struct SVGDecoder: ImageDecoder, VitrineDecoder {
  /// Makes the decoder.
  public init() {}

  /// SVG.
  public var formats: [ImageFormat] { [.svg] }

  /// Parses the document and returns its nominal size.
  public func info(
    of bytes: UnsafeRawBufferPointer,
    format: ImageFormat,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo? {
    let size = try unsafe SVGDocument(bytes, limits).size
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
    // Of an ordinary drawing; nothing is refused for it.
    info.workingByteCount = min(SVGDocument.textCost * bytes.count, limits.memoryByteCount / 4)
    return info
  }

  package func memory(for bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> DecodeMemory {
    let rows = request.drawnPart.map { 4 * $0.width * $0.height } ?? request.drawnByteCount
    return DecodeMemory(codec: request.info.workingByteCount ?? 0, rows: rows)
  }

  /// Prepares the drawing at the requested size.
  public func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    guard request.frame == 0 else { throw .noSuchFrame(request.frame, of: request.info) }
    let (info, limits) = (request.info, request.limits)
    let scaled = (Double(info.storedWidth) * request.scales.x, Double(info.storedHeight) * request.scales.y)
    let drawn = request.drawnPart.map { (Double($0.width), Double($0.height)) } ?? scaled
    // cairo uses 16-bit sizes, and 24-bit coordinates.
    let side = Double(min(limits.side, 32_767))
    guard max(drawn.0, drawn.1) <= side, max(scaled.0, scaled.1) <= 1_048_576,
      drawn.0 * drawn.1 <= Double(limits.mostHeldPixels)
    else {
      throw ImageError(
        .overLimit,
        format: .svg,
        limit: max(drawn.0, drawn.1) <= side ? limits.mostHeldName : .side,
        "svg drawn at \(scaled.0.rounded())x\(scaled.1.rounded()) pixels, over the limit of \(Int(side)) on a side"
          + " or \(limits.mostHeldPixels) in all",
      )
    }
    let document = try unsafe SVGDocument(bytes, limits)
    let (width, height) = (max(1, Int(scaled.0.rounded())), max(1, Int(scaled.1.rounded())))
    let part = request.drawnPart ?? PixelRegion(x: 0, y: 0, width: width, height: height)
    return HeldRows(width: part.width, height: part.height, hasAlpha: true) { (pixels, _) throws(ImageError) in
      try request.control.check()
      try document.draw(part, ofWidth: width, height: height, into: pixels)
      try request.control.check()
      pixels.unpremultiply()
    }
  }
}

extension ImageDecoder where Self == SVGDecoder {
  /// A decoder of SVG.
  public static var svg: SVGDecoder { SVGDecoder() }
}
