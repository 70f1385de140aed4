import Vitrine
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTiles

// Parts of pictures for viewers that zoom, and the descriptions by which these find them.
extension ImageMaker {
  /// Makes the answer to a viewer.
  ///
  /// - Parameters:
  ///   - zoom: The request.
  ///   - base: The beginning of the server's URLs.
  ///   - order: The order.
  ///   - client: The client, which waits in its own lane.
  /// - Returns: The answer, or the reason why the request has none.
  /// - Throws: `LoadError` of the source.
  func zoom(
    _ zoom: ZoomRequest,
    _ base: String,
    _ order: Order,
    _ client: ByteString,
  ) async throws(LoadError) -> ThumbnailService.Product {
    var request = order.request
    request.lane = client
    let opened = try await pictures.picture(for: request)
    let info = opened.picture.info
    var links = [#"<\#(ZoomRequest.profile)>;rel="profile""#]
    let image: EncodedImage
    switch zoom.kind {
    case .base, .info: image = Self.file(Self.description(of: opened, zoom, base, formats), .iiif, opened)
    case .descriptor:
      image = Self.file(Self.descriptor(of: info), .deepZoom, opened)
      links = []
    case .image(let part, let format):
      let pixels: ZoomRequest.Pixels
      do throws(RequestError) {
        pixels = try part.pixels(ofWidth: info.width, height: info.height)
      } catch {
        return .failure(Refusal(status: error.status, text: error.text, code: error.code))
      }
      let end = "0/default.\(format.fileExtension)"
      links.append(#"<\#(base)/iiif/3/\#(zoom.identifier)/\#(pixels.canonical)/\#(end)>;rel="canonical""#)
      image = try await picture(pixels, of: opened, request, order.encoding)
    case .tile(let level, let column, let row, _):
      guard let tile = try await Self.tile(level, column, row, of: opened.picture) else {
        return .failure(Refusal(status: 404, text: "the picture has no such tile", code: "notFound"))
      }
      image = try await encoded(tile, order.encoding, opened)
      links = []
    }
    guard let rendered = Rendered(image, for: order, at: clock.now, links: links, bodies) else {
      return .failure(.full)
    }
    return .success(rendered)
  }

  // MARK: Pictures

  private func picture(
    _ pixels: ZoomRequest.Pixels,
    of opened: OpenPictures.Opened,
    _ request: ImageRequest,
    _ encoding: ImageEncoding,
  ) async throws(LoadError) -> EncodedImage {
    let info = opened.picture.info
    // All of the picture is a thumbnail as any other, which the caches keep.
    guard (pixels.region.width, pixels.region.height) != (info.width, info.height) else {
      var whole = request
      whole.size = .pixels(Double(pixels.width), Double(pixels.height), .exact)
      return try await pipeline.encoded(for: whole, as: encoding)
    }
    let bitmap = try await opened.picture.picture(of: pixels.region, width: pixels.width, height: pixels.height)
    return try await encoded(bitmap, encoding, opened)
  }

  private func encoded(
    _ bitmap: Bitmap,
    _ encoding: ImageEncoding,
    _ opened: OpenPictures.Opened,
  ) async throws(LoadError) -> EncodedImage {
    try await pipeline.resources.encode(ImageContainer(bitmap), as: encoding, of: opened.source, priority: .normal)
  }

  /// Returns a tile of a level of Deep Zoom; `nil` if there is none.
  private static func tile(
    _ level: Int,
    _ column: Int,
    _ row: Int,
    of picture: TiledImage,
  ) async throws(LoadError) -> Bitmap? {
    let info = picture.info
    let halvings = finestLevel(info) - level
    guard halvings >= 0, level >= 0 else { return nil }
    guard halvings > picture.levels.upperBound else {
      let count = picture.tileCount(ofLevel: halvings)
      guard column < count.columns, row < count.rows else { return nil }
      return try await picture.tile(TiledImage.Tile(level: halvings, column: column, row: row))
    }
    guard (column, row) == (0, 0) else { return nil }
    return try await picture.picture(
      of: PixelRegion(x: 0, y: 0, width: info.width, height: info.height),
      width: TileGrid.reduced(info.width, by: halvings),
      height: TileGrid.reduced(info.height, by: halvings),
    )
  }

  /// The level of Deep Zoom with the picture's own size.
  private static func finestLevel(_ info: ImageInfo) -> Int {
    var level = 0
    while 1 << level < max(info.width, info.height) { level += 1 }
    return level
  }

  // MARK: Descriptions

  private static func file(_ text: String, _ format: ImageFormat, _ opened: OpenPictures.Opened) -> EncodedImage {
    let info = opened.picture.info
    return EncodedImage(Data(text.utf8), format, width: info.width, height: info.height, of: opened.source)
  }

  /// Returns `info.json` (IIIF Image API 3.0, section 5).
  private static func description(
    of opened: OpenPictures.Opened,
    _ zoom: ZoomRequest,
    _ base: String,
    _ formats: [ImageFormat],
  ) -> String {
    let (info, picture) = (opened.picture.info, opened.picture)
    let levels = Array(0...picture.levels.upperBound)
    let sizes = levels.reversed().map { level in
      let size = picture.size(ofLevel: level)
      return (width: size.width, height: size.height)
    }
    let listed = sizes.filter { $0.width * $0.height <= ZoomRequest.maxArea }
      .map { "{\"width\":\($0.width),\"height\":\($0.height)}" }
    let extra = [ImageFormat.png, .webp].filter { formats.contains($0) }.map { "\"\($0.fileExtension)\"" }
    let side = TiledImage.tileSize
    let scales = levels.map { "\(1 << $0)" }.joined(separator: ",")
    return """
      {"@context":"http://iiif.io/api/image/3/context.json","id":"\(base)/iiif/3/\(zoom.identifier)",\
      "type":"ImageService3","protocol":"http://iiif.io/api/image","profile":"level1",\
      "width":\(info.width),"height":\(info.height),"maxArea":\(ZoomRequest.maxArea),\
      "sizes":[\(listed.joined(separator: ","))],\
      "tiles":[{"width":\(side),"height":\(side),"scaleFactors":[\(scales)]}],\
      "extraFormats":[\(extra.joined(separator: ","))],"preferredFormats":["jpg"]}

      """
  }

  private static func descriptor(of info: ImageInfo) -> String {
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <Image xmlns="http://schemas.microsoft.com/deepzoom/2008" Format="jpg" Overlap="0" TileSize="\(TiledImage.tileSize)">\
    <Size Width="\(info.width)" Height="\(info.height)"/></Image>

    """
  }
}

extension ImageFormat {
  /// The description of a picture for viewers of IIIF.
  fileprivate static let iiif = ImageFormat(
    name: "iiif",
    mediaType: #"application/ld+json;profile="http://iiif.io/api/image/3/context.json""#,
    fileExtension: "json",
  )
  /// The description of a picture for viewers of Deep Zoom.
  fileprivate static let deepZoom = ImageFormat(name: "dzi", mediaType: "application/xml", fileExtension: "dzi")
}
