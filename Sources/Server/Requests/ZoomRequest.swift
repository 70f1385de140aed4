public import VitrineImaging
import VitrineRuntime

/// A request of a viewer that zooms: by the IIIF Image API 3.0, level 1, or by Deep Zoom.
public struct ZoomRequest: Sendable, Hashable {
  /// The subject of a request.
  public enum Kind: Sendable, Hashable {
    /// The picture's base URI, which leads to its description.
    case base
    /// The picture's description as JSON, `info.json`.
    case info
    /// A part of the picture in a size.
    case image(Part, ImageFormat)
    /// The picture's description as XML, `.dzi`.
    case descriptor
    /// A tile of a level of Deep Zoom: level 0 has one pixel, and the last one the picture's own size.
    case tile(level: Int, column: Int, row: Int, ImageFormat)
  }

  /// The subject.
  public let kind: Kind
  /// The picture's name in URLs, percent-encoded.
  public let identifier: String
  /// The place of the original.
  public let source: ThumbnailRequest.Source
}

extension ZoomRequest {
  /// A part of a picture, in a size, as a URL names both.
  public struct Part: Sendable, Hashable {
    enum Region: Sendable, Hashable {
      case full, square
      case pixels(PixelRegion)
    }

    enum Size: Sendable, Hashable {
      case max
      case pixels(width: Int?, height: Int?)
    }

    let region: Region
    let size: Size
  }

  /// A part and a size in pixels of a picture.
  public struct Pixels: Sendable, Hashable {
    /// The part of the upright picture.
    public let region: PixelRegion
    /// The width of the result.
    public let width: Int
    /// The height of the result.
    public let height: Int
    /// The region and the size in the canonical form of URLs, such as `full/400,300`.
    public let canonical: String
  }

  /// The maximum number of pixels of a part.
  public static let maxArea = 8 << 20
  /// The profile of the responses.
  public static let profile = "http://iiif.io/api/image/3/level1.json"
}

extension ZoomRequest.Part {
  /// Reads the region and the size of a path.
  init(region: Substring, size: Substring) throws(RequestError) {
    (self.region, self.size) = (try Self.region(region), try Self.size(size))
  }

  private static func region(_ text: Substring) throws(RequestError) -> Region {
    if text == "full" { return .full }
    if text == "square" { return .square }
    guard !text.hasPrefix("pct:") else { throw RequestError(501, "regions in percent are not supported") }
    let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { number($0) }
    guard numbers.count == 4, let x = numbers[0], let y = numbers[1], let width = numbers[2], let height = numbers[3],
      width > 0, height > 0
    else { throw RequestError(400, "the region '\(text)' is not full, square or x,y,w,h") }
    return .pixels(PixelRegion(x: x, y: y, width: width, height: height))
  }

  private static func size(_ text: Substring) throws(RequestError) -> Size {
    if text == "max" { return .max }
    for (prefix, name) in [("^", "larger than the picture"), ("pct:", "in percent"), ("!", "within a box")]
    where text.hasPrefix(prefix) { throw RequestError(501, "sizes \(name) are not supported") }
    let sides = text.split(separator: ",", omittingEmptySubsequences: false)
    let numbers = sides.map { number($0) }
    guard sides.count == 2, zip(sides, numbers).allSatisfy({ $0.isEmpty || $1 ?? 0 > 0 }),
      numbers.contains(where: { $0 != nil })
    else { throw RequestError(400, "the size '\(text)' is not max, w, or ,h or w,h") }
    return .pixels(width: numbers[0], height: numbers[1])
  }

  /// Reads a whole number of digits alone.
  private static func number(_ text: Substring) -> Int? {
    text.utf8.allSatisfy { (48...57).contains($0) } && text.utf8.count < 10 ? Int(text) : nil
  }

  /// Returns the part and the size for a picture.
  ///
  /// - Parameters:
  ///   - width: The width of the upright picture, in pixels.
  ///   - height: The height of the upright picture, in pixels.
  /// - Returns: The part, within the picture.
  /// - Throws: ``RequestError`` of status 400 if nothing of the picture is in the region, or if the result would be larger
  ///   than the region, or than ``ZoomRequest/maxArea``.
  public func pixels(ofWidth width: Int, height: Int) throws(RequestError) -> ZoomRequest.Pixels {
    let region: PixelRegion
    switch self.region {
    case .full: region = PixelRegion(x: 0, y: 0, width: width, height: height)
    case .square:
      let side = min(width, height)
      region = PixelRegion(x: (width - side) / 2, y: (height - side) / 2, width: side, height: side)
    case .pixels(let asked):
      guard asked.x < width, asked.y < height else { throw RequestError(400, "the region is outside the picture") }
      let (across, down) = (min(asked.width, width - asked.x), min(asked.height, height - asked.y))
      region = PixelRegion(x: asked.x, y: asked.y, width: across, height: down)
    }
    let most = Self.limited(region.width, region.height)
    var size = most
    if case .pixels(let across, let down) = self.size {
      func scaled(_ length: Int, _ side: Int, of other: Int) -> Int {
        max(1, Int((Double(length) * Double(side) / Double(other)).rounded()))
      }
      size.width = across ?? scaled(region.width, down ?? 1, of: region.height)
      size.height = down ?? scaled(region.height, across ?? 1, of: region.width)
      guard size.width <= region.width, size.height <= region.height else {
        throw RequestError(400, "the size is larger than the region, which needs a ^ that is not supported")
      }
      guard size.width * size.height <= ZoomRequest.maxArea else {
        throw RequestError(400, "the size is more than the limit of \(ZoomRequest.maxArea) pixels")
      }
    }
    let isFull = (region.width, region.height) == (width, height)
    let place = isFull ? "full" : "\(region.x),\(region.y),\(region.width),\(region.height)"
    return ZoomRequest.Pixels(
      region: region,
      width: size.width,
      height: size.height,
      canonical: "\(place)/\(size == most ? "max" : "\(size.width),\(size.height)")",
    )
  }

  /// Returns the largest size of a region within the limit.
  private static func limited(_ width: Int, _ height: Int) -> (width: Int, height: Int) {
    let area = width.multipliedSaturating(by: height)
    guard area > ZoomRequest.maxArea else { return (width, height) }
    let scale = (Double(ZoomRequest.maxArea) / Double(area)).squareRoot()
    return (max(1, Int(Double(width) * scale)), max(1, Int(Double(height) * scale)))
  }
}
