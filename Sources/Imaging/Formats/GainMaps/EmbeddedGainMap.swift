import VitrineRuntime

/// A gain map in the file of its picture, not decoded yet: a file of its own within it.
struct EmbeddedGainMap {
  /// The file of the map, without a colour profile, since stored gains are no colours.
  let data: Data
  /// The numbers of ISO 21496-1, into which older forms are translated.
  let formula: GainMapFormula
  /// The stored gain of ISO 21496-1 for each byte of the file; `nil` if they are the same.
  private(set) var levels: [UInt8]?
  /// The orientation of the map's pixels: the picture's, unless its file says its own.
  let orientation: Orientation

  /// The most pictures of a file that are looked at.
  private static let limit = 16

  private init(_ formula: GainMapFormula, _ data: Data, _ orientation: Orientation = .up) {
    (self.formula, self.data, self.orientation) = (formula, data, orientation)
  }

  /// Finds the map of a picture; returns `nil` if there is none that makes the picture brighter.
  ///
  /// Complexity: O(bytes of headers).
  init?(_ file: ByteReader, _ info: ImageInfo) {
    switch info.format {
    case .jpeg: self.init(jpeg: file, info)
    case .avif, .heic: self.init(media: file, info)
    default: return nil
    }
    guard formula.isValid else { return nil }
  }

  // MARK: AVIF and HEIC

  /// Finds the map with which a derived picture, `tmap`, is made of the primary one.
  ///
  /// ISO/IEC 23008-12, 6.6.2.4.
  private init?(media file: ByteReader, _ info: ImageInfo) {
    guard let items = ISOMediaItems(file) else { return nil }
    let derived = items.references.filter { $0.type == "dimg" && items.types[$0.from] == "tmap" }
    for reference in derived.prefix(Self.limit) {
      let parts = reference.to
      guard parts.count == 2, parts[0] == items.primary.id, parts[1] != reference.from, parts[1] != parts[0],
        let content = items.content(of: reference.from), content.byte(at: 0) == 0
      else { continue }
      let space = info.colorProfile?.gainSpace ?? .sRGB
      let alternate = items.colors(of: reference.from).lazy.compactMap(ColorSpace.init(ofGains:)).first ?? space
      guard let formula = GainMapFormula(iso: content.slice(1, content.count), base: space, alternate: alternate) else {
        continue
      }
      // The map is the primary picture of a copy of the file. Its turns are its own, as the picture's are.
      self.init(formula, items.file(withPrimary: parts[1]))
      return
    }
    self.init(apple: items)
  }

  /// Finds the auxiliary picture whose XMP says that it is a gain map.
  private init?(apple items: ISOMediaItems) {
    let exif = items.contents("Exif", describing: [items.primary.id]).first.flatMap { block in
      // The place of the byte order comes first (ISO/IEC 23008-12, A.2.1).
      block.content.bigEndian32(at: 0).map { EXIF.block(block.content.slice(4 + Int($0), block.content.count)) }
    }
    let auxiliary = items.references.filter { $0.type == "auxl" && $0.to.contains(items.primary.id) }.map(\.from)
    for description in items.contents("mime", describing: Set(auxiliary)) {
      let headroom = AppleGainMap.headroom(xmp: Data(description.content.copy()), exif: exif)
      guard let headroom, headroom > 1 else { continue }
      self.init(headroom, items.file(withPrimary: description.picture, removing: "auxl"))
      return
    }
    return nil
  }

  private init(_ appleHeadroom: Double, _ data: Data, _ orientation: Orientation = .up) {
    self.init(AppleGainMap.formula(appleHeadroom), data, orientation)
    levels = AppleGainMap.levels(appleHeadroom)
  }

  // MARK: JPEG

