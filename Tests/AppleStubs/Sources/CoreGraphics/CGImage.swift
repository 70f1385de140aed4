/// The place and meaning of alpha in a pixel.
public enum CGImageAlphaInfo: UInt32, Sendable {
  /// No alpha.
  case none
  /// Colours are multiplied by alpha, which is last.
  case premultipliedLast
  /// Colours are multiplied by alpha, which is first.
  case premultipliedFirst
  /// Straight alpha, last.
  case last
  /// Straight alpha, first.
  case first
  /// The last component is ignored.
  case noneSkipLast
  /// The first component is ignored.
  case noneSkipFirst
  /// Only alpha.
  case alphaOnly
}

/// The order of a pixel's bytes.
public enum CGImageByteOrderInfo: UInt32, Sendable {
  /// The bits of the order.
  case orderMask = 0x7000
  /// As the components follow one another.
  case orderDefault = 0
  /// 16 bits, little-endian.
  case order16Little = 0x1000
  /// 32 bits, little-endian.
  case order32Little = 0x2000
  /// 16 bits, big-endian.
  case order16Big = 0x3000
  /// 32 bits, big-endian.
  case order32Big = 0x4000
}

/// The format of a pixel.
public struct CGBitmapInfo: OptionSet, Sendable {
  /// The bits.
  public let rawValue: UInt32

  /// Makes a format from its bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// The bits of ``CGImageAlphaInfo``.
  public static let alphaInfoMask = CGBitmapInfo(rawValue: 0x1F)
  /// Components are floating-point numbers.
  public static let floatComponents = CGBitmapInfo(rawValue: 1 << 8)
  /// The bits of ``CGImageByteOrderInfo``.
  public static let byteOrderMask = CGBitmapInfo(rawValue: 0x7000)
  /// 16 bits, little-endian.
  public static let byteOrder16Little = CGBitmapInfo(rawValue: 0x1000)
  /// 32 bits, little-endian.
  public static let byteOrder32Little = CGBitmapInfo(rawValue: 0x2000)
  /// 32 bits, big-endian.
  public static let byteOrder32Big = CGBitmapInfo(rawValue: 0x4000)
}

/// How colours outside a space are brought into it.
public enum CGColorRenderingIntent: Int32, Sendable {
  /// The default for the context.
  case defaultIntent
  /// Colours keep their absolute values.
  case absoluteColorimetric
  /// White becomes white.
  case relativeColorimetric
  /// Relations are kept.
  case perceptual
  /// Saturation is kept.
  case saturation
}

/// Frees the memory of a provider.
public typealias CGDataProviderReleaseDataCallback =
  @convention(c) (UnsafeMutableRawPointer?, UnsafeRawPointer, Int)
  -> Void

// @unchecked: its memory is only read, and freed once, in deinit.
/// The bytes of an image.
public final class CGDataProvider: @unchecked Sendable {
  private let info: UnsafeMutableRawPointer?
  let bytes: UnsafeRawBufferPointer
  private let release: CGDataProviderReleaseDataCallback?
  private let owner: NSData?

  /// Uses memory that `releaseData` frees when the provider is released.
  public init?(
    dataInfo info: UnsafeMutableRawPointer?,
    data: UnsafeRawPointer,
    size: Int,
    releaseData: CGDataProviderReleaseDataCallback,
  ) {
    (self.info, bytes, release, owner) = (info, UnsafeRawBufferPointer(start: data, count: size), releaseData, nil)
  }

  /// Uses the bytes of data.
  public init?(data: CFData) {
    (info, release, owner) = (nil, nil, data)
    bytes = UnsafeRawBufferPointer(start: data.bytes, count: data.length)
  }

  deinit { if let start = bytes.baseAddress { release?(info, start, bytes.count) } }

  /// A copy of the bytes.
  public var data: CFData? { NSData(bytes: bytes.baseAddress, length: bytes.count) }

  /// The address of the bytes, to see that nothing was copied.
  public var _address: UnsafeRawPointer? { bytes.baseAddress }
}

// @unchecked: constant after it has been made.
/// An image.
public final class CGImage: @unchecked Sendable {
  /// The number of columns.
  public let width: Int
  /// The number of rows.
  public let height: Int
  /// The bits of a component.
  public let bitsPerComponent: Int
  /// The bits of a pixel.
  public let bitsPerPixel: Int
  /// The bytes from one row to the next.
  public let bytesPerRow: Int
  /// The colour space.
  public let colorSpace: CGColorSpace?
  /// The format of a pixel.
  public let bitmapInfo: CGBitmapInfo
  /// The bytes.
  public let dataProvider: CGDataProvider?
  /// How much brighter than SDR white the content is; 1 for SDR, 0 if unknown.
  public let contentHeadroom: Float

