import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime

/// An image as it is shown, in the form in which a cache of bytes keeps it.
///
/// Up to 512 KB it is the pixels as they are, since reading those costs less than decoding anything. What is larger is a
/// JPEG of quality 90 or, where something shines through, a lossless WebP. What it was made of, and for how long that may
/// be served, is in the metadata; an embedded profile of the original is not kept.
enum FinishedImage {
  private enum Encoding: UInt64 { case raw = 0, file = 1 }

  private static let version: UInt64 = 2
  private static let rawLimit = 512 << 10
  private static let wordCount = 24

  /// Makes the entry of an image; `nil` if it cannot be kept without loss of what matters.
  ///
  /// Blocks for as long as a large image needs to be encoded.
  static func entry(of image: CachedImage, stored: Date) -> CachedData? {
    let bitmap = image.image
    let encoding: Encoding = bitmap.byteCount <= rawLimit ? .raw : .file
    guard let data = data(of: bitmap, encoding) else { return nil }
    return CachedData(
      data: data,
      kind: .finished,
      metadata: metadata(of: image, encoding),
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

  private static func word(_ date: Date?) -> UInt64 { (date?.timeIntervalSince1970 ?? .nan).bitPattern }

  private static func date(_ word: UInt64) -> Date? {
    let seconds = Double(bitPattern: word)
    return seconds.isNaN ? nil : Date(timeIntervalSince1970: seconds)
  }

  static func metadata(of image: CachedImage) -> Data {
    metadata(of: image, image.image.byteCount <= rawLimit ? .raw : .file)
  }

  private static func metadata(of image: CachedImage, _ encoding: Encoding) -> Data {
    let (bitmap, response, info, validity) = (image.image, image.response, image.response.info, image.validity)
    var flags: UInt64 = 0
    if info.hasAlpha { flags |= 1 }
    if info.isVector { flags |= 2 }
    if let rendition = image.rendition { flags |= rendition.isWhole ? 12 : 4 }
    let words: [UInt64] = [
      version, encoding.rawValue, UInt64(bitmap.width), UInt64(bitmap.height), bitmap.alpha.word,
      bitmap.colorSpace == .displayP3 ? 1 : 0, UInt64(info.storedWidth), UInt64(info.storedHeight),
      UInt64(info.orientation.rawValue), flags, UInt64(max(0, info.bitsPerComponent)), UInt64(max(0, info.frameCount)),
      info.duration.bitPattern, UInt64(max(0, info.loopCount)), UInt64(max(0, response.status ?? 0)),
      UInt64(max(0, response.byteCount)), word(validity.confirmed), word(validity.usableOnErrorUntil),
      word(validity.usableWhileRevalidatingUntil), UInt64(max(0, image.rendition?.frame ?? 0)),
      UInt64(DecodeQuality.allCases.firstIndex { $0 == image.rendition?.quality } ?? 0),
      UInt64(ColorModel.allCases.firstIndex(of: info.colorModel) ?? 0),
      UInt64(ResamplingFilter.allCases.firstIndex { $0 == image.rendition?.filter } ?? 0),
      image.rendition?.linearLight == true ? 1 : 0,
    ]
    var bytes: [UInt8] = []
    bytes.reserveCapacity(words.count * 8 + 16)
    for word in words { bytes += (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
    // No field can hold a line end.
    let lines =
      [info.format.name, info.format.mediaType, info.format.fileExtension]
      + validity.variation.map { "\($0.name):\($0.value)" }
    bytes += lines.joined(separator: "\n").utf8
    return Data(bytes)
  }

  /// Reads what ``entry(of:stored:)`` made; `nil` for anything else.
  ///
  /// Copies the pixels; a large image is decoded, which takes milliseconds.
  static func image(of entry: CachedData) -> CachedImage? {
    let bytes = [UInt8](entry.metadata)
    guard entry.kind == .finished, bytes.count >= wordCount * 8 else { return nil }
    let words = (0..<wordCount).map { index -> UInt64 in
      var word: UInt64 = 0
      for byte in bytes[index * 8..<index * 8 + 8].reversed() { word = word << 8 | UInt64(byte) }
      return word
    }
    guard words[0] == version, let encoding = Encoding(rawValue: words[1]),
      let lines = String(validating: bytes[(wordCount * 8)...], as: UTF8.self)?
        .split(separator: "\n", omittingEmptySubsequences: false).map(String.init), lines.count >= 3,
      words[2...3].allSatisfy({ (1..<1 << 20).contains($0) }), words[6...7].allSatisfy({ $0 < 1 << 31 }),
      let alpha = Bitmap.Alpha(word: words[4]), words[8] <= 8,
      let orientation = Orientation(rawValue: Int(words[8])), words[20] < DecodeQuality.allCases.count,
      words[21] < ColorModel.allCases.count, words[22] < ResamplingFilter.allCases.count
    else { return nil }
    let shape = (width: Int(words[2]), height: Int(words[3]), alpha: alpha, isWide: words[5] == 1)
    guard let bitmap = bitmap(of: entry.data, encoding, shape) else { return nil }

    let format = ImageFormat(name: lines[0], mediaType: lines[1], fileExtension: lines[2])
    var info = ImageInfo(
      format: format,
      storedWidth: Int(words[6]),
      storedHeight: Int(words[7]),
      orientation: orientation,
    )
    info.hasAlpha = words[9] & 1 != 0
    info.isVector = words[9] & 2 != 0
    info.bitsPerComponent = Int(clamping: words[10])
    info.frameCount = Int(clamping: words[11])
    info.duration = Double(bitPattern: words[12])
    info.loopCount = Int(clamping: words[13])
    info.colorModel = ColorModel.allCases[Int(words[21])]
    var variation = HTTPFields()
    for line in lines[3...] {
      guard let colon = line.firstIndex(of: ":") else { return nil }
      variation.append(name: String(line[..<colon]), value: String(line[colon...].dropFirst()))
    }
    let validity = Validity(
      expires: entry.expires,
      confirmed: date(words[16]),
      usableOnErrorUntil: date(words[17]),
      usableWhileRevalidatingUntil: date(words[18]),
      variation: variation,
      isKept: true,
    )
    var rendition: Rendition? =
      words[9] & 4 == 0
      ? nil
      : Rendition(
        frame: Int(clamping: words[19]),
        quality: DecodeQuality.allCases[Int(words[20])],
        isWhole: words[9] & 8 != 0,
      )
    rendition?.filter = ResamplingFilter.allCases[Int(words[22])]
    rendition?.linearLight = words[23] == 1
    rendition?.colorSpace = bitmap.colorSpace
    let loaded = LoadedImage(
      bitmap,
      info,
      .disk,
      status: words[14] == 0 ? nil : Int(clamping: words[14]),
      byteCount: Int(clamping: words[15]),
      entry.contentID,
      validity,
      rendition,
    )
    return CachedImage(loaded)
  }

  private static func bitmap(
    of data: Data,
    _ encoding: Encoding,
    _ shape: (width: Int, height: Int, alpha: Bitmap.Alpha, isWide: Bool),
  ) -> Bitmap? {
    switch encoding {
    case .raw:
      guard data.count == 4 * shape.width * shape.height else { return nil }
      return unsafe Bitmap(
        width: shape.width,
        height: shape.height,
        alpha: shape.alpha,
        colorSpace: shape.isWide ? .displayP3 : .sRGB,
        // As many bytes as there are pixels, by the line above.
        fill: { pixels in unsafe data.withUnsafeBytes { unsafe pixels.copyMemory(from: $0) } },
      )
    case .file:
      guard let decoded = try? DecoderRegistry.standard.decode(data).bitmap,
        decoded.width == shape.width, decoded.height == shape.height
      else { return nil }
      return decoded
    }
  }
}

extension Bitmap.Alpha {
  fileprivate var word: UInt64 {
    switch self {
    case .opaque: 0
    case .straight: 1
    case .premultiplied: 2
    }
  }

  fileprivate init?(word: UInt64) {
    switch word {
    case 0: self = .opaque
    case 1: self = .straight
    case 2: self = .premultiplied
    default: return nil
    }
  }
}
