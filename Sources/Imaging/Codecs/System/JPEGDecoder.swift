import CVitrineCodecs
import VitrineRuntime

/// Reads JPEG through libjpeg-turbo, shrinking to 1/2, 1/4 or 1/8 inside the inverse transform.
public struct JPEGDecoder: ImageDecoder {
  /// Makes the decoder.
  public init() {}

  /// JPEG.
  public var formats: [ImageFormat] { [.jpeg] }

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
    info.streamsRows = header.isOneScan
    return info
  }

  /// Starts libjpeg at the smallest of its scales 1/8, 2/8, 4/8, 8/8 that satisfies the request.
  ///
  /// The other scales that it offers are slower than the next larger of these.
  public func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    guard request.frame == 0 else { throw .noSuchFrame(request.frame, of: request.info) }
    do throws(ImageError) {
      return try unsafe JPEGRows(bytes, request)
    } catch {
      // A progressive file may end within the header of a scan; the scans before it can be shown.
      guard error.code == .truncated, !request.info.streamsRows, let end = unsafe Self.lastSegment(bytes) else {
        throw error
      }
      return try unsafe JPEGRows(UnsafeRawBufferPointer(rebasing: bytes[..<end]), request)
    }
  }

  /// Where the last segment begins, which may be cut short.
  private static func lastSegment(_ bytes: UnsafeRawBufferPointer) -> Int? {
    let reader = unsafe ByteReader(bytes)
    return (2..<max(2, bytes.count - 1)).last { offset in
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

  // Owned: made in init, destroyed in deinit, used by one thread at a time.
  private let reader: OpaquePointer
  private let stop: StopSignal
  private let request: RowRequest
  private let isCMYK: Bool
  /// Adobe stores CMYK inverted, 255 for no ink, and marks its files.
  private let isInverted: Bool
  private var row = 0
  private(set) var damage: ImageError?

  init(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) {
    self.request = request
    isInverted = try unsafe JPEGHeader(ByteReader(bytes), metadataLimit: 0).adobeTransform != nil
    let stop = StopSignal(request.control)
    self.stop = stop
    // The reader keeps the two pointers no longer than this object lives, which keeps `stop` alive; `bytes` outlives it
    // by the contract of `ImageDecoder.open`.
    guard
      let reader = unsafe vitrine_jpeg_create(
        bytes.baseAddress?.assumingMemoryBound(to: UInt8.self),
        bytes.count,
        StopSignal.callback,
        Unmanaged.passUnretained(stop).toOpaque(),
      )
    else { throw ImageError(.overLimit, format: .jpeg, "no memory for the JPEG decoder") }
    unsafe self.reader = reader
    var info = vitrine_jpeg_info()
    var status = unsafe vitrine_jpeg_read_header(reader, &info)
    isCMYK = info.components == 4
    if status == VITRINE_OK {
      // Every limit was checked against the header; libjpeg must have read the same one.
      if Int(info.width) != request.info.storedWidth || Int(info.height) != request.info.storedHeight {
        unsafe vitrine_jpeg_destroy(reader)
        throw ImageError(.corrupt, format: .jpeg, "corrupt: two frame headers that disagree")
      }
      let eighths = [1, 2, 4].first { Double($0) / 8 >= request.minimumScale } ?? 8
      let layout = isCMYK ? VITRINE_JPEG_CMYK : VITRINE_JPEG_RGBA
      status = unsafe vitrine_jpeg_start(reader, Int32(eighths), Int32(layout), &info)
      extentWidth = Double(info.width) * Double(eighths) / 8
      extentHeight = Double(info.height) * Double(eighths) / 8
    } else {
      (extentWidth, extentHeight) = (0, 0)
    }
    width = Int(info.out_width)
    height = Int(info.out_height)
    // Everything is initialised here, so throwing runs deinit, which destroys the reader.
    if status != VITRINE_OK { throw unsafe Self.error(reader, status, stop, request, row: 0) }
  }

  deinit { unsafe vitrine_jpeg_destroy(reader) }

  func read(into rows: UnsafeMutableRawBufferPointer, bytesPerRow: Int, count: Int) throws(ImageError) -> Int {
    precondition(rows.count >= bytesPerRow * (count - 1) + width * 4)
    // In bounds by the line above: `count` rows of `width` pixels at most.
    let got = unsafe vitrine_jpeg_read_rows(
      reader,
      rows.baseAddress?.assumingMemoryBound(to: UInt8.self),
      bytesPerRow,
      Int32(count),
    )
    guard got >= 0 else { throw unsafe Self.error(reader, got, stop, request, row: row) }
    if unsafe vitrine_jpeg_truncated(reader) != 0 {
      guard unsafe vitrine_jpeg_is_coarse(reader) != 0 else {
        throw ImageError(.truncated, format: .jpeg, "truncated: the file ends at row \(row) of \(height), scaled")
      }
      damage = ImageError(.truncated, format: .jpeg, "truncated: the file ends before its last scan does")
    }
    try unsafe request.limits.check(
      warnings: Int(vitrine_jpeg_warnings(reader)),
      first: String(cString: vitrine_jpeg_first_warning(reader)),
      format: .jpeg,
    )
    if isCMYK { unsafe convertFromCMYK(rows, bytesPerRow: bytesPerRow, count: Int(got)) }
    row += Int(got)
    return Int(got)
  }

  private func convertFromCMYK(_ rows: UnsafeMutableRawBufferPointer, bytesPerRow: Int, count: Int) {
    for row in 0..<count {
      for x in 0..<width {
        let offset = row * bytesPerRow + x * 4
        // In bounds: `read` has checked the rows.
        let stored = unsafe rows.loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt8>.self)
        let paper = isInverted ? stored : 255 &- stored
        let product = SIMD4<UInt16>(truncatingIfNeeded: paper) &* UInt16(paper.w) &+ 127
        var color = SIMD4<UInt8>(truncatingIfNeeded: product / 255)
        color.w = 255
        unsafe rows.storeBytes(of: color, toByteOffset: offset, as: SIMD4<UInt8>.self)
      }
    }
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
      // What libjpeg complains of is the end of image that it was given in place of data.
      return ImageError(.truncated, format: .jpeg, "truncated: the file ends within a segment")
    }
    let message = unsafe String(cString: vitrine_jpeg_message(reader))
    if message.hasPrefix("Unsupported") || message.hasPrefix("Sorry") {
      return ImageError(.unsupported, format: .jpeg, "an unsupported kind of JPEG: \(message)")
    }
    return ImageError(.corrupt, format: .jpeg, "corrupt: \(message)")
  }
}

/// What libjpeg asks while it reads a progressive file, which may take long before the first row.
private final class StopSignal {
  /// More scans than this serve nothing but to keep a decoder busy.
  static let scanLimit = 500

  private let control: DecodeControl
  private(set) var reason: ImageError?

  init(_ control: DecodeControl) {
    self.control = control
  }

  static let callback: vitrine_stop = { context, scan in
    guard let context = unsafe context else { return 0 }
    // The reader that calls this belongs to a `JPEGRows`, which keeps its signal alive.
    return unsafe Unmanaged<StopSignal>.fromOpaque(context).takeUnretainedValue().isStopped(scan: Int(scan)) ? 1 : 0
  }

  private func isStopped(scan: Int) -> Bool {
    if scan > Self.scanLimit {
      reason = ImageError(.overLimit, format: .jpeg, "jpeg of more than \(Self.scanLimit) scans")
      return true
    }
    do throws(ImageError) {
      try control.check()
      return false
    } catch {
      reason = error
      return true
    }
  }
}
