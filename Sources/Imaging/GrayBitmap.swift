public import VitrineRuntime

/// Decoded levels of gray, a quarter of what a ``Bitmap`` of the same size takes.
///
/// ```swift
/// let page = try DecoderRegistry.standard.decodeGray(scan).bitmap
/// ```
/// For masks, scans and displays without colour. Copies share their pixels, which never change after they are made, so a
/// bitmap may be read on any thread.
///
/// Shape: ``height`` rows of ``width`` bytes, from top to bottom, 0 for black and 255 for white, in sRGB's curve.
public struct GrayBitmap: Sendable {
  /// Pixels, and bytes, in a row.
  public let width: Int
  /// Rows.
  public let height: Int
  private let storage: PixelStorage

  /// The size of the pixels in memory, in bytes.
  public var byteCount: Int { width * height }

  /// Makes a bitmap whose pixels `fill` writes.
  ///
  /// - Parameters:
  ///   - width: Pixels in a row, at least 1.
  ///   - height: Rows, at least 1.
  ///   - fill: Writes all `width * height` bytes, which have no defined value before.
  /// - Throws: What `fill` throws; nothing is kept then.
  public init<E: Error>(
    width: Int,
    height: Int,
    fill: (UnsafeMutableRawBufferPointer) throws(E) -> Void,
  ) throws(E) {
    precondition(width > 0 && height > 0 && width < 1 << 31 && height < 1 << 31, "a bitmap has at least one pixel")
    (self.width, self.height) = (width, height)
    storage = PixelStorage(count: width * height)
    // Nobody else has seen the storage yet, so writing to it is not shared.
    try unsafe fill(storage.buffer)
  }

  /// Makes levels of gray of colours.
  ///
  /// They are luma, with the weights of Recommendation ITU-R BT.709-6, item 3.2, of the numbers as they are.
  ///
  /// Complexity: O(pixels).
  ///
  /// - Parameters:
  ///   - bitmap: The colours.
  ///   - background: The level that shines through what is transparent; white unless told.
  public init(_ bitmap: Bitmap, over background: UInt8 = 255) {
    let straight = bitmap.straightened()
    self = unsafe GrayBitmap(width: bitmap.width, height: bitmap.height) { levels in
      unsafe straight.withUnsafeBytes { pixels in
        // As many levels as there are pixels.
        for y in 0..<straight.height {
          for x in 0..<straight.width {
            let offset = y * straight.bytesPerRow + 4 * x
            let pixel = unsafe pixels.loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt8>.self)
            unsafe levels[y * straight.width + x] = Self.level(of: pixel, over: background)
          }
        }
      }
    }
  }

  /// Gives `body` the pixels as raw memory, valid until it returns.
  public func withUnsafeBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    defer { withExtendedLifetime(storage) {} }
    return try unsafe body(UnsafeRawBufferPointer(storage.buffer))
  }

  /// Gives `body` the pixels with bounds checked, valid until it returns.
  public func withBytes<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try unsafe withUnsafeBytes { (bytes) throws(E) -> R in try unsafe body(bytes.bytes) }
  }

  /// The level of one pixel.
  public subscript(x: Int, y: Int) -> UInt8 {
    precondition((0..<width).contains(x) && (0..<height).contains(y), "no pixel at \(x), \(y)")
    // In bounds by the line above.
    return unsafe withUnsafeBytes { unsafe $0[y * width + x] }
  }

  static func level(of pixel: SIMD4<UInt8>) -> UInt8 {
    // The weights in units of 1/65536, which they add up to: what is gray keeps its level.
    let sum = UInt32(pixel.x) * 13_933 + UInt32(pixel.y) * 46_871 + UInt32(pixel.z) * 4732
    return UInt8(truncatingIfNeeded: (sum + 32_768) >> 16)
  }

  /// `pixel` has straight alpha.
  static func level(of pixel: SIMD4<UInt8>, over background: UInt8) -> UInt8 {
    let (level, coverage) = (UInt32(level(of: pixel)), UInt32(pixel.w))
    return UInt8(truncatingIfNeeded: (level * coverage + UInt32(background) * (255 - coverage) + 127) / 255)
  }
}

extension Bitmap {
  /// Makes the same picture with a red, a green and a blue that are equal, opaque.
  ///
  /// Complexity: O(pixels).
  public init(_ gray: GrayBitmap) {
    self = unsafe Bitmap(width: gray.width, height: gray.height, alpha: .opaque) { pixels in
      unsafe gray.withUnsafeBytes { levels in
        // As many pixels as there are levels.
        for index in levels.indices {
          let level = unsafe levels[index]
          unsafe pixels.storeBytes(
            of: SIMD4(level, level, level, 255),
            toByteOffset: 4 * index,
            as: SIMD4<UInt8>.self,
          )
        }
      }
    }
  }
}

/// A decoded image without colour.
public struct DecodedGrayImage: Sendable {
  /// The levels: upright, at the size asked for.
  public let bitmap: GrayBitmap
  /// What the header said.
  public let info: ImageInfo
  /// `nil` when the image is whole; what went wrong when it is partial because ``DecodeOptions/acceptsPartial`` was set.
  public let damage: ImageError?
}

extension DecoderRegistry {
  /// Decodes an image to levels of gray: upright, at the size asked for, in a quarter of the memory.
  ///
  /// Rows go from the decoder to the result a few at a time, as in ``decode(_:_:)``, and colours become luma (ITU-R
  /// BT.709-6, item 3.2) on the way. Whether the image was gray, its ``ImageInfo/colorModel`` says. Blocks for as long as it
  /// takes.
  ///
  /// - Parameters:
  ///   - data: The encoded image.
  ///   - options: How it is to be decoded; ``DecodeLimits/outputByteCount`` counts the result's own bytes.
  ///   - background: The level that shines through what is transparent, and shows what is missing; white unless told.
  /// - Returns: The levels, and what the header said.
  /// - Throws: ``ImageError``, of any code but `.notEncodable`.
  public func decodeGray(
    _ data: Data,
    _ options: DecodeOptions = DecodeOptions(),
    over background: UInt8 = 255,
  ) throws(ImageError) -> DecodedGrayImage {
    var options = options
    options.bytesPerPixel = 1
    options.colorSpace = .sRGB
    let render = { (source: any RowSource, info, plan, control) throws(ImageError) -> DecodedGrayImage in
      let result = try options.renderer(for: info, plan, control).renderGray(
        source,
        over: background,
        acceptsPartial: options.acceptsPartial,
      )
      return DecodedGrayImage(bitmap: result.bitmap, info: info, damage: result.damage)
    }
    // Nothing that is not safe is done here; what opens images gives a shortcut the bytes.
    return try unsafe open(data, options, render: render)
  }
}

/// Memory of pixels, which is written once.
// @unchecked: written only before the initialiser that made it returns, read only after.
@safe
final class PixelStorage: @unchecked Sendable {
  let buffer: UnsafeMutableRawBufferPointer

  init(count: Int) {
    // Not zeroed: whoever makes it writes every byte. 64 is a cache line, and enough for any vector instruction.
    unsafe buffer = .allocate(byteCount: count, alignment: 64)
  }

  deinit { unsafe buffer.deallocate() }
}
