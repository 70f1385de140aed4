import CVitrineCodecs
package import VitrineRuntime

/// Encodes PNG with 8 bits a component or fewer: grey or with a palette where that loses nothing, and without an alpha
/// channel if nothing is transparent.
package struct PNGEncoder: ImageEncoder {
  /// Makes the encoder.
  package init() {}

  /// PNG.
  package var format: ImageFormat { .png }

  /// Display P3, alpha, EXIF and XMP.
  package var features: EncoderFeatures { [.displayP3, .alpha, .exif, .xmp] }

  /// Encodes the bitmap.
  ///
  /// Blocks until done. It needs memory for the file, and some hundred kilobytes.
  package func encode(_ input: EncoderInput, _ options: PNGOptions) throws(ImageError) -> Data {
    try PNGComposer(input, options).file()
  }
}

/// The making of one file: the choice of layout, filters and compressor.
struct PNGComposer {
  /// Pictures of up to so many bytes are compressed in all ways that may be the smallest.
  private static let smallByteCount = 1 << 16

  let input: EncoderInput
  let options: PNGOptions
  var profile: ColorProfile?
  var kernels = PixelKernels.best

  init(_ input: EncoderInput, _ options: PNGOptions) {
    (self.input, self.options) = (input, options)
    profile = input.colorProfile
  }

  private var bitmap: Bitmap { input.bitmap }

  /// A way to compress pixels.
  private enum Method {
    /// Codes for photographs; thoroughly, with a search for matches in all blocks.
    case own(isThorough: Bool)
    case zlib(level: Int)
  }

  func file() throws(ImageError) -> Data {
    let colors = try PNGColors(bitmap, input)
    let direct = scanlines(colors.direct)
    let isPhotograph = direct.byteCount >= 1 << 14 ? try looksLikePhotograph(direct) : false
    let head = try head()
    var candidates = colors.layouts.flatMap { ways(to: $0, isPhotograph: isPhotograph) }
    if options.compression == .fast, direct.byteCount > Self.smallByteCount { candidates = [try fastest(candidates)] }
    var best: PNGOutput?
    for (lines, method) in candidates {
      if let file = try file(lines, method, head, below: best?.count) { best = file }
    }
    guard let best else { preconditionFailure("there is always a layout") }
    return try best.finish()
  }

  /// Returns the ways to write a layout that may give the smallest file.
  private func ways(to layout: PNGLayout, isPhotograph: Bool) -> [(PNGScanlines, Method)] {
    let lines = scanlines(layout)
    guard lines.isFiltered else { return [(lines, .zlib(level: level))] }
    var plain = lines
    plain.isFiltered = false
    let graphics: [(PNGScanlines, Method)] = [(lines, .zlib(level: level)), (plain, .zlib(level: level))]
    let usual = isPhotograph ? [(lines, Method.own(isThorough: false))] : graphics
    guard options.compression == .smallest || lines.byteCount <= Self.smallByteCount else { return usual }
    // Level 3 takes each match, and the higher ones wait for better ones, which noise and gradients do not have.
    let greedy: [(PNGScanlines, Method)] = [(lines, .zlib(level: 3))]
    guard isPhotograph, options.compression == .smallest else { return usual + greedy }
    return usual + greedy + [(lines, .own(isThorough: true)), (lines, .zlib(level: level))]
  }

  private var level: Int { options.compression == .smallest ? 9 : 5 }

  private func scanlines(_ layout: PNGLayout) -> PNGScanlines {
    var isFiltered = false
    if case .direct = layout { isFiltered = true }
    return PNGScanlines(bitmap: bitmap, layout: layout, isFiltered: isFiltered, kernels: kernels, input: input)
  }

  /// Returns one of the ways for a large picture: the first layout, and filters if these help some of its rows.
  private func fastest(_ candidates: [(PNGScanlines, Method)]) throws(ImageError) -> (PNGScanlines, Method) {
    guard let (lines, method) = candidates.first else { preconditionFailure("there is always a layout") }
    guard lines.isFiltered, case .zlib = method else { return (lines, method) }
    var plain = lines
    plain.isFiltered = false
    // Bands of 16 to 48 KB in three places, since filters need the row above, and repetitions what is before them.
    let byteCount = min(max(lines.byteCount / 12, 1 << 14), 3 << 14)
    let rows = max(1, byteCount / lines.layout.bytesPerRow(width: bitmap.width))
    let bands = [1, 3, 5].map { place in
      let start = min(bitmap.height * place / 6, max(0, bitmap.height - rows))
      return start..<min(start + rows, bitmap.height)
    }
    let sizes = try [lines, plain].map { (lines) throws(ImageError) -> Int in
      let file = try PNGOutput()
      let compressor = try ZlibCompressor(file, level: level, byteCount: 3 * byteCount)
      for band in bands { try lines.write(band, to: compressor) }
      try compressor.finish()
      return file.count
    }
    return (sizes[0] <= sizes[1] ? lines : plain, method)
  }

  /// Returns whether filters leave few zeros in some rows: then bytes hardly repeat, and zlib takes long to find that.
  ///
  /// Photographs have 5 to 42 % of zeros, drawings and screenshots 75 to 99 %.
  private func looksLikePhotograph(_ lines: PNGScanlines) throws(ImageError) -> Bool {
    let counter = ZeroCounter()
    let count = min(bitmap.height, 24)
    try lines.write((0..<count).map { (2 * $0 + 1) * bitmap.height / (2 * count) }, to: counter)
    return try counter.zeroShare() < 0.5
  }

