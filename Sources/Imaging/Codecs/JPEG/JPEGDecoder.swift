import VitrineRuntime

/// Decodes JPEG.
///
/// At an eighth of the size, and for progressive files at a quarter, it uses a decoder of its own, which skips what that
/// scale does not need. Otherwise it uses the system's: libjpeg-turbo, which downsamples to 1/2, 1/4 or 1/8 in the inverse transform, or ImageIO on
/// Apple's platforms.
public struct JPEGDecoder: ImageDecoder, VitrineDecoder, PrefixDecoding {
  /// The minimum number of stored pixels at which the tables of our own decoder pay off.
  private let ownDecoderMinimum: Int

  /// Makes the decoder.
  public init() {
    self.init(ownDecoderMinimum: Self.ownDecoderMinimum)
  }

  /// Below 0.1 megapixels the system's decoder finishes before the tables are built.
  static let ownDecoderMinimum = 100_000

  /// Makes a decoder that leaves images of fewer stored pixels to the system's at every scale.
  package init(ownDecoderMinimum: Int) { self.ownDecoderMinimum = ownDecoderMinimum }

  /// JPEG.
  public let formats: [ImageFormat] = [.jpeg]

  /// Reads the marker segments up to the first scan.
  public func info(
    of bytes: UnsafeRawBufferPointer,
    format: ImageFormat,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo? {
    let header = try unsafe JPEGHeader(ByteReader(bytes), metadataLimit: limits.metadataByteCount)
    var info = ImageInfo(
      format: .jpeg,
      storedWidth: header.width,
      storedHeight: header.height,
      orientation: header.orientation,
    )
    info.bitsPerComponent = header.precision
    info.colorProfile = header.profile
    info.colorModel = header.components == 1 ? .gray : header.components == 4 ? .cmyk : .rgb
    info.streamsRows = header.isOneScan
    // libjpeg holds every coefficient of a file of several scans, two bytes each.
    info.workingByteCount = header.isOneScan ? 0 : 2 * header.coefficientCount
    return info
  }

  package func memory(for bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> DecodeMemory {
    var memory = DecodeMemory(request.info)
    let eighths = Self.eighths(request.minimumScale)
    // Decoders of JPEG make a smaller picture without the whole one.
    let (width, height) = (request.info.storedWidth * eighths / 8, request.info.storedHeight * eighths / 8)
    let system = PlatformCodecs.memory(width: width, height: height, scale: 1)
    (memory.codec, memory.rows) = (memory.codec.addingSaturating(system.codec), system.rows)
    return memory
  }

  /// Opens the smallest of the scales 1/8, 2/8, 4/8, 8/8 that satisfies the request.
  ///
  /// libjpeg's other scales are slower than the next larger one of these.
  public func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    guard request.frame == 0 else { throw .noSuchFrame(request.frame, of: request.info) }
    try unsafe JPEGHeader(ByteReader(bytes), metadataLimit: 0).checkSupport()
    if let script = lightScript(unsafe ByteReader(bytes), request) {
      return ReducedRows(unsafe Elements(bytes), script, request, averagesLight: true) { () throws(ImageError) in
        try unsafe Self.resumeSystem(bytes, request.ofWhole, eighths: 1)
      }
    }
    let eighths = Self.eighths(request.minimumScale)
    if let script = reducedScript(unsafe ByteReader(bytes), request, eighths) {
      if eighths > 1 { try Self.checkScans(unsafe ByteReader(bytes), request) }
      return ReducedRows(unsafe Elements(bytes), script, request) { () throws(ImageError) in
        // The system's decoder takes over in the middle of the picture, whose rows are whole.
        try unsafe Self.resumeSystem(bytes, request.ofWhole, eighths: eighths)
      }
    }
    return try unsafe Self.openSystem(bytes, request, eighths: eighths)
  }

  /// Returns the script of a file that our own decoder decodes at a scale.
  private func reducedScript(_ bytes: ByteReader, _ request: RowRequest, _ eighths: Int) -> JPEGScript? {
    guard request.info.storedWidth * request.info.storedHeight >= ownDecoderMinimum else { return nil }
    switch eighths {
    case 1: return script(bytes, request).flatMap { $0.isComplete || !$0.frame.isProgressive ? $0 : nil }
    // The system's decoder can leave out what is not in the region.
    case 2: return request.info.streamsRows || request.region != nil ? nil : script(bytes, request)?.atQuarter()
    default: return nil
    }
  }

  /// Returns the script of a file of which our own decoder makes means of linear light, at an eighth.
  private func lightScript(_ bytes: ByteReader, _ request: RowRequest) -> JPEGScript? {
    guard request.lightScale <= 1 / 8, request.info.storedWidth * request.info.storedHeight >= ownDecoderMinimum,
      let script = script(bytes, request), !script.frame.isProgressive, script.color != .rgb,
      script.frame.components[0].cellColumns * script.frame.components[0].cellRows == 1
    else { return nil }
    return script
  }

  /// The smallest scale, in eighths, that is at least `scale`.
  private static func eighths(_ scale: Double) -> Int { [1, 2, 4].first { Double($0) / 8 >= scale } ?? 8 }

  /// Opens a progressive file that is still loading, at an eighth: the scans that are complete.
  ///
  /// It costs a fraction of decoding the file and is called again as scans arrive; the last call is ``open(_:_:)``.
  ///
  /// - Parameters:
  ///   - bytes: The file's first bytes. They must outlive the rows.
  ///   - request: A request made from ``info(of:format:limits:)`` of these bytes; its scale is ignored.
  /// - Returns: The rows, whose `damage` is `.truncated` unless the file is whole, and the number of scans they show.
  ///   `nil` while a component is missing, and for files that are not progressive or left to the system's decoder.
  package func openPreview(
    _ bytes: UnsafeRawBufferPointer,
    _ request: RowRequest,
  ) -> (rows: any RowSource, scans: Int)? {
    guard let script = script(unsafe ByteReader(bytes), request), script.frame.isProgressive, script.showsPicture else {
      return nil
    }
    let count = script.scans.count
    let lack = ImageError(.truncated, format: .jpeg, "truncated: only \(count) scans have arrived")
    let rows = ReducedRows(unsafe Elements(bytes), script, request, incompleteness: script.isComplete ? nil : lack) {
      () throws(ImageError) in
      throw ImageError(.corrupt, format: .jpeg, "corrupt: one of the first \(count) scans")
    }
    return (rows, count)
  }

  /// Opens the prefix of a file that is still loading.
  ///
  /// While only the means of the blocks have arrived, an eighth of the size shows all of them. For larger sizes the
  /// system's decoder is used; libjpeg smooths over what is missing.
  package func openPrefix(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> any RowSource {
    let eighths = Self.eighths(request.minimumScale)
    if request.info.storedWidth * request.info.storedHeight >= ownDecoderMinimum,
      let script = script(unsafe ByteReader(bytes), request)
    {
      if script.frame.isProgressive, eighths == 1 || script.scans.allSatisfy(\.isOfDC),
        let preview = unsafe openPreview(bytes, request)
      {
        return preview.rows
      }
      if !script.frame.isProgressive, eighths == 1 {
        return ReducedRows(unsafe Elements(bytes), script, request) { () throws(ImageError) in
          throw ImageError(.truncated, format: .jpeg, "truncated: the rest of the file has not arrived")
        }
      }
    }
    return try unsafe Self.openSystemPrefix(bytes, request, eighths: eighths)
  }

  /// Returns `nil` if the file is left to the system's decoder.
  private func script(_ bytes: ByteReader, _ request: RowRequest) -> JPEGScript? {
    guard let script = JPEGScript(bytes), script.frame.width == request.info.storedWidth,
      script.frame.height == request.info.storedHeight, script.showsPicture
    else { return nil }
    return script
  }

  /// Checks the scans against the limits: each visits every block, even if its few bytes say that nothing changes.
  static func checkScans(_ bytes: ByteReader, _ request: RowRequest) throws(ImageError) {
    // Tables and markers cost as much as a small picture.
    let pixelsPerScan = max(1_000_000, request.info.storedWidth * request.info.storedHeight)
    var (offset, scans) = (0, 0)
    while let found = bytes.firstOffset(of: 0xFF, from: offset) {
      offset = found + 1
      // Inside a scan's data these two bytes never follow one another.
      if bytes.byte(at: offset) == 0xDA { scans += 1 }
    }
    try request.limits.check(composed: scans * pixelsPerScan, format: .jpeg)
  }
}
