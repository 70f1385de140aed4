import CVitrineTIFF
import VitrineImaging
import VitrineRuntime

/// libtiff's state for one page of a file.
@safe
final class TIFFReader {
  /// The maximum number of pixels of a band that counts as streaming.
  private static let streamedBand = 1 << 24

  // Owned: made in init, destroyed in deinit, used by one thread at a time.
  private let reader: OpaquePointer
  private let page: vitrine_tiff_info
  /// `nil` if libtiff converts the samples.
  private let samples: TIFFSamples?
  /// The samples of a band.
  private var band: [UInt8] = []
  private let isCut: Bool

  /// `bytes` must stay in place for the life of the reader.
  init(_ bytes: UnsafeRawBufferPointer, _ directory: TIFFDirectories.Page, _ limits: DecodeLimits) throws(ImageError) {
    try TIFFDecoder.library.check()
    // The largest allocation allowed is one strip of four samples of 16 bits, as large as a picture that may be held.
    let most = max(1 << 20, limits.metadataByteCount, min(max(1, limits.mostHeldPixels), 1 << 40) * 8)
    // The reader keeps the pointer no longer than this object lives.
    guard
      let reader = unsafe vitrine_tiff_create(
        bytes.baseAddress?.assumingMemoryBound(to: UInt8.self),
        bytes.count,
        most,
      )
    else { throw ImageError(.corrupt, format: .tiff, "corrupt inside its header, or not enough memory") }
    unsafe self.reader = reader
    isCut = directory.isCut
    var page = unsafe vitrine_tiff_info()
    let status = unsafe vitrine_tiff_read_directory(reader, UInt64(directory.offset), &page)
    unsafe self.page = page
    samples = unsafe TIFFSamples(page)
    // Everything is initialised here, so throwing runs deinit.
    if status != 0 { throw error(status, "inside its directory") }
  }

  deinit { unsafe vitrine_tiff_destroy(reader) }

  /// The damage of a page whose pixels are complete.
  var damage: ImageError? {
    isCut ? ImageError(.truncated, format: .tiff, "truncated: the file ends inside its directory's values") : nil
  }

  /// Returns whether a page is this one in a smaller size, which is at least `scale` times as large.
  func isSame(_ copy: TIFFReader, atScale scale: Double) -> Bool {
    guard copy.width > 0, copy.width < width, copy.height > 0, copy.hasAlpha == hasAlpha,
      unsafe copy.page.orientation == page.orientation,
      unsafe copy.page.profile_length == 0 || copy.page.profile_length == page.profile_length
    else { return false }
    let (x, y) = (Double(copy.width) / Double(width), Double(copy.height) / Double(height))
    // Its sides are whole numbers, so each may be off by one.
    return abs(x - y) * Double(copy.height) <= 2 && min(x, y) >= scale
  }

  var width: Int { unsafe Int(page.width) }
  var height: Int { unsafe Int(page.height) }

  /// The number of rows decoded at once: whole strips or tiles, and at least sixteen rows if these are lower.
  var bandHeight: Int {
    let band = unsafe max(1, Int(page.band))
    guard band < height else { return height }
    return min(height, (15 + band) / band * band)
  }

  /// True if the fourth sample is delivered (for whole numbers, if libtiff's `PickContigCase` uses it).
  private var hasAlpha: Bool {
    if let samples { return samples.hasAlpha }
    // 1 is premultiplied alpha, 2 is straight alpha.
    guard unsafe page.extra_samples > 0, unsafe page.extra_sample == 1 || page.extra_sample == 2 else { return false }
    let bits = unsafe page.bits
    switch unsafe page.photometric {
    case 2: return unsafe page.samples >= 4 && (bits == 8 || bits == 16)
    case 1: return unsafe page.samples == 2 && bits == 8 && page.is_separate == 0
    default: return false
    }
  }

