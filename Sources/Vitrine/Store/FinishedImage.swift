import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime

/// The form in which a data cache stores a finished image.
///
/// An image of up to 512 KB is stored as raw pixels, which are cheaper to read than any encoded form. A larger image
/// becomes a JPEG of quality 90 or, with transparency, a lossless WebP; on Apple's platforms, which write no WebP, a
/// PNG. No encoded image is made from such a file (``LoadedImage/isLossy``). An image that the program provides
/// has no original to encode instead, so it is stored as a PNG. The metadata (``Header``) has its origin and validity;
/// an embedded profile of the original is lost.
enum FinishedImage {
  enum Encoding: UInt64 { case raw = 0, file = 1 }

  static let rawLimit = 512 << 10

  /// Creates the entry of an image; returns `nil` if the stored form would lose highlights, animation, colours or damage.
  ///
  /// Blocks while a large image is encoded.
  static func entry(of image: LoadedImage, stored: Date, isLossless: Bool = false) -> CachedData? {
    // The stored forms keep neither animation nor highlights, which are brighter than white. A damaged image is not stored
    // as if it were whole.
    let container = image.container
    guard container.highRange == nil, container.gainMap == nil, container.animation == nil, container.damage == nil
    else {
      return nil
    }
    let bitmap = image.container.bitmap
    let header = Header(of: image, isLossless: isLossless)
    guard let data = data(of: bitmap, header.encoding, isLossless: isLossless) else { return nil }
    var entry = CachedData(
      data: data,
      kind: .finished,
      metadata: header.encoded,
      contentID: image.contentID,
      expires: image.validity.expires,
      stored: stored,
    )
    // Pixels are not worth a transfer: other machines have the original or its encoded images.
    entry.isMachineLocal = true
    return entry
  }

  /// Encodes pixels as a file in place of an original; a small image is encoded without loss.
  ///
  /// Blocks while it encodes. Returns `nil` if the file could not keep the colours.
  static func file(of bitmap: Bitmap) -> Data? {
    guard bitmap.colorSpace == .sRGB, bitmap.byteCount <= rawLimit else { return data(of: bitmap, .file) }
    return try? bitmap.encoded(as: .png)
  }

  /// The lossless format: WebP where an encoder exists, since it is smaller, else PNG.
  private static let losslessFormat: ImageFormat = EncoderRegistry.standard.formats.contains(.webp) ? .webp : .png

  private static func data(of bitmap: Bitmap, _ encoding: Encoding, isLossless: Bool = false) -> Data? {
    switch encoding {
    // The buffer is only read, and only within the closure.
    case .raw: return unsafe bitmap.withUnsafeBytes { unsafe Data($0) }
    case .file:
      // The encoders write sRGB.
      guard bitmap.colorSpace == .sRGB else { return nil }
      // A PNG also keeps the colours of transparent pixels, which a lossless WebP gives up.
      if isLossless { return try? bitmap.encoded(as: .png) }
      return bitmap.hasTransparency
        ? try? bitmap.encoded(as: ImageEncoding(losslessFormat, isLossless: true))
        : try? bitmap.encoded(as: ImageEncoding(.jpeg, quality: 90))
    }
  }

  /// Returns `true` if reading an entry only copies its pixels.
  static func isQuicklyRead(_ entry: CachedData) -> Bool {
    entry.data.count <= rawLimit && Header.isRaw(entry.metadata)
  }

  /// Decodes an entry made by ``entry(of:stored:)``; returns `nil` for any other entry.
  ///
  /// Copies the pixels; decoding a large image takes milliseconds.
  static func image(of entry: CachedData) -> LoadedImage? {
    guard entry.kind == .finished, let header = Header(encoded: entry.metadata),
      let bitmap = bitmap(of: entry.data, header)
    else { return nil }
    var container = ImageContainer(bitmap, info: header.info)
    container.subjects = header.subjects
    return LoadedImage(
      container,
      entry.contentID,
      header.validity(until: entry.expires),
      status: header.status,
      byteCount: header.byteCount,
      header.parameters,
      isLossy: header.isLossy,
    )
  }

  private static func bitmap(of data: Data, _ header: Header) -> Bitmap? {
    switch header.encoding {
    case .raw:
      guard data.count == 4 * header.width * header.height else { return nil }
      return unsafe Bitmap(
        width: header.width,
        height: header.height,
        alpha: header.alpha,
        colorSpace: header.colorSpace,
        // The guard above ensures that there are as many bytes as pixels need.
        fill: { pixels in unsafe data.withUnsafeBytes { unsafe pixels.copyMemory(from: $0) } },
      )
    case .file:
      guard let decoded = try? DecoderRegistry.standard.decode(data).bitmap,
        decoded.width == header.width, decoded.height == header.height
      else { return nil }
      return decoded
    }
  }
}