  /// Returns the file, not yet finished; `nil` if it becomes as large as another one.
  private func file(
    _ lines: PNGScanlines,
    _ method: Method,
    _ head: Head,
    below limit: Int?,
  ) throws(ImageError) -> PNGOutput? {
    let file = try PNGOutput()
    try write(lines.layout, head, to: file)
    switch method {
    case .own(let isThorough):
      let compressor = try DeflateWriter(file, isThorough: isThorough)
      return try write(lines, with: compressor, to: file, below: limit)
    case .zlib(let level):
      let compressor = try ZlibCompressor(file, level: level, byteCount: lines.byteCount)
      return try write(lines, with: compressor, to: file, below: limit)
    }
  }

  private func write(
    _ lines: PNGScanlines,
    with compressor: some PNGCompressor,
    to file: PNGOutput,
    below limit: Int?,
  ) throws(ImageError) -> PNGOutput? {
    for start in stride(from: 0, to: bitmap.height, by: 64) {
      try lines.write(start..<min(start + 64, bitmap.height), to: compressor)
      if let limit, file.count >= limit { return nil }
    }
    try compressor.finish()
    return limit.map { file.count < $0 } ?? true ? file : nil
  }

  /// The bodies of chunks that stand before the pixels.
  private struct Head {
    var profile: [UInt8]?
    var exif: Data?
    var xmp: [UInt8]?
  }

  private func head() throws(ImageError) -> Head {
    var head = Head(exif: input.exif)
    if let profile {
      head.profile = Array(Self.keyword(profile).utf8) + [0, 0] + (try Self.compressed(Array(profile.data)))
    }
    // Not compressed, with neither language nor translated keyword (11.3.3.4).
    if let xmp = input.xmp { head.xmp = Array("XML:com.adobe.xmp".utf8) + [0, 0, 0, 0, 0] + xmp }
    return head
  }

  /// Writes what stands before the pixels, in the order of the specification (5.6).
  private func write(_ layout: PNGLayout, _ head: Head, to file: PNGOutput) throws(ImageError) {
    typealias Chunk = PNGHeader.Chunk
    let size = PNGOutput.big(UInt32(bitmap.width)) + PNGOutput.big(UInt32(bitmap.height))
    try file.chunk(Chunk.IHDR, size + [UInt8(layout.depth), layout.colorType, 0, 0, 0])
    // A profile of colours has no place beside grey (11.3.2.3). It says nothing there, either: white and curve of
    // Display P3 are the same as in sRGB.
    if layout.isColored, let profile = head.profile { try file.chunk(Chunk.iCCP, profile) }
    if case .indexed(let palette) = layout {
      try file.chunk(Chunk.PLTE, palette.colors.flatMap { color in [0, 8, 16].map { UInt8(color >> $0 & 0xFF) } })
      if palette.translucentCount > 0 {
        try file.chunk(Chunk.tRNS, palette.colors[..<palette.translucentCount].map { UInt8($0 >> 24) })
      }
    }
    if let exif = head.exif { try file.chunk(Chunk.eXIf, exif) }
    if let xmp = head.xmp { try file.chunk(Chunk.iTXt, xmp) }
  }

  /// The profile's name as a keyword (11.3.2.3): 1 to 79 printable characters, without spaces at the ends or two in a
  /// row.
  private static func keyword(_ profile: ColorProfile) -> String {
    let words = (profile.name ?? "").split(separator: " ").map { word in
      word.unicodeScalars.filter { (33...126).contains($0.value) }.map(String.init).joined()
    }
    let name = String(words.filter { !$0.isEmpty }.joined(separator: " ").prefix(79))
    let trimmed = name.last == " " ? String(name.dropLast()) : name
    return trimmed.isEmpty ? "ICC" : trimmed
  }

  /// Returns bytes as a zlib stream.
  private static func compressed(_ bytes: [UInt8]) throws(ImageError) -> [UInt8] {
    let (deflater, part) = (try Deflater(level: 9, bits: 15), OwnedElements<UInt8>(repeating: 0, count: 1 << 14))
    var output: [UInt8] = []
    bytes.withElements { bytes in
      var (start, hasEnded) = (0, false)
      while !hasEnded {
        let rest = bytes.extracting(start..<bytes.count)
        let result = deflater.deflate(rest, into: part.elements, isLast: true)
        output += part.elements.elements.extracting(0..<result.written).array
        (start, hasEnded) = (start + result.read, result.hasEnded)
      }
    }
    return output
  }
}

/// A compressor that only counts.
private final class ZeroCounter: PNGCompressor {
  private static let bufferCount = 1 << 15
  private let buffer = OwnedElements<UInt8>(repeating: 0, count: bufferCount + PNGScanlines.spare)
  private var count = 0
  private var zeros = 0
  private var total = 0

  func room(_ least: Int) throws(ImageError) -> MutableElements<UInt8> {
    if count + least > Self.bufferCount { try finish() }
    return buffer.elements.extracting(count..<Self.bufferCount + PNGScanlines.spare)
  }

  func advance(_ count: Int) { self.count += count }

  func finish() throws(ImageError) {
    let written = buffer.elements.extracting(0..<count)
    for index in written.indices where written[index] == 0 { zeros += 1 }
    total += count
    count = 0
  }

  func zeroShare() throws(ImageError) -> Double {
    try finish()
    return Double(zeros) / Double(max(1, total))
  }
}
