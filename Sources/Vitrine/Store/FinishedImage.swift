import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime

/// An image as it is shown, in the form in which a cache of bytes keeps it.
///
/// Up to 512 KB it is the pixels as they are, since reading those costs less than decoding anything. What is larger is a
/// JPEG of quality 90 or, where something shines through, a lossless WebP. What it was made of, and for how long that may
/// be served, is in the metadata (``Header``); an embedded profile of the original is not kept.
enum FinishedImage {
  enum Encoding: UInt64 { case raw = 0, file = 1 }

  static let rawLimit = 512 << 10

  /// Makes the entry of an image; `nil` if it cannot be kept without loss of what matters.
  ///
  /// Blocks for as long as a large image needs to be encoded.
  static func entry(of image: LoadedImage, stored: Date) -> CachedData? {
    let bitmap = image.container.bitmap
    let header = Header(of: image)
    guard let data = data(of: bitmap, header.encoding) else { return nil }
    return CachedData(
      data: data,
      kind: .finished,
      metadata: header.encoded,
      contentID: image.contentID,
      expires: image.validity.expires,
      stored: stored,
    )
  }

  private static func data(of bitmap: Bitmap, _ encoding: Encoding) -> Data? {
    switch encoding {
    // Only read while the closure runs.
    case .raw: return unsafe bitmap.withUnsafeBytes { unsafe Data($0) }
    case .file:
      // The encoders write sRGB.
      guard bitmap.colorSpace == .sRGB else { return nil }
      return bitmap.hasTransparency
        ? try? bitmap.encoded(as: .webp, EncodeOptions(isLossless: true))
        : try? bitmap.encoded(as: .jpeg, EncodeOptions(quality: 90))
    }
  }

  /// Whether reading an entry is no more than copying its pixels.
  static func isQuicklyRead(_ entry: CachedData) -> Bool {
    entry.data.count <= rawLimit && Header.isRaw(entry.metadata)
  }

  /// Reads what ``entry(of:stored:)`` made; `nil` for anything else.
  ///
  /// Copies the pixels; a large image is decoded, which takes milliseconds.
  static func image(of entry: CachedData) -> LoadedImage? {
    guard entry.kind == .finished, let header = Header(encoded: entry.metadata),
      let bitmap = bitmap(of: entry.data, header)
    else { return nil }
    return LoadedImage(
      ImageContainer(bitmap, info: header.info),
      entry.contentID,
      header.validity(until: entry.expires),
      status: header.status,
      byteCount: header.byteCount,
      header.rendition,
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
        // As many bytes as there are pixels, by the line above.
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
