import VitrineRuntime

extension ImageMetadata {
  /// A field of the metadata, for people: its name in the specification, and its value.
  package struct Text: Sendable, Hashable {
    package let name: String
    package let text: String
  }

  /// The maximum number of fields of each kind, and of characters of a value.
  private static let (countLimit, lengthLimit) = (300, 600)

  /// Returns all fields of EXIF and IPTC in their order, and the properties of XMP by name, without the coordinates of the
  /// place where the picture was taken.
  ///
  /// Notes of makers, thumbnails and binary values are left out. Complexity: O(bytes).
  package var texts: [Text] {
    var all: [Text] = []
    exif?.reading { if let block = TIFFBlock($0) { all += Self.texts(block) } }
    iptc?.reading { records in
      for (name, values) in IPTC.texts(records, limit: Self.lengthLimit) {
        all.append(Text(name: "IPTC:\(name)", text: String(values.joined(separator: "; ").prefix(Self.lengthLimit))))
      }
    }
    for (name, values) in (xmp.flatMap { XMP.texts(in: $0) } ?? [:]).sorted(by: { $0.key < $1.key }) {
      // A name of an unknown namespace has that before it.
      let short = name.hasPrefix("{") ? String(name[(name.lastIndex(of: ":") ?? name.startIndex)...].dropFirst()) : name
      let hidden = ["GPS", "Thumbnails", "GImage:", "GAudio:", "GDepth:", "xmpNote:"]
      guard !values.isEmpty, !hidden.contains(where: name.contains), all.count < 2 * Self.countLimit else { continue }
      all.append(Text(name: short, text: String(values.joined(separator: "; ").prefix(Self.lengthLimit))))
    }
    return all
  }

  private static func texts(_ block: TIFFBlock) -> [Text] {
    var all: [Text] = []
    var exposure: Int?
    func add(_ tag: Int, _ value: TIFFBlock.Value) {
      if tag == 0x8769 { exposure = value.integer }
      guard let name = names[tag], all.count < countLimit, let text = text(of: value), !text.isEmpty else { return }
      all.append(Text(name: name, text: String(text.prefix(lengthLimit))))
    }
    block.forEachEntry(of: block.firstDirectory, add)
    if let exposure { block.forEachEntry(of: exposure, add) }
    return all
  }

  private static func text(of value: TIFFBlock.Value) -> String? {
    if let text = value.text {
      return text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F && $0 != "\u{FFFD}" } ? text : nil
    }
    let numbers = value.numbers(atMost: 8)
    return numbers.isEmpty ? nil : numbers.map(Self.text(of:)).joined(separator: " ")
  }

  /// Returns a number with at most four digits behind the point.
  private static func text(of number: Double) -> String {
    if let whole = Int(exactly: number) { return "\(whole)" }
    guard abs(number) < 1e9 else { return "\(number)" }
    let parts = Int((abs(number) * 10_000).rounded())
    var digits = String(10_000 + parts % 10_000).dropFirst()
    while digits.hasSuffix("0") { digits.removeLast() }
    return (number < 0 ? "-" : "") + "\(parts / 10_000)" + (digits.isEmpty ? "" : ".\(digits)")
  }

  /// The names of tags (TIFF 6.0, CIPA DC-008-2019), without places in the file, thumbnails and notes of makers.
  private static let names: [Int: String] = [
    0x00FE: "NewSubfileType", 0x0100: "ImageWidth", 0x0101: "ImageLength", 0x0102: "BitsPerSample",
    0x0103: "Compression",
    0x0106: "PhotometricInterpretation", 0x010D: "DocumentName", 0x010E: "ImageDescription", 0x010F: "Make",
    0x0110: "Model", 0x0112: "Orientation", 0x0115: "SamplesPerPixel", 0x011A: "XResolution", 0x011B: "YResolution",
    0x0128: "ResolutionUnit", 0x0131: "Software", 0x0132: "DateTime", 0x013B: "Artist", 0x013C: "HostComputer",
    0x013E: "WhitePoint", 0x013F: "PrimaryChromaticities", 0x0211: "YCbCrCoefficients", 0x0213: "YCbCrPositioning",
    0x0214: "ReferenceBlackWhite", 0x4746: "Rating", 0x8298: "Copyright", 0x829A: "ExposureTime", 0x829D: "FNumber",
    0x8822: "ExposureProgram", 0x8824: "SpectralSensitivity", 0x8827: "PhotographicSensitivity",
    0x8830: "SensitivityType", 0x8832: "RecommendedExposureIndex", 0x9000: "ExifVersion", 0x9003: "DateTimeOriginal",
    0x9004: "DateTimeDigitized", 0x9010: "OffsetTime", 0x9011: "OffsetTimeOriginal", 0x9012: "OffsetTimeDigitized",
    0x9102: "CompressedBitsPerPixel", 0x9201: "ShutterSpeedValue", 0x9202: "ApertureValue", 0x9203: "BrightnessValue",
    0x9204: "ExposureBiasValue", 0x9205: "MaxApertureValue", 0x9206: "SubjectDistance", 0x9207: "MeteringMode",
    0x9208: "LightSource", 0x9209: "Flash", 0x920A: "FocalLength", 0x9290: "SubSecTime", 0x9291: "SubSecTimeOriginal",
    0x9292: "SubSecTimeDigitized", 0xA000: "FlashpixVersion", 0xA001: "ColorSpace", 0xA002: "PixelXDimension",
    0xA003: "PixelYDimension", 0xA20E: "FocalPlaneXResolution", 0xA20F: "FocalPlaneYResolution",
    0xA210: "FocalPlaneResolutionUnit", 0xA215: "ExposureIndex", 0xA217: "SensingMethod", 0xA401: "CustomRendered",
    0xA402: "ExposureMode", 0xA403: "WhiteBalance", 0xA404: "DigitalZoomRatio", 0xA405: "FocalLengthIn35mmFilm",
    0xA406: "SceneCaptureType", 0xA407: "GainControl", 0xA408: "Contrast", 0xA409: "Saturation", 0xA40A: "Sharpness",
    0xA40C: "SubjectDistanceRange", 0xA420: "ImageUniqueID", 0xA430: "CameraOwnerName", 0xA431: "BodySerialNumber",
    0xA432: "LensSpecification", 0xA433: "LensMake", 0xA434: "LensModel", 0xA435: "LensSerialNumber",
  ]
}