  func info(frameCount: Int, _ limits: DecodeLimits) throws(ImageError) -> ImageInfo {
    guard width > 0, height > 0 else { throw ImageError(.corrupt, format: .tiff, "corrupt: a page has no pixels") }
    var info = ImageInfo(
      format: .tiff,
      storedWidth: width,
      storedHeight: height,
      orientation: unsafe Orientation(rawValue: Int(page.orientation)) ?? .up,
    )
    info.frameCount = frameCount
    info.hasAlpha = hasAlpha
    // The stored model; libtiff converts inks to red, green and blue.
    info.colorModel = unsafe page.photometric <= 1 ? .gray : page.photometric == 5 ? .cmyk : .rgb
    // A palette's entries have 16 bits, of which libtiff keeps eight.
    info.bitsPerComponent = unsafe page.photometric == 3 ? 8 : Int(page.bits)
    info.streamsRows =
      bandHeight < height && bandHeight.multipliedReportingOverflow(by: width).partialValue <= Self.streamedBand
    // The band as RGBA, and beside it the stored samples of its strips or tiles.
    let samples = unsafe max(1, Int(page.samples)).multipliedSaturating(by: max(1, (Int(page.bits) + 7) / 8))
    info.workingByteCount = bandHeight.multipliedSaturating(by: width).multipliedSaturating(by: 4 + samples)
    let length = unsafe Int(page.profile_length)
    if length > 0, length <= limits.metadataByteCount, let profile = unsafe page.profile {
      // libtiff owns the profile until the reader is destroyed.
      info.colorProfile = unsafe ColorProfile(data: Data(UnsafeBufferPointer(start: profile, count: length)))
    }
    return info
  }

  func start() throws(ImageError) {
    guard samples == nil else { return }
    let status = unsafe vitrine_tiff_start(reader)
    guard status == 0 else { throw error(status, "inside its directory") }
  }

  /// Reads `rows`, which begin with a band, as RGBA with straight alpha.
  func read(_ rows: Range<Int>, into pixels: inout [UInt32]) throws(ImageError) {
    precondition(rows.count * width <= pixels.count && rows.upperBound <= height)
    let status: Int32
    if let samples {
      status = read(rows, samples, into: &pixels)
    } else {
      // `rows.count` rows of the page's width, for which there is room by the first line.
      status = unsafe vitrine_tiff_read_rows(reader, UInt32(rows.lowerBound), UInt32(rows.count), &pixels)
    }
    guard status == 0 else { throw error(status, "at row \(rows.lowerBound) of \(height)") }
    guard hasAlpha else {
      for index in pixels.indices { pixels[index] |= UInt32(littleEndian: 0xFF00_0000) }
      return
    }
    guard unsafe page.extra_sample == 1 else { return }
    // Only used while the closure runs.
    unsafe pixels.withUnsafeMutableBytes { unsafe MutableElements($0).unpremultiply() }
  }

  private func read(_ rows: Range<Int>, _ samples: TIFFSamples, into pixels: inout [UInt32]) -> Int32 {
    let size = samples.rowSize(width: width)
    if band.count < size * rows.count { band = [UInt8](repeating: 0, count: size * rows.count) }
    let (first, count) = (UInt32(rows.lowerBound), UInt32(rows.count))
    // There is room for `rows.count` rows of `size` bytes.
    let status = unsafe vitrine_tiff_read_samples(reader, first, count, &band, size)
    guard status == 0 else { return status }
    let bytes = band
    samples.convert(bytes.span, into: &pixels, count: rows.count * width)
    return 0
  }

  private func error(_ status: Int32, _ place: String) -> ImageError {
    // Text that ends in a zero, owned by the reader.
    let message = unsafe String(cString: vitrine_tiff_message(reader))
    if status == -2 || message.contains("not configured") || message.contains("not implemented") {
      return ImageError(.unsupported, format: .tiff, "an unsupported kind of TIFF: \(message)")
    }
    if message.contains("Memory allocation of") || message.contains("max_single_mem_alloc") {
      return ImageError(.overLimit, format: .tiff, "tiff over the limit: \(message)")
    }
    if unsafe isCut || vitrine_tiff_is_truncated(reader) != 0 {
      return ImageError(.truncated, format: .tiff, "truncated: the file ends \(place)")
    }
    return ImageError(
      .corrupt,
      format: .tiff,
      "corrupt \(place): \(message.isEmpty ? "libtiff gives no details" : message)",
    )
  }
}
