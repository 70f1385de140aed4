import CoreGraphics
import VitrineRuntime

/// Rows of pictures that ImageIO has decoded.
enum ImageIORows {
  /// Opens an image of a file, at the smallest size that satisfies the request.
  ///
  /// `width` and `height` come from our own reading of the header, against which the limits were checked.
  static func open(
    _ bytes: UnsafeRawBufferPointer,
    _ request: RowRequest,
    at index: Int = 0,
    width: Int,
    height: Int,
    present: Int? = nil,
    damage: ImageError? = nil,
  ) throws(ImageError) -> HeldRows {
    guard let source = unsafe ImageIOSource(bytes) else { throw undecodable(request.info.format) }
    return try open(source, request, at: index, width: width, height: height, present: present, damage: damage)
  }

  /// Opens an image of a source.
  ///
  /// `present` is the number of stored rows that the file has; `nil` for all, or if that is not known.
  static func open(
    _ source: ImageIOSource,
    _ request: RowRequest,
    at index: Int,
    width: Int,
    height: Int,
    present: Int? = nil,
    damage: ImageError? = nil,
  ) throws(ImageError) -> HeldRows {
    let format = request.info.format
    try request.control.check()
    let longest = max(width, height)
    let wanted = max(1, Int((Double(longest) * request.minimumScale).rounded(.up)))
    let turn = source.orientation(at: index)
    // Where a file may be brighter than white, ImageIO is asked for what a page can show.
    let range: DynamicRange? = [.heic, .avif, .jxl].contains(format) ? .standard : nil
    // What ImageIO turns must be turned as our own reading of the file says, or not at all. Rows that are missing are
    // those at the end of the stored picture.
    if wanted < longest, turn == .up || (turn == request.info.orientation && present == nil) {
      guard let image = source.thumbnail(at: index, longestSide: wanted, range: range) else {
        throw damage ?? undecodable(format)
      }
      let (ownWidth, ownHeight) = turn.applied(width: width, height: height)
      // Otherwise it is another picture than the one whose header was checked.
      let isAlike = (image.width > image.height) == (ownWidth > ownHeight) || abs(image.width - image.height) <= 1
      guard max(image.width, image.height) <= wanted, isAlike else { throw disagreeing(format) }
      let shown = present.map { $0 * image.height / height }
      return rows(
        of: image,
        request.colorSpace,
        isUpright: turn != .up,
        isReduced: true,
        present: shown,
        damage: damage,
      )
    }
    guard let image = source.image(at: index, range: range) else { throw damage ?? undecodable(format) }
    guard image.width == width, image.height == height else { throw disagreeing(format) }
    return rows(of: image, request.colorSpace, isUpright: false, present: present, damage: damage)
  }

  /// Returns the rows of a decoded image.
  ///
  /// Pixels of 8 bits a component keep their numbers, so that colours are converted as everywhere, and only those that
  /// are left after resampling. CoreGraphics converts all others: 16 bits, inks, palettes.
  ///
  /// - Parameters:
  ///   - image: The image.
  ///   - target: The colour space to which CoreGraphics converts.
  ///   - isUpright: True if ImageIO has applied the orientation.
  ///   - size: The size to draw at; `nil` for the image's own.
  ///   - isReduced: True if ImageIO has made the image smaller.
  ///   - hasProfile: True if the caller knows the colours of the file.
  ///   - present: The number of rows that the file has; `nil` for all, or if that is not known.
  ///   - damage: The reason why some are missing.
  /// - Returns: The rows.
  static func rows(
    of image: CGImage,
    _ target: ColorSpace,
    isUpright: Bool,
    size: (width: Int, height: Int)? = nil,
    isReduced: Bool = false,
    hasProfile: Bool = true,
    present: Int? = nil,
    damage: ImageError? = nil,
  ) -> HeldRows {
    // Without a file, the colours of an image are in its colour space.
    let isKnown = hasProfile || image.colorSpace?.name == target.platform.name
    let layout = size == nil && isKnown ? PlainLayout(image) : nil
    let (width, height) = size ?? (image.width, image.height)
    let hasAlpha = image.hasAlpha
    // Drawn in its own space, an image only changes its layout.
    let own = hasProfile && image.bitsPerComponent == 8 ? image.colorSpace.flatMap { $0.isDrawable ? $0 : nil } : nil
    return HeldRows(
      width: width,
      height: height,
      hasAlpha: hasAlpha,
      damage: present == nil ? damage : nil,
      colorSpace: hasProfile && (layout != nil || own != nil) ? nil : target,
      isUpright: isUpright,
      // A picture in its own size may stand for a larger one, such as a camera's thumbnail.
      isAveraged: !isReduced,
    ) { (pixels, wholeRows) throws(ImageError) in
      // What ImageIO makes up for the missing rows is not shown.
      defer { wholeRows = present ?? height }
      if let layout, let data = image.dataProvider?.data as Data?,
        unsafe data.withUnsafeBytes({ layout.copy(unsafe Elements($0), to: pixels) })
      {
        if present != nil, let damage { throw damage }
        return
      }
      let space = own ?? target.platform
      guard image.draw(into: pixels, width: width, height: height, in: space, hasAlpha: hasAlpha) else {
        throw ImageError(.overLimit, "not enough memory for the colours of an image")
      }
      if present != nil, let damage { throw damage }
    }
  }

