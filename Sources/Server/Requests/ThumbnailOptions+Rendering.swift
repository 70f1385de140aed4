public import Vitrine
public import VitrineImaging
import VitrineRuntime

extension ThumbnailOptions {
  /// Returns the request that makes the thumbnail of a source.
  ///
  /// An image is decoded at the size that is shown, unless what is shown depends on the original: with ``crop``,
  /// ``trim``, ``Fit/auto``, least sizes, and a ``gravity`` other than a plain place, all of it is decoded.
  ///
  /// - Parameters:
  ///   - source: The source.
  ///   - watermark: The picture that ``watermark`` places. Defaults to `nil`: the server has none.
  /// - Returns: The request.
  /// - Throws: ``RequestError`` of status 400 if the options have a ``watermark`` and the server has none.
  public func imageRequest(
    for source: ImageSource,
    watermark: Bitmap? = nil,
  ) throws(RequestError) -> ImageRequest {
    let geometry = ThumbnailGeometry(self)
    let isSimple = isSimple(geometry)
    var request = ImageRequest(source, size: isSimple ? size(geometry) : nil)
    request.processors = (isSimple ? simpleSteps(geometry) : wholeSteps(geometry)) + (try looks(geometry, watermark))
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

  // MARK: - Size and shape

  private var isTurned: Bool { rotation % 180 != 0 }

  /// True if a decoder can fit the image into the box.
  private func isSimple(_ geometry: ThumbnailGeometry) -> Bool {
    guard crop == nil, trim == nil, geometry.minimumWidth == 0, geometry.minimumHeight == 0 else { return false }
    guard geometry.width > 0, geometry.height > 0 else { return true }
    switch fit {
    case .fit, .force: return true
    case .auto: return false
    case .fill, .fillDown:
      guard case .place(let place, let x, let y) = gravity, (x, y) == (0, 0) else { return false }
      // Another corner of the decoded image becomes the one that is named.
      return place == .center || rotation == 0 && !flipsHorizontally && !flipsVertically
    }
  }

  /// Returns the size for a decoder, which sees the image before it is rotated.
  private func size(_ geometry: ThumbnailGeometry) -> TargetSize? {
    let sides = [geometry.width, geometry.height]
    let (width, height) = isTurned ? (sides[1], sides[0]) : (sides[0], sides[1])
    switch (width > 0, height > 0) {
    case (true, false): return .pixels(width: width, enlarges: enlarges)
    case (false, true): return .pixels(height: height, enlarges: enlarges)
    case (false, false): return nil
    case (true, true):
      let mode: TargetSize.Mode = fit == .force ? .exact : geometry.crops ? .fill : .fit
      return .pixels(width, height, mode, anchor: anchor, enlarges: enlarges)
    }
  }

  private var anchor: Anchor {
    if case .place(let place, _, _) = gravity { place.anchor } else { .center }
  }

  private var turns: [ImageProcessor] {
    (rotation == 0 ? [] : [.rotate(degrees: Double(rotation))])
      + (flipsHorizontally ? [.flip(.horizontal)] : []) + (flipsVertically ? [.flip(.vertical)] : [])
  }

  /// The steps on an image that has been decoded at its size.
  private func simpleSteps(_ geometry: ThumbnailGeometry) -> [ImageProcessor] {
    let isCroppedDown = fit == .fillDown && geometry.crops
    return turns + (isCroppedDown ? [.crop(aspectRatio: geometry.width / geometry.height, anchor: anchor)] : [])
  }

  /// The steps on an image that has been decoded whole.
  private func wholeSteps(_ geometry: ThumbnailGeometry) -> [ImageProcessor] {
    var steps: [ImageProcessor] = []
    if let trim {
      steps.append(
        .trim(
          tolerance: trim.threshold,
          color: trim.color,
          isEqualHorizontally: trim.isEqualHorizontally,
          isEqualVertically: trim.isEqualVertically,
        )
      )
    }
    steps += turns
    if let crop { steps.append(ThumbnailGeometry.processor(crop, crop.gravity ?? gravity)) }
    return steps + [geometry.resizing] + geometry.cropping(gravity)
  }

  // MARK: - Looks

  private func looks(_ geometry: ThumbnailGeometry, _ mark: Bitmap?) throws(RequestError) -> [ImageProcessor] {
    var steps: [ImageProcessor] = []
    if brightness != 0 { steps.append(.brightness(Double(brightness) / 255)) }
    if contrast != 1 { steps.append(.contrast(contrast)) }
    if saturation != 1 { steps.append(.saturation(saturation)) }
    if blur > 0 { steps.append(.blur(radius: .pixels(blur))) }
    if sharpening > 0 { steps.append(.sharpen(radius: .pixels(sharpening))) }
    if let radii { steps.append(.roundedCorners(radii)) }
    steps += canvases(geometry)
    if let watermark {
      guard let mark else { throw RequestError(400, "the server has no watermark") }
      let (anchor, ratio) = (watermark.place.anchor, geometry.ratio)
      steps.append(
        .overlay(
          mark,
          at: anchor,
          offset: (Self.offset(watermark.x, ratio, anchor.x), Self.offset(watermark.y, ratio, anchor.y)),
          width: watermark.scale > 0 ? .fraction(watermark.scale) : nil,
          opacity: watermark.opacity,
        )
      )
    }
    if let background { steps.append(.background(background)) }
    return steps
  }

  private var radii: CornerRadii? {
    guard let first = cornerRadii.first else { return nil }
    let ratio = pixelRatio ?? 1
    let lengths = cornerRadii.map { Length.pixels($0 * ratio) }
    guard lengths.count == 4 else { return CornerRadii(.pixels(first * ratio)) }
    return CornerRadii(topLeft: lengths[0], topRight: lengths[1], bottomRight: lengths[2], bottomLeft: lengths[3])
  }

  private func canvases(_ geometry: ThumbnailGeometry) -> [ImageProcessor] {
    // An opaque image on an opaque canvas stays opaque, and is encoded as such.
    let color = background.flatMap { $0.alpha == 255 ? $0 : nil } ?? .clear
    var steps: [ImageProcessor] = []
    let (width, height) = (geometry.width, geometry.height)
    if let extends, width > 0 || height > 0 {
      let (anchor, offset) = Self.placement(extends, geometry.ratio)
      let sides = [width, height].map { $0 > 0 ? Length.pixels($0) : .fraction(1) }
      steps.append(.canvas(width: sides[0], height: sides[1], at: anchor, offset: offset, color: color))
    }
    if let extendsToAspectRatio, width > 0, height > 0 {
      let (anchor, offset) = Self.placement(extendsToAspectRatio, geometry.ratio)
      steps.append(.canvas(aspectRatio: width / height, at: anchor, offset: offset, color: color))
    }
    if padding != Padding() {
      func length(_ side: Int) -> Length { .pixels((Double(side) * geometry.ratio).rounded()) }
      steps.append(
        .padding(
          top: length(padding.top),
          right: length(padding.right),
          bottom: length(padding.bottom),
          left: length(padding.left),
          color: color,
        )
      )
    }
    return steps
  }

  private static func placement(_ gravity: Gravity, _ ratio: Double) -> (Anchor, (x: Length, y: Length)) {
    guard case .place(let place, let x, let y) = gravity else { return (.center, (.zero, .zero)) }
    return (place.anchor, (offset(x, ratio, place.anchor.x), offset(y, ratio, place.anchor.y)))
  }

  private static func offset(_ distance: Double, _ ratio: Double, _ anchor: Double) -> Length {
    let inwards = ThumbnailGeometry.inwards(distance, anchor)
    return abs(distance) < 1 ? .fraction(inwards) : .pixels(inwards * ratio)
  }
}
