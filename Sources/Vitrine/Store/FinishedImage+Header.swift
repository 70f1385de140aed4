import VitrineHTTP
import VitrineImaging
import VitrineRuntime

extension FinishedImage {
  /// The metadata of a finished image: numbers in words of eight bytes, then lines of text.
  ///
  /// Choices are stored by name, so that the order of cases does not matter. The versions from 3 on are read: a version
  /// has as many dates of its validity as its number says, at most 5. From version 6 on, there are subjects.
  struct Header: Sendable {
    private static let version: UInt64 = 6
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
    /// The parameters; its colour space is the colour space of the pixels.
    let parameters: DecodeParameters?
    /// A Boolean value that indicates whether the pixels differ from a decode of the original.
    let isLossy: Bool
    let subjects: [SubjectRegion]
    private let validity: Validity

    init(of image: LoadedImage, isLossless: Bool = false) {
      let bitmap = image.container.bitmap
      encoding = bitmap.byteCount <= rawLimit ? .raw : .file
      isLossy = image.isLossy || encoding == .file && !isLossless
      (width, height, subjects) = (bitmap.width, bitmap.height, image.container.subjects)
      (alpha, colorSpace, info) = (bitmap.alpha, bitmap.colorSpace, image.info)
      (status, byteCount, parameters, validity) = (image.status, image.byteCount, image.parameters, image.validity)
    }

    func validity(until expires: Date?) -> Validity { validity.ending(at: expires) }

    // MARK: Encoding

    var encoded: Data {
      var flags: UInt64 = 0
      if info.hasAlpha { flags |= 1 }
      if info.isVector { flags |= 2 }
      if let parameters { flags |= parameters.isWhole ? 12 : 4 }
      if parameters?.usesLinearLight == true { flags |= 16 }
      flags |= isLossy ? 32 : 64
      if validity.isPrivate { flags |= 128 }
      let alphaIndex = Self.alphas.firstIndex(of: alpha) ?? 0
      var head = HeadWriter(capacity: 320)
      head.append(Self.version)
      head.append(encoding.rawValue)
      for number in [width, height, alphaIndex, info.storedWidth, info.storedHeight, info.orientation.rawValue] {
        head.append(count: number)
      }
      head.append(flags)
      head.append(count: info.bitsPerComponent)
      head.append(count: info.frameCount)
      head.append(seconds: info.duration)
      for number in [info.loopCount, status ?? 0, byteCount] { head.append(count: number) }
      head.append(datesOf: validity)
      let parameters = parameters.map { "\($0.frame) \($0.quality.rawValue) \($0.filter.rawValue)" }
      let lines = [colorSpace.rawValue, info.colorModel.rawValue, parameters ?? "", subjects.line]
      head.append(info.format, lines, validity)
      return head.data
    }

    /// Decodes ``encoded``, also of earlier versions; returns `nil` for any other data.
    init?(encoded: Data) {
      guard var head = HeadReader(encoded), let version = head.uint64(), (3...Self.version).contains(version),
        let encoding = head.uint64().flatMap({ Encoding(rawValue: $0) }), let width = head.count(),
        let height = head.count(), let alpha = head.count(), Self.alphas.indices.contains(alpha),
        [width, height].allSatisfy({ (1..<1 << 20).contains($0) }), let storedWidth = head.count(),
        let storedHeight = head.count(), max(storedWidth, storedHeight) < 1 << 31,
        let orientation = head.count().flatMap({ Orientation(rawValue: $0) }), let flags = head.uint64(),
        let bitsPerComponent = head.count(), let frameCount = head.count(), let duration = head.seconds(),
        let loopCount = head.count(), let status = head.count(), let byteCount = head.count(),
        // Before version 5 privacy was not stored, so those images count as private.
        var validity = head.validity(dateCount: min(Int(version), 5), isPrivate: flags & 128 != 0 || version < 5),
        let (format, lines, variation) = head.text(lineCount: version < 6 ? 3 : 4),
        let colorSpace = ColorSpace(rawValue: lines[0]), let colorModel = ColorModel(rawValue: lines[1]),
        let subjects = version < 6 ? [] : [SubjectRegion](line: lines[3])
      else { return nil }
      if flags & 4 == 0 {
        parameters = nil
      } else {
        guard let stored = DecodeParameters(stored: lines[2], flags, colorSpace) else { return nil }
        parameters = stored
      }
      var info = ImageInfo(
        format: format,
        storedWidth: storedWidth,
        storedHeight: storedHeight,
        orientation: orientation,
      )
      (info.hasAlpha, info.isVector) = (flags & 1 != 0, flags & 2 != 0)
      (info.bitsPerComponent, info.frameCount, info.loopCount) = (bitsPerComponent, frameCount, loopCount)
      (info.duration, info.colorModel) = (duration, colorModel)
      validity.variation = variation
      (self.encoding, self.width, self.height, self.alpha) = (encoding, width, height, Self.alphas[alpha])
      self.subjects = subjects
      (self.colorSpace, self.info, self.validity) = (colorSpace, info, validity)
      // Earlier versions set neither flag.
      isLossy = flags & 32 != 0 || encoding == .file && flags & 64 == 0
      (self.status, self.byteCount) = (status == 0 ? nil : status, byteCount)
    }

    /// Returns `true` if the pixels are stored uncompressed; reads no more of a head than that.
    static func isRaw(_ encoded: Data) -> Bool {
      encoded.count >= 16 && encoded[encoded.startIndex + 8] == UInt8(Encoding.raw.rawValue)
    }
  }
}

extension DecodeParameters {
  /// Decodes the line and the flags of a parameters, or returns `nil` if they are damaged.
  fileprivate init?(stored line: String, _ flags: UInt64, _ colorSpace: ColorSpace) {
    let parts = line.split(separator: " ").map(String.init)
    guard parts.count == 3, let frame = Int(parts[0]), let quality = DecodeQuality(rawValue: parts[1]),
      let filter = ResamplingFilter(rawValue: parts[2])
    else { return nil }
    self.init(
      frame: frame,
      quality: quality,
      isWhole: flags & 8 != 0,
      filter: filter,
      usesLinearLight: flags & 16 != 0,
      colorSpace: colorSpace,
    )
  }
}