  /// The error for a file that ImageIO does not decode; it does not say why.
  static func undecodable(_ format: ImageFormat) -> ImageError {
    ImageError(.corrupt, format: format, "corrupt: the system cannot decode it")
  }

  private static func disagreeing(_ format: ImageFormat) -> ImageError {
    ImageError(.corrupt, format: format, "corrupt: two headers disagree")
  }
}

/// The layout of decoded pixels with 8 bits a component, in rows of bytes.
private struct PlainLayout {
  private let width: Int
  private let height: Int
  private let bytesPerRow: Int
  /// 1 for gray, 3 for RGB, 4 for RGB and alpha.
  private let bytesPerPixel: Int
  private let isOpaque: Bool

  /// Returns `nil` for a layout that CoreGraphics must convert.
  init?(_ image: CGImage) {
    let order = image.byteOrderInfo
    guard image.bitsPerComponent == 8, order == .orderDefault || order == .order32Big,
      !image.bitmapInfo.contains(.floatComponents), let model = image.colorSpace?.model
    else { return nil }
    switch (model, image.bitsPerPixel, image.alphaInfo) {
    case (.monochrome, 8, .none), (.rgb, 24, .none), (.rgb, 32, .noneSkipLast), (.rgb, 32, .last): break
    default: return nil
    }
    (width, height, bytesPerRow) = (image.width, image.height, image.bytesPerRow)
    bytesPerPixel = image.bitsPerPixel / 8
    isOpaque = image.alphaInfo != .last
  }

  /// Copies pixels as RGBA; returns `false` if there are fewer than the layout needs.
  func copy(_ source: Elements<UInt8>, to target: MutableElements<UInt8>) -> Bool {
    guard target.count == 4 * width * height, bytesPerRow >= bytesPerPixel * width,
      source.count >= bytesPerRow * (height - 1) + bytesPerPixel * width
    else { return false }
    for row in 0..<height {
      let from = source.extracting(row * bytesPerRow..<row * bytesPerRow + bytesPerPixel * width)
      let to = target.rows(from: row, count: 1, width: width)
      if bytesPerPixel == 4 {
        to.update(from: from)
        if isOpaque { to.makeOpaque() }
        continue
      }
      for x in 0..<width {
        let (red, step) = (x * bytesPerPixel, bytesPerPixel == 1 ? 0 : 1)
        to[4 * x] = from[red]
        to[4 * x + 1] = from[red + step]
        to[4 * x + 2] = from[red + 2 * step]
        to[4 * x + 3] = 255
      }
    }
    return true
  }
}

extension CGImage {
  /// A Boolean value that indicates whether a pixel can be transparent.
  var hasAlpha: Bool {
    switch alphaInfo {
    case .first, .last, .premultipliedFirst, .premultipliedLast, .alphaOnly: true
    default: false
    }
  }

  /// Draws the image over `width` x `height` pixels of RGBA with straight alpha, in a colour space.
  ///
  /// - Returns: `false` if there was no memory.
  func draw(
    into pixels: MutableElements<UInt8>,
    width: Int,
    height: Int,
    in space: CGColorSpace,
    hasAlpha: Bool,
  ) -> Bool {
    precondition(pixels.count == 4 * width * height)
    // Bitmap contexts have no straight alpha.
    let alpha = hasAlpha ? CGImageAlphaInfo.premultipliedLast : .noneSkipLast
    // `pixels` outlives the context, which ends with this function.
    let made = unsafe pixels.withUnsafeBufferPointer {
      unsafe CGContext(
        data: $0.baseAddress,
        width: width,
        height: height,
        bitsPerComponent: 8,
        bytesPerRow: 4 * width,
        space: space,
        bitmapInfo: alpha.rawValue | CGBitmapInfo.byteOrder32Big.rawValue,
      )
    }
    guard let context = made else { return false }
    context.interpolationQuality = width == self.width && height == self.height ? .none : .high
    context.setBlendMode(.copy)
    context.draw(self, in: CGRect(x: 0, y: 0, width: width, height: height))
    if hasAlpha {
      pixels.unpremultiply()
    } else {
      pixels.makeOpaque()
    }
    return true
  }
}

extension MutableElements<UInt8> {
  /// Sets the fourth byte of each pixel, which has no value where it is skipped.
  fileprivate func makeOpaque() {
    for offset in stride(from: 3, to: count, by: 4) { self[offset] = 255 }
  }
}

extension CGColorSpace {
  /// A Boolean value that indicates whether a bitmap context of red, green and blue can have it.
  fileprivate var isDrawable: Bool { model == .rgb && supportsOutput }
}

extension ColorSpace {
  /// The colour space of CoreGraphics.
  var platform: CGColorSpace {
    CGColorSpace(name: self == .displayP3 ? CGColorSpace.displayP3 : CGColorSpace.sRGB) ?? CGColorSpaceCreateDeviceRGB()
  }
}
