public import Vitrine
public import VitrineImaging
import VitrineRuntime

extension ThumbnailOptions {
  /// Returns the request that makes the thumbnail of a source.
  ///
  /// - Parameters:
  ///   - source: The source.
  ///   - watermark: The picture of the operation `watermark`. Defaults to `nil`: the server has none.
  /// - Returns: The request.
  /// - Throws: ``RequestError`` of status 400 if there is a `watermark` and the server has none.
  public func imageRequest(
    for source: ImageSource,
    watermark: Bitmap? = nil,
  ) throws(RequestError) -> ImageRequest {
    guard watermark != nil || pipelines.allSatisfy({ $0[.watermark] == nil }) else {
      throw RequestError(400, "the server has no watermark")
    }
    let pictures = watermark.map { ["": $0] } ?? [:]
    var request: ImageRequest
    do throws(ImageOperationError) {
      let plan = try operations.plan(pictures: pictures)
      request = ImageRequest(source, size: plan.size)
      request.processors = plan.processors
      for pipeline in chained { request.processors += try pipeline.processors(pictures: pictures) }
    } catch {
      throw RequestError(error)
    }
    request.animates = animates && page == 0
    request.frame = page
    if keepsWideColors { request.colorSpace = .displayP3 }
    return request
  }

  /// Returns the encoding of the thumbnail.
  ///
  /// - Parameter format: The format; `nil` for the source's, if that is JPEG, PNG, WebP or GIF and keeps transparency and
  ///   motion, and otherwise for JPEG, PNG with transparency, and GIF for an animation.
  /// - Returns: The encoding.
  public func encoding(as format: ImageFormat?) -> ImageEncoding {
    var encoding: ImageEncoding
    if let format {
      encoding = ImageEncoding(format, quality: quality ?? formatQualities[format.name])
    } else {
      let own = ImageFormat.common.compactMap { format in formatQualities[format.name].map { (format, $0) } }
      encoding = .automatic(quality: quality, qualities: quality == nil ? Dictionary(uniqueKeysWithValues: own) : [:])
    }
    let kept: MetadataPolicy =
      switch metadata {
      case .none: .strip
      case .copyright: .only(.copyright, .author)
      case .all: .keep
      }
    encoding.passedOn = passedOn
    return encoding.metadata(keepsGainMap ? kept.adding(.gainMap) : kept)
  }
}