  /// Makes an image of a provider's bytes, which are not copied; `nil` if they are too few.
  public convenience init?(
    width: Int,
    height: Int,
    bitsPerComponent: Int,
    bitsPerPixel: Int,
    bytesPerRow: Int,
    space: CGColorSpace,
    bitmapInfo: CGBitmapInfo,
    provider: CGDataProvider,
    decode: UnsafePointer<CGFloat>?,
    shouldInterpolate: Bool,
    intent: CGColorRenderingIntent,
  ) {
    self.init(
      headroom: 0,
      width: width,
      height: height,
      bitsPerComponent: bitsPerComponent,
      bitsPerPixel: bitsPerPixel,
      bytesPerRow: bytesPerRow,
      space: space,
      bitmapInfo: bitmapInfo,
      provider: provider,
      decode: decode,
      shouldInterpolate: shouldInterpolate,
      intent: intent,
    )
  }

  /// Makes an image that is brighter than SDR white by a factor.
  public init?(
    headroom: Float,
    width: Int,
    height: Int,
    bitsPerComponent: Int,
    bitsPerPixel: Int,
    bytesPerRow: Int,
    space: CGColorSpace,
    bitmapInfo: CGBitmapInfo,
    provider: CGDataProvider,
    decode: UnsafePointer<CGFloat>?,
    shouldInterpolate: Bool,
    intent: CGColorRenderingIntent,
  ) {
    guard width > 0, height > 0, bytesPerRow * 8 >= width * bitsPerPixel,
      provider.bytes.count >= bytesPerRow * (height - 1) + width * bitsPerPixel / 8
    else { return nil }
    (self.width, self.height, colorSpace, dataProvider) = (width, height, space, provider)
    (self.bitsPerComponent, self.bitsPerPixel) = (bitsPerComponent, bitsPerPixel)
    (self.bytesPerRow, self.bitmapInfo, contentHeadroom) = (bytesPerRow, bitmapInfo, headroom)
  }

  /// The place and meaning of alpha.
  public var alphaInfo: CGImageAlphaInfo {
    CGImageAlphaInfo(rawValue: bitmapInfo.rawValue & CGBitmapInfo.alphaInfoMask.rawValue) ?? .none
  }

  /// The order of a pixel's bytes.
  public var byteOrderInfo: CGImageByteOrderInfo {
    CGImageByteOrderInfo(rawValue: bitmapInfo.rawValue & CGBitmapInfo.byteOrderMask.rawValue) ?? .orderDefault
  }
}

extension CGImage {
  /// The pixels with four bytes each: red, green, blue and straight alpha, or four inks.
  ///
  /// The stub knows 8 bits a component: gray, RGB and inks.
  public var _pixels: [UInt8] {
    var pixels = [UInt8](repeating: 255, count: 4 * width * height)
    guard let bytes = dataProvider?.bytes, bitsPerComponent == 8 else { return pixels }
    let count = bitsPerPixel / 8
    let reversed = byteOrderInfo == .order32Little && count == 4
    if count == 4, !reversed, alphaInfo == .last || colorSpace?.model == .cmyk {
      for row in 0..<height {
        let start = row * bytesPerRow
        pixels.replaceSubrange(4 * row * width..<4 * (row + 1) * width, with: bytes[start..<start + 4 * width])
      }
      return pixels
    }
    for row in 0..<height {
      for x in 0..<width {
        let start = row * bytesPerRow + x * count
        var own = (0..<count).map { bytes[start + $0] }
        if reversed { own.reverse() }
        let target = (row * width + x) * 4
        pixels.replaceSubrange(target..<target + 4, with: Self.expanded(own, colorSpace?.model ?? .rgb, alphaInfo))
      }
    }
    return pixels
  }

  private static func expanded(_ own: [UInt8], _ model: CGColorSpaceModel, _ alpha: CGImageAlphaInfo) -> [UInt8] {
    if model == .cmyk { return own }
    if model == .monochrome { return [own[0], own[0], own[0], own.count > 1 && alpha == .last ? own[1] : 255] }
    guard own.count == 4 else { return own + [255] }
    let isFirst = [.first, .premultipliedFirst, .noneSkipFirst].contains(alpha)
    var color = isFirst ? Array(own[1...]) : Array(own[..<3])
    let coverage = alpha == .noneSkipLast || alpha == .noneSkipFirst || alpha == .none ? 255 : isFirst ? own[0] : own[3]
    if alpha == .premultipliedLast || alpha == .premultipliedFirst, coverage < 255 {
      color = color.map { coverage == 0 ? 0 : UInt8(min(255, (Int($0) * 255 + Int(coverage) / 2) / Int(coverage))) }
    }
    return color + [coverage]
  }
}
