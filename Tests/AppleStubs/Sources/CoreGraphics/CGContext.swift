/// The quality of resampling.
public enum CGInterpolationQuality: Int32, Sendable {
  /// The context's own choice.
  case `default`
  /// None.
  case none
  /// Low.
  case low
  /// High.
  case high
  /// Medium.
  case medium
}

/// How what is drawn meets what is there.
public enum CGBlendMode: Int32, Sendable {
  /// Over what is there.
  case normal = 0
  /// In place of what is there.
  case copy = 17
}

/// Converts colours for contexts; tests install one that knows profiles.
public protocol _ColorConverting: Sendable {
  /// Converts pixels of four bytes, colours with straight alpha or inks, to a named RGB space, in place.
  func convert(_ pixels: inout [UInt8], from source: CGColorSpace, to target: CGColorSpace)
}

/// The hooks of the stub.
public enum _CoreGraphics {
  // Written once, before tests run.
  /// The conversion of colours between spaces; without one, numbers are kept.
  nonisolated(unsafe) public static var colors: (any _ColorConverting)?
}

/// A bitmap that can be drawn on.
///
/// The stub has RGB with alpha last, of 8 bits a component or of floating-point numbers with 16 bits.
public final class CGContext {
  /// The number of columns.
  public let width: Int
  /// The number of rows.
  public let height: Int
  /// The bytes from one row to the next.
  public let bytesPerRow: Int
  /// The colour space.
  public let colorSpace: CGColorSpace?
  /// The memory of the pixels.
  public let data: UnsafeMutableRawPointer?
  /// The quality of resampling.
  public var interpolationQuality = CGInterpolationQuality.default
  /// The place where text is drawn next, counted from the bottom left.
  public var textPosition = CGPoint.zero
  /// The map from text to the context; the stub uses none.
  public var textMatrix = CGAffineTransform.identity
  private let alpha: CGImageAlphaInfo
  private let isOwner: Bool
  private let isFloat: Bool
  private var mode = CGBlendMode.normal
  private var targetHeadroom: Float = 1

  /// Makes a context in `data`, or in memory of its own; `nil` for a format that bitmaps cannot have.
  public init?(
    data: UnsafeMutableRawPointer?,
    width: Int,
    height: Int,
    bitsPerComponent: Int,
    bytesPerRow: Int,
    space: CGColorSpace,
    bitmapInfo: UInt32,
  ) {
    // As documented: straight alpha is not among the formats of bitmap contexts.
    let isFloat = bitmapInfo & CGBitmapInfo.floatComponents.rawValue != 0
    let bytesPerPixel = isFloat ? 8 : 4
    guard width > 0, height > 0, bitsPerComponent == (isFloat ? 16 : 8), space.model == .rgb,
      let alpha = CGImageAlphaInfo(rawValue: bitmapInfo & CGBitmapInfo.alphaInfoMask.rawValue),
      alpha == .premultipliedLast || alpha == .noneSkipLast && !isFloat,
      bytesPerRow == 0 || bytesPerRow >= bytesPerPixel * width
    else { return nil }
    self.isFloat = isFloat
    (self.width, self.height, self.alpha, colorSpace) = (width, height, alpha, space)
    self.bytesPerRow = bytesPerRow == 0 ? bytesPerPixel * width : bytesPerRow
    isOwner = data == nil
    self.data =
      data ?? UnsafeMutableRawPointer(calloc(self.bytesPerRow, height))
  }

  deinit { if isOwner { free(data) } }

  /// Sets how many times brighter than white the target can be; what is brighter is drawn no brighter than that.
  public func setEDRTargetHeadroom(_ headroom: Float) -> Bool {
    guard headroom >= 1 else { return false }
    targetHeadroom = headroom
    return true
  }

  /// Sets how what is drawn meets what is there.
  public func setBlendMode(_ mode: CGBlendMode) { self.mode = mode }

