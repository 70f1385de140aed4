public import Vitrine
public import VitrineImaging

extension ThumbnailOptions {
  /// Returns the request that makes the thumbnail of a source.
  ///
  /// - Parameters:
  ///   - source: The source.
  ///   - watermark: The picture that ``watermark`` places. Defaults to `nil`: the server has none.
  /// - Returns: The request.
  /// - Throws: ``RequestError`` of status 400 for options that cannot be carried out.
  public func imageRequest(
    for source: ImageSource,
    watermark: Bitmap? = nil,
  ) throws(RequestError) -> ImageRequest {
    var request = ImageRequest(source, size: box)
    request.animates = animates && page == 0
    request.frame = page
    if keepsWideColors { request.colorSpace = .displayP3 }
    return request
  }

  /// Returns the encoding of the thumbnail.
  ///
  /// - Parameter format: The format; `nil` for JPEG, or PNG for a picture with transparency and GIF for an animation.
  /// - Returns: The encoding.
  public func encoding(as format: ImageFormat?) -> ImageEncoding {
    let quality = quality ?? formatQualities[(format ?? .jpeg).name]
    let encoding = format.map { ImageEncoding($0, quality: quality) } ?? .automatic(quality: quality)
    return switch metadata {
    case .none: encoding
    case .copyright: encoding.metadata(.only(.copyright, .author))
    case .all: encoding.metadata(.keep)
    }
  }

  /// The box in pixels.
  private var box: TargetSize? {
    let ratio = pixelRatio ?? 1
    let (w, h) = (Double(width) * zoomX * ratio, Double(height) * zoomY * ratio)
    let mode: TargetSize.Mode =
      switch fit {
      case .fit, .auto: .fit
      case .fill, .fillDown: .fill
      case .force: .exact
      }
    return switch (w > 0, h > 0) {
    case (true, true): .pixels(w, h, mode, enlarges: enlarges)
    case (true, false): .pixels(width: w, enlarges: enlarges)
    case (false, true): .pixels(height: h, enlarges: enlarges)
    case (false, false): nil
    }
  }
}
