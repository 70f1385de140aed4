extension JPEGDecoder {
  /// Opens a file with ImageIO at the requested scale.
  static func openSystem(
    _ bytes: UnsafeRawBufferPointer,
    _ request: RowRequest,
    eighths: Int,
  ) throws(ImageError) -> any RowSource {
    if !request.info.streamsRows { try checkScans(unsafe ByteReader(bytes), request) }
    let (width, height) = (request.info.storedWidth, request.info.storedHeight)
    guard unsafe !JPEGHeader.isWhole(ByteReader(bytes)) else {
      return try unsafe ImageIORows.open(bytes, request, width: width, height: height)
    }
    // ImageIO fills what is missing with gray and says nothing.
    let present = unsafe presentRows(bytes, request)
    let isWhole = present == height
    return try unsafe ImageIORows.open(
      bytes,
      request,
      width: width,
      height: height,
      present: isWhole ? nil : present,
      damage: isWhole
        ? nil : ImageError(.truncated, format: .jpeg, "truncated: the file ends before the end of its last scan"),
    )
  }

  /// Counts the stored rows of a file that has no end, with our own decoder at an eighth of the size.
  ///
  /// Returns `nil` for files that it cannot decode, and for progressive ones, whose rows are all there, if coarse.
  private static func presentRows(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) -> Int? {
    // With an end the last rows can be told from missing ones.
    let whole = unsafe Array(bytes) + [0xFF, 0xD9]
    return unsafe whole.withUnsafeBytes { unsafe presentRows(ofEnded: $0, request) }
  }

  private static func presentRows(ofEnded bytes: UnsafeRawBufferPointer, _ request: RowRequest) -> Int? {
    let info = request.info
    guard let script = unsafe JPEGScript(ByteReader(bytes)), script.showsPicture, !script.frame.isProgressive,
      script.frame.width == info.storedWidth, script.frame.height == info.storedHeight
    else { return nil }
    // `bytes` outlives the rows, which end with this function.
    let rows = ReducedRows(unsafe Elements(bytes), script, request.ofWhole) { () throws(ImageError) in
      throw ImageError(.truncated, format: .jpeg, "truncated: the file ends before the end of its last scan")
    }
    var line = [UInt8](repeating: 0, count: 4 * rows.width)
    var count = 0
    while count < rows.height {
      let got = unsafe line.withUnsafeMutableBytes { line in
        unsafe (try? rows.read(into: line, bytesPerRow: 4 * rows.width, count: 1)) ?? 0
      }
      guard got > 0 else { break }
      count += got
    }
    // The colours of the last two rows are interpolated with missing ones.
    return count == rows.height ? info.storedHeight : max(0, 8 * count - 2)
  }

  /// Opens a file at a number of eighths of its size, in stored orientation, for a decoder that has found damage.
  static func resumeSystem(
    _ bytes: UnsafeRawBufferPointer,
    _ request: RowRequest,
    eighths: Int,
  ) throws(ImageError) -> any RowSource {
    let isWhole = unsafe JPEGHeader.isWhole(ByteReader(bytes))
    guard isWhole, let image = unsafe ImageIOSource(bytes)?.image(at: 0, dividedBy: 8 / eighths) else {
      throw isWhole
        ? ImageIORows.undecodable(.jpeg)
        : ImageError(.truncated, format: .jpeg, "truncated: the file ends before the end of its last scan")
    }
    let size = ((request.info.storedWidth * eighths + 7) / 8, (request.info.storedHeight * eighths + 7) / 8)
    return ImageIORows.rows(of: image, request.colorSpace, isUpright: false, size: size)
  }

  /// Opens the prefix of a file that is still loading with ImageIO.
  ///
  /// ImageIO does not tell how many rows it has; our own decoder counts them.
  static func openSystemPrefix(
    _ bytes: UnsafeRawBufferPointer,
    _ request: RowRequest,
    eighths: Int,
  ) throws(ImageError) -> any RowSource {
    let lack = ImageError(.truncated, format: .jpeg, "truncated: the rest of the file has not arrived")
    let info = request.info
    let present = unsafe info.streamsRows ? presentRows(bytes, request) : nil
    guard !info.streamsRows || present ?? 0 > 0 else { throw lack }
    return try ImageIORows.open(
      unsafe ImageIOSource(prefix: bytes),
      request,
      at: 0,
      width: info.storedWidth,
      height: info.storedHeight,
      present: present,
      damage: lack,
    )
  }
}

extension JPEGHeader {
  /// Returns `true` if the marker that ends an image follows its last scan.
  ///
  /// Complexity: O(bytes).
  static func isWhole(_ bytes: ByteReader) -> Bool {
    var (offset, isInScan) = (2, false)
    while let found = bytes.firstOffset(of: 0xFF, from: offset), let marker = bytes.byte(at: found + 1) {
      offset = found + 1
      switch marker {
      case 0xD9: return isInScan
      case 0, 1, 0xD0...0xD8: offset += 1
      case 0xFF: break
      default:
        isInScan = isInScan || marker == 0xDA
        offset += 1 + Int(bytes.bigEndian16(at: offset + 1) ?? 0)
      }
    }
    return false
  }
}