  /// Sets whether letters may begin within a pixel; those of the stub always do.
  public func setShouldSubpixelPositionFonts(_ should: Bool) {}

  /// Sets whether their places within a pixel are rounded; those of the stub never are.
  public func setShouldSubpixelQuantizeFonts(_ should: Bool) {}

  /// Sets whether letters are made bolder for displays; those of the stub never are.
  public func setShouldSmoothFonts(_ should: Bool) {}

  /// Draws a colour on a row of pixels, counted from the top, from a column on, as far as each pixel is covered.
  public func _draw(_ color: CGColor, row: Int, from column: Int, coverage: [Double]) {
    guard let data, let parts = color.components, (0..<height).contains(row) else { return }
    let pixels = data.assumingMemoryBound(to: UInt8.self) + row * bytesPerRow
    for (x, share) in zip(column..., coverage) where share > 0 && (0..<width).contains(x) {
      let alpha = parts[3] * share
      write([parts[0], parts[1], parts[2], alpha].map { UInt8(($0 * 255).rounded()) }, to: pixels + 4 * x)
    }
  }

  /// Draws an image, scaled to a rectangle, whose origin is at the bottom; the stub takes the nearest pixels.
  public func draw(_ image: CGImage, in rect: CGRect, byTiling: Bool = false) {
    guard let data, let own = image.colorSpace, let space = colorSpace else { return }
    var pixels = image._pixels
    if !isFloat, own !== space, own.model == .cmyk || own.name != space.name || own.name == nil {
      _CoreGraphics.colors?.convert(&pixels, from: own, to: space)
    }
    let top = CGFloat(height) - rect.maxY
    for row in 0..<height {
      let sourceRow = Int(((CGFloat(row) + 0.5 - top) / rect.height * CGFloat(image.height)).rounded(.down))
      for x in 0..<width {
        let column = Int(((CGFloat(x) + 0.5 - rect.minX) / rect.width * CGFloat(image.width)).rounded(.down))
        guard (0..<image.height).contains(sourceRow), (0..<image.width).contains(column) else { continue }
        let place = (sourceRow * image.width + column) * 4
        let color = Array(pixels[place..<place + 4])
        if isFloat {
          writeFloats(
            color,
            headroom: min(max(1, image.contentHeadroom), targetHeadroom),
            to: data + row * bytesPerRow + 8 * x,
          )
        } else {
          write(color, to: data.assumingMemoryBound(to: UInt8.self) + row * bytesPerRow + 4 * x)
        }
      }
    }
  }

  /// Writes a color as light; the brightest byte is the headroom.
  private func writeFloats(_ color: [UInt8], headroom: Float, to target: UnsafeMutableRawPointer) {
    let coverage = Float(color[3]) / 255
    for index in 0..<4 {
      let level = Float(color[index]) / 255
      let light = index == 3 ? coverage : pow(level, 2.2) * headroom * coverage
      target.storeBytes(of: Self.half(light), toByteOffset: 2 * index, as: UInt16.self)
    }
  }

  /// Returns the bits of a number as a binary16.
  private static func half(_ value: Float) -> UInt16 {
    guard value >= 0x1p-14 else { return UInt16((value * 0x1p24).rounded()) }
    let significand = UInt16(((value.significand - 1) * 1024).rounded())
    return UInt16(Int(value.exponent) + 15) << 10 + significand
  }

  private func write(_ color: [UInt8], to target: UnsafeMutablePointer<UInt8>) {
    guard alpha == .premultipliedLast else {
      for index in 0..<3 { target[index] = color[index] }
      target[3] = 255
      return
    }
    let coverage = Int(color[3])
    let below = mode == .copy ? 0 : 255 - coverage
    for index in 0..<3 {
      target[index] = UInt8((Int(color[index]) * coverage + 127) / 255 + (Int(target[index]) * below + 127) / 255)
    }
    target[3] = UInt8(coverage + (Int(target[3]) * below + 127) / 255)
  }
}
