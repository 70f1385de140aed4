import CVitrineCodecs
import VitrineRuntime

extension JPEGDecoder {
  /// Opens a file with libjpeg-turbo at a number of eighths of its size.
  static func openSystem(
    _ bytes: UnsafeRawBufferPointer,
    _ request: RowRequest,
    eighths: Int,
  ) throws(ImageError) -> any RowSource {
    let bytes = unsafe ByteReader(bytes)
    if !request.info.streamsRows { try checkScans(bytes, request) }
    do throws(ImageError) {
      return try JPEGRows(bytes, request, eighths: eighths)
    } catch {
      // A progressive file may end inside the header of a scan; the scans before it can be shown.
      guard error.code == .truncated, !request.info.streamsRows, let end = lastSegment(bytes) else { throw error }
      return try JPEGRows(bytes.slice(0, end), request, eighths: eighths)
    }
  }

  /// Opens a file at a number of eighths of its size, for a decoder that has found damage.
  static func resumeSystem(
    _ bytes: UnsafeRawBufferPointer,
    _ request: RowRequest,
    eighths: Int,
  ) throws(ImageError) -> any RowSource {
    try unsafe openSystem(bytes, request, eighths: eighths)
  }

  /// Opens the prefix of a file that is still loading with libjpeg-turbo.
  static func openSystemPrefix(
    _ bytes: UnsafeRawBufferPointer,
    _ request: RowRequest,
    eighths: Int,
  ) throws(ImageError) -> any RowSource {
    let bytes = unsafe ByteReader(bytes)
    // There is too little after the last whole scan to decode.
    let end = request.info.streamsRows ? bytes.count : lastSegment(bytes) ?? bytes.count
    return try JPEGRows(bytes.slice(0, end), request, eighths: eighths, isLoading: true)
  }

  /// Returns the start of the last segment, which may be incomplete.
  private static func lastSegment(_ reader: ByteReader) -> Int? {
    (2..<max(2, reader.count - 1)).last { offset in
      guard reader.byte(at: offset) == 0xFF, let marker = reader.byte(at: offset + 1) else { return false }
      return marker != 0 && marker != 0xFF && !(0xD0...0xD7).contains(marker)
    }
  }
}

@safe
private final class JPEGRows: RowSource {
  let width: Int
  let height: Int
  let extentWidth: Double
  let extentHeight: Double
  var hasAlpha: Bool { false }
  let origin: (x: Int, y: Int)
  // libjpeg's smaller transforms drop terms that cancel in the mean over two, four or eight samples.
  var isAveraged: Bool { true }
  // Inks stay inks until few pixels are left: a profile needs them, and converting four inks to three colours is
  // slow.
  var colorModel: ColorModel { isCMYK ? .cmyk : .rgb }

  // Owned: made in init, destroyed in deinit, used by one thread at a time.
  private let reader: OpaquePointer
  private let stop: StopSignal
  private let request: RowRequest
  private let isCMYK: Bool
  private var row = 0
  private var rowsToSkip: Int
  private(set) var damage: ImageError?

  init(
    _ bytes: ByteReader,
    _ request: RowRequest,
    eighths: Int,
    isLoading: Bool = false,
  ) throws(ImageError) {
    self.request = request
    let stop = StopSignal(request.control)
    self.stop = stop
    // The reader keeps the two pointers no longer than this object lives, which keeps `stop` alive. `bytes` outlives
    // it by the contract of `ImageDecoder.open`.
    let reader = unsafe bytes.bytes.withUnsafeBufferPointer {
      unsafe vitrine_jpeg_create(
        $0.baseAddress,
        $0.count,
        StopSignal.callback,
        Unmanaged.passUnretained(stop).toOpaque(),
      )
    }
    guard let reader = unsafe reader else {
      throw ImageError(.overLimit, format: .jpeg, "not enough memory for the JPEG decoder")
    }
    unsafe self.reader = reader
    var info = vitrine_jpeg_info()
    var status = unsafe vitrine_jpeg_read_header(reader, &info)
    isCMYK = info.components == 4
    if status == VITRINE_OK {
      // All limits were checked against the header, so libjpeg must have read the same one.
      if Int(info.width) != request.info.storedWidth || Int(info.height) != request.info.storedHeight {
        unsafe vitrine_jpeg_destroy(reader)
        throw ImageError(.corrupt, format: .jpeg, "corrupt: two frame headers disagree")
      }
      let layout = isCMYK ? VITRINE_JPEG_CMYK : VITRINE_JPEG_RGBA
      status = unsafe vitrine_jpeg_start(reader, Int32(eighths), Int32(layout), isLoading ? 0 : 1, &info)
      extentWidth = Double(info.width) * Double(eighths) / 8
      extentHeight = Double(info.height) * Double(eighths) / 8
    } else {
      (extentWidth, extentHeight) = (0, 0)
    }
    var (x, y) = (UInt32(0), 0)
    var (columns, rows) = (info.out_width, Int(info.out_height))
    if status == VITRINE_OK, let region = request.region {
      let part = Self.part(region, eighths: eighths, width: Int(info.out_width), height: rows)
      (x, columns, y, rows) = (UInt32(part.x), UInt32(part.width), part.y, part.height)
      // libjpeg moves the left edge to the start of a block and keeps the right edge.
      status = unsafe vitrine_jpeg_crop(reader, &x, &columns)
    }
    origin = (Int(x), y)
    rowsToSkip = y
    width = Int(columns)
    height = rows
    // Everything is initialised here, so throwing runs deinit, which destroys the reader.
    if status != VITRINE_OK { throw unsafe Self.error(reader, status, stop, request, row: 0) }
  }