  private init?(jpeg file: ByteReader, _ info: ImageInfo) {
    let space = info.colorProfile?.gainSpace ?? .sRGB
    for picture in Self.pictures(in: file) where picture.starts(with: [0xFF, 0xD8, 0xFF]) {
      var (old, new, headroom): (GainMapFormula?, GainMapFormula?, Double?)
      var hasXMP = false
      for segment in JPEGMetadata.segments(picture) {
        if segment.number == 2, segment.body.starts(with: GainMapFormula.segmentName) {
          let bytes = segment.body.slice(GainMapFormula.segmentName.count, segment.body.count)
          let profile = try? JPEGHeader(picture, metadataLimit: 1 << 20).profile
          new = GainMapFormula(iso: bytes, base: space, alternate: profile?.gainSpace ?? space)
        } else if segment.number == 1, !hasXMP, segment.body.starts(with: JPEGMetadata.xmpName) {
          hasXMP = true
          let packet = Data(segment.body.slice(JPEGMetadata.xmpName.count, segment.body.count).copy())
          old = GainMapFormula(xmp: packet)
          old?.colorSpace = space
          headroom = AppleGainMap.headroom(xmp: packet, picture: file)
        }
      }
      // The newer form comes first: its numbers are not rounded to a text.
      if let formula = new ?? old {
        self.init(formula, Self.copy(picture), info.orientation)
        return
      }
      if let headroom, headroom > 1 {
        self.init(headroom, Self.copy(picture), info.orientation)
        return
      }
    }
    return nil
  }

  /// The pictures after the first (CIPA DC-007, "Multi-Picture Format", 5.2).
  private static func pictures(in file: ByteReader) -> [ByteReader] {
    for segment in JPEGMetadata.segments(file) where segment.number == 2 && segment.body.starts(with: "MPF\0") {
      // Offsets count from the byte order.
      let start = segment.offset + 4
      guard let block = TIFFBlock(segment.body.slice(4, segment.body.count)) else { continue }
      var entries: TIFFBlock?
      block.forEachEntry(of: block.firstDirectory) { tag, value in
        if tag == 0xB002 { entries = value.block }
      }
      guard let entries else { continue }
      return (1..<limit).compactMap { index in
        guard let size = entries.read32(index * 16 + 4), let offset = entries.read32(index * 16 + 8), offset > 0 else {
          return nil
        }
        return file.slice(start + Int(offset), Int(size))
      }
    }
    return []
  }

  /// Returns the bytes of a picture without its colour profile.
  private static func copy(_ picture: ByteReader) -> Data {
    let bytes = Data(picture.copy())
    var result = Data()
    var place = bytes.startIndex
    for segment in JPEGMetadata.segments(picture)
    where segment.number == 2 && segment.body.starts(with: "ICC_PROFILE\0") {
      // With the marker and the length.
      result += bytes[place..<bytes.startIndex + segment.offset - 4]
      place = bytes.startIndex + segment.offset + segment.body.count
    }
    return result + bytes[place...]
  }
}

extension ColorProfile {
  /// The colour space for whose components the gains of a picture with the profile are.
  fileprivate var gainSpace: ColorSpace {
    guard case .matrix(let shaper) = kind, let own = shaper.matrix else { return .sRGB }
    return ColorSpace(nearestTo: SIMD3(own[0][0], own[1][0], own[2][0]))
  }
}

extension ColorSpace {
  /// The colour space with the nearest red, which is given as CIE XYZ under D50.
  fileprivate init(nearestTo red: SIMD3<Double>) {
    func distance(_ space: ColorSpace) -> Double {
      space.encoding.adaptedPrimaries.map {
        (0..<3).reduce(0) { [own = $0.matrix.columns[0]] in $0 + abs(own[$1] - red[$1]) }
      }
        ?? .infinity
    }
    self = distance(.displayP3) < distance(.sRGB) ? .displayP3 : .sRGB
  }

