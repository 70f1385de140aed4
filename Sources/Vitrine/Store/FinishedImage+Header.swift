import VitrineHTTP
import VitrineImaging
import VitrineRuntime

extension FinishedImage {
  /// The metadata of a finished image: numbers in little-endian words of eight bytes, then lines of text.
  ///
  /// Choices are stored by name, so that the order of cases does not matter.
  struct Header: Sendable {
    private static let version: UInt64 = 5
    private static let wordCount = 20
    /// The number of words of each earlier version; every version has added one.
    private static let olderWordCounts: [UInt64: Int] = [4: 19, 3: 18]
    private static let lineCount = 6
    /// The alpha modes, which are stored as indices into this array.
    private static let alphas: [Bitmap.Alpha] = [.opaque, .straight, .premultiplied]

    let encoding: Encoding
    let width: Int
    let height: Int
    let alpha: Bitmap.Alpha
    let colorSpace: ColorSpace
    let info: ImageInfo
    let status: Int?
    let byteCount: Int
    /// The rendition; its colour space is the colour space of the pixels.
    let rendition: Rendition?
    /// A Boolean value that indicates whether the pixels differ from a decode of the original.
    let isApproximate: Bool
    private let validity: Validity

    init(of image: LoadedImage, isLossless: Bool = false) {
      let bitmap = image.container.bitmap
      encoding = bitmap.byteCount <= rawLimit ? .raw : .file
      isApproximate = image.isApproximate || encoding == .file && !isLossless
      (width, height) = (bitmap.width, bitmap.height)
      (alpha, colorSpace, info) = (bitmap.alpha, bitmap.colorSpace, image.info)
      (status, byteCount, rendition, validity) = (image.status, image.byteCount, image.rendition, image.validity)
    }

    /// Returns the validity with this end of freshness, which the cache stores and may renew.
    func validity(until expires: Date?) -> Validity {
      var validity = validity
      validity.expires = expires
      return validity
    }

    // MARK: Encoding