  deinit { unsafe vitrine_jpeg_destroy(reader) }

  /// Returns a region in delivered pixels, with the neighbours that chroma is interpolated from.
  private static func part(_ region: PixelRegion, eighths: Int, width: Int, height: Int) -> PixelRegion {
    let margin = 16
    let (x, y) = (max(0, region.x * eighths / 8 - margin), max(0, region.y * eighths / 8 - margin))
    return PixelRegion(
      x: x,
      y: y,
      width: min(width, (region.x + region.width) * eighths / 8 + margin) - x,
      height: min(height, (region.y + region.height) * eighths / 8 + margin) - y,
    )
  }

  /// Skips the rows above the region, a limited number at a time.
  private func skip() throws(ImageError) {
    while rowsToSkip > 0 {
      try request.control.check()
      let count = min(rowsToSkip, 512)
      let status = unsafe vitrine_jpeg_skip_rows(reader, UInt32(count))
      guard status == VITRINE_OK else { throw unsafe Self.error(reader, status, stop, request, row: 0) }
      rowsToSkip -= count
    }
  }

  func read(into rows: UnsafeMutableRawBufferPointer, bytesPerRow: Int, count: Int) throws(ImageError) -> Int {
    // As long as its memory.
    let rows = unsafe MutableElements(rows)
    precondition(rows.count >= bytesPerRow * (count - 1) + width * 4)
    try skip()
    let count = min(count, height - row)
    guard count > 0 else { return 0 }
    // In bounds by the precondition: `count` rows of `width` pixels at most.
    let got = unsafe rows.withUnsafeBufferPointer {
      unsafe vitrine_jpeg_read_rows(reader, $0.baseAddress, bytesPerRow, Int32(count))
    }
    guard got >= 0 else { throw unsafe Self.error(reader, got, stop, request, row: row) }
    if unsafe vitrine_jpeg_truncated(reader) != 0 {
      let isCoarse = unsafe vitrine_jpeg_is_coarse(reader) != 0
      let end = isCoarse ? "before the end of its last scan" : "at row \(row + Int(got)) of \(height), scaled"
      let truncation = ImageError(.truncated, format: .jpeg, "truncated: the file ends \(end)")
      guard isCoarse || got > 0 else { throw damage ?? truncation }
      damage = damage ?? truncation
    }
    // libjpeg resumes after each fault, so the rows go on. Their number and the time limit bound the work.
    damage =
      unsafe damage
      ?? request.limits.damage(
        warnings: Int(vitrine_jpeg_warnings(reader)),
        first: String(cString: vitrine_jpeg_first_warning(reader)),
        format: .jpeg,
      )
    // Adobe stores CMYK with 255 for no ink. All viewers treat every file so, with or without Adobe's marker.
    if isCMYK {
      for row in 0..<Int(got) {
        rows.extracting(row * bytesPerRow..<row * bytesPerRow + width * 4).updateEachPixel { 255 &- $0 }
      }
    }
    row += Int(got)
    return Int(got)
  }

  private static func error(
    _ reader: OpaquePointer,
    _ status: Int32,
    _ stop: StopSignal,
    _ request: RowRequest,
    row: Int,
  ) -> ImageError {
    if status == VITRINE_STOPPED, let reason = stop.reason { return reason }
    if unsafe vitrine_jpeg_ran_out(reader) != 0 {
      // libjpeg complains about the end-of-image marker that it was given in place of the missing data.
      return ImageError(.truncated, format: .jpeg, "truncated: the file ends inside a segment")
    }
    let message = unsafe String(cString: vitrine_jpeg_message(reader))
    if message.hasPrefix("Unsupported") || message.hasPrefix("Sorry") {
      return ImageError(.unsupported, format: .jpeg, "an unsupported kind of JPEG: \(message)")
    }
    return ImageError(.corrupt, format: .jpeg, "corrupt: \(message)")
  }
}

/// Tells libjpeg to stop while it reads a progressive file, which may take long before the first row.
private final class StopSignal {
  private let control: DecodeControl
  private(set) var reason: ImageError?

  init(_ control: DecodeControl) {
    self.control = control
  }

  static let callback: vitrine_stop = { context, _ in
    guard let context = unsafe context else { return 0 }
    // The reader that calls this belongs to a `JPEGRows`, which keeps its signal alive.
    return unsafe Unmanaged<StopSignal>.fromOpaque(context).takeUnretainedValue().isStopped() ? 1 : 0
  }

  private func isStopped() -> Bool {
    do throws(ImageError) {
      try control.check()
      return false
    } catch {
      reason = error
      return true
    }
  }
}