  /// The colour space for whose components gains are, by a property `colr` (ISO/IEC 14496-12, 12.1.5).
  fileprivate init?(ofGains property: ByteReader) {
    switch property.ascii(at: 0, count: 4) {
    case "nclx":
      guard let number = property.bigEndian16(at: 4), let space = ColorProfile.spaces[Int(number)],
        let red = space.encoding.adaptedPrimaries?.matrix.columns[0]
      else { return nil }
      self.init(nearestTo: SIMD3(red[0], red[1], red[2]))
    case "prof", "rICC": self = ColorProfile(data: Data(property.slice(4, property.count).copy())).gainSpace
    default: return nil
    }
  }
}

/// The gain maps that Apple's cameras wrote before ISO 21496-1 ("Applying Apple HDR effect to your photos", Apple).
enum AppleGainMap {
  private static let names: Set<String> = ["HDRGainMap:HDRGainMapVersion", "HDRGainMap:HDRGainMapHeadroom"]

  /// Returns the headroom of a map, as a multiple of white; `nil` if it is another picture, or the file does not say.
  ///
  /// - Parameters:
  ///   - packet: The XMP of the map.
  ///   - picture: The JPEG of the picture, whose camera's notes say it where the map does not.
  /// - Returns: The headroom.
  static func headroom(xmp packet: Data, picture: ByteReader) -> Double? {
    let block = JPEGMetadata.segments(picture).first { $0.number == 1 && EXIF.isMarked($0.body) }?.body
    return headroom(xmp: packet, exif: block.map(EXIF.block))
  }

  static func headroom(xmp packet: Data, exif: ByteReader?) -> Double? {
    guard let texts = XMP.texts(of: names, in: packet), texts["HDRGainMap:HDRGainMapVersion"] != nil else { return nil }
    if let text = texts["HDRGainMap:HDRGainMapHeadroom"]?.first, let headroom = Double(text) { return headroom }
    return exif.flatMap(headroom(notesIn:))
  }

  /// Returns the headroom by two numbers of the camera's notes.
  private static func headroom(notesIn exif: ByteReader) -> Double? {
    guard let file = TIFFBlock(exif) else { return nil }
    var directory: Int?
    file.forEachEntry(of: file.firstDirectory) { if $0 == 0x8769 { directory = $1.integer } }
    var notes: TIFFBlock?
    if let directory {
      file.forEachEntry(of: directory) { if $0 == 0x927C { notes = TIFFBlock(appleNotes: $1.block.bytes) } }
    }
    guard let notes else { return nil }
    var (brightness, gain): (Double?, Double?)
    notes.forEachEntry(of: notes.firstDirectory) { tag, value in
      if tag == 0x21 { brightness = value.number }
      if tag == 0x30 { gain = value.number }
    }
    guard let brightness, let gain else { return nil }
    let stops =
      switch (brightness < 1, gain <= 0.01) {
      case (true, true): -20 * gain + 1.8
      case (true, false): -0.101 * gain + 1.601
      case (false, true): -70 * gain + 3
      case (false, false): -0.303 * gain + 2.303
      }
    return exp2(max(stops, 0))
  }

  /// The exponent with which gains are stored again, which keeps small ones apart.
  private static let gamma = 0.5

  /// Returns the formula for ``levels(_:)``.
  static func formula(_ headroom: Double) -> GainMapFormula {
    var formula = GainMapFormula(maximum: log2(headroom))
    formula.gamma = SIMD3(repeating: gamma)
    (formula.baseOffset, formula.alternateOffset) = (SIMD3(), SIMD3())
    return formula
  }

  /// Returns the stored gain for each byte of the map, which has the curve of ITU-R BT.709 and stands for a gain of
  /// 1 to the headroom.
  static func levels(_ headroom: Double) -> [UInt8] {
    (0...255).map { byte in
      let level = Double(byte) / 255
      let light = level < 0.081 ? level / 4.5 : pow((level + 0.099) / 1.099, 1 / 0.45)
      let share = log2(1 + (headroom - 1) * light) / log2(headroom)
      return UInt8((pow(min(max(share, 0), 1), gamma) * 255).rounded())
    }
  }
}