    var encoded: Data {
      var flags: UInt64 = 0
      if info.hasAlpha { flags |= 1 }
      if info.isVector { flags |= 2 }
      if let rendition { flags |= rendition.isWhole ? 12 : 4 }
      if rendition?.usesLinearLight == true { flags |= 16 }
      flags |= isApproximate ? 32 : 64
      if validity.isPrivate { flags |= 128 }
      func word(_ number: Int) -> UInt64 { UInt64(max(0, number)) }
      func word(_ date: Date?) -> UInt64 { (date?.timeIntervalSince1970 ?? .nan).bitPattern }
      let words: [UInt64] = [
        Self.version, encoding.rawValue, word(width), word(height),
        word(Self.alphas.firstIndex(of: alpha) ?? 0), word(info.storedWidth),
        word(info.storedHeight), word(info.orientation.rawValue), flags, word(info.bitsPerComponent),
        word(info.frameCount), info.duration.bitPattern, word(info.loopCount), word(status ?? 0), word(byteCount),
        word(validity.confirmed), word(validity.usableOnErrorUntil), word(validity.usableWhileRevalidatingUntil),
        word(validity.usableOnServerErrorUntil), word(validity.modified),
      ]
      // No field can contain a line break.
      let lines =
        [
          info.format.name, info.format.mediaType, info.format.fileExtension, colorSpace.rawValue,
          info.colorModel.rawValue,
          rendition.map { "\($0.frame) \($0.quality.rawValue) \($0.filter.rawValue)" } ?? "",
        ] + validity.variation.map { "\($0.name):\($0.value)" }
      let text = lines.joined(separator: "\n")
      var bytes = Data(capacity: Self.wordCount * 8 + text.utf8.count)
      for word in words { for place in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: word >> (8 * place))) } }
      bytes.append(contentsOf: text.utf8)
      return bytes
    }

    /// Decodes ``encoded``, also of the versions in `olderWordCounts`; returns `nil` for any other data.
    init?(encoded: Data) {
      let bytes = [UInt8](encoded)
      guard bytes.count >= Self.wordCount * 8 else { return nil }
      let version = Self.word(0, bytes)
      guard let wordCount = version == Self.version ? Self.wordCount : Self.olderWordCounts[version],
        let encoding = Encoding(rawValue: Self.word(1, bytes)),
        let lines = String(validating: bytes[(wordCount * 8)...], as: UTF8.self)?
          .split(separator: "\n", omittingEmptySubsequences: false).map(String.init), lines.count >= Self.lineCount,
        let colorSpace = ColorSpace(rawValue: lines[3]), let colorModel = ColorModel(rawValue: lines[4])
      else { return nil }
      func int(_ index: Int) -> Int { Int(clamping: Self.word(index, bytes)) }
      func date(_ index: Int) -> Date? {
        let seconds = Double(bitPattern: Self.word(index, bytes))
        return seconds.isNaN ? nil : Date(timeIntervalSince1970: seconds)
      }
      guard [2, 3].allSatisfy({ (1..<1 << 20).contains(int($0)) }), [5, 6].allSatisfy({ int($0) < 1 << 31 }),
        Self.alphas.indices.contains(int(4)), let orientation = Orientation(rawValue: int(7))
      else { return nil }
      var info = ImageInfo(
        format: ImageFormat(name: lines[0], mediaType: lines[1], fileExtension: lines[2]),
        storedWidth: int(5),
        storedHeight: int(6),
        orientation: orientation,
      )
      let flags = Self.word(8, bytes)
      (info.hasAlpha, info.isVector) = (flags & 1 != 0, flags & 2 != 0)
      (info.bitsPerComponent, info.frameCount, info.loopCount) = (int(9), int(10), int(12))
      (info.duration, info.colorModel) = (Double(bitPattern: Self.word(11, bytes)), colorModel)
      if flags & 4 == 0 {
        rendition = nil
      } else {
        let parts = lines[5].split(separator: " ").map(String.init)
        guard parts.count == 3, let frame = Int(parts[0]), let quality = DecodeQuality(rawValue: parts[1]),
          let filter = ResamplingFilter(rawValue: parts[2])
        else { return nil }
        rendition = Rendition(
          frame: frame,
          quality: quality,
          isWhole: flags & 8 != 0,
          filter: filter,
          usesLinearLight: flags & 16 != 0,
          colorSpace: colorSpace,
        )
      }
      var variation = HTTPFields()
      for line in lines[Self.lineCount...] {
        guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        variation.append(name: String(line[..<colon]), value: String(line[line.utf8.index(after: colon)...]))
      }
      (self.encoding, width, height, self.alpha) = (encoding, int(2), int(3), Self.alphas[int(4)])
      (self.colorSpace, self.info) = (colorSpace, info)
      // Earlier versions set neither flag.
      isApproximate = flags & 32 != 0 || encoding == .file && flags & 64 == 0
      (status, byteCount) = (int(13) == 0 ? nil : int(13), int(14))
      validity = Validity(
        expires: nil,
        confirmed: date(15),
        usableOnErrorUntil: date(16),
        usableOnServerErrorUntil: wordCount > 18 ? date(18) : nil,
        usableWhileRevalidatingUntil: date(17),
        variation: variation,
        isKept: true,
        // Earlier versions did not store this, so their images count as private.
        isPrivate: flags & 128 != 0 || wordCount < 20,
        modified: wordCount > 19 ? date(19) : nil,
      )
    }

    /// Returns `true` if the pixels are stored uncompressed.
    static func isRaw(_ encoded: Data) -> Bool {
      encoded.count >= wordCount * 8 && encoded[encoded.startIndex + 8] == UInt8(Encoding.raw.rawValue)
    }

    private static func word(_ index: Int, _ bytes: [UInt8]) -> UInt64 {
      bytes[index * 8..<index * 8 + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
  }
}
