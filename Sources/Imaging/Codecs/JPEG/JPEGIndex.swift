package import VitrineRuntime

/// An index of positions in a baseline JPEG file from which decoding can begin.
///
/// With an index, decoding a small part of a huge picture costs as much as that part, wherever it is:
/// ```swift
/// let index = try JPEGIndex(data)                  // one pass over the file
/// var options = DecodeOptions(size: .pixels(256, 256))
/// options.region = PixelRegion(x: 8000, y: 6000, width: 1024, height: 1024)
/// let tile = try index.decode(options).bitmap      // reads that part only
/// ```
/// Without one, a decoder must read everything above a region, because nothing in the file says where the region
/// begins. The pass decodes no pixels. Every ``interval`` units (8 to 32 pixels wide) it notes the position of the
/// codes and the preceding means. The pixels are the same as from ``DecoderRegistry/decode(_:_:)`` with the same
/// options.
///
/// An index is a value that shares the file's bytes. It may be used on any threads at once. Complexity: O(bytes) to
/// make; 24 bytes of memory for every ``interval`` units.
package struct JPEGIndex: Sendable {
  /// The number of units between two positions.
  package static let interval = 64

  /// The facts of the file's header.
  package let info: ImageInfo
  private let data: Data
  private let checkpoints: [UnitScan.Checkpoint]

  /// Makes an index in one pass over the file.
  ///
  /// Blocks for about 3 ns a pixel.
  ///
  /// - Parameters:
  ///   - data: The file. The index keeps it.
  ///   - limits: The limits. Defaults to ``DecodeLimits``' defaults.
  ///   - isCancelled: Called at each row of units; `true` stops the work. Defaults to `nil`.
  /// - Throws: ``ImageError``: `.unsupported` unless the data is a JPEG file of one scan in grey, YCbCr or RGB
  ///   (``DecoderRegistry`` decodes all others without an index); `.truncated`, `.corrupt`, `.overLimit`,
  ///   `.outOfTime`, `.cancelled`.
  package init(
    _ data: Data,
    limits: DecodeLimits = DecodeLimits(),
    isCancelled: (@Sendable () -> Bool)? = nil,
  ) throws(ImageError) {
    self.data = data
    let info = try Self.decoders.info(of: data, limits: limits)
    self.info = info
    let control = DecodeControl(isCancelled: isCancelled, timeLimit: limits.timeLimit)
    // The bytes are only read while the closure runs.
    checkpoints = try unsafe data.withImageBytes { (bytes) throws(ImageError) in
      guard let (script, scan) = unsafe Self.scan(bytes) else {
        throw ImageError(.unsupported, format: .jpeg, "only JPEG of one scan in grey, YCbCr or RGB can be indexed")
      }
      let count = script.frame.unitsAcross * script.frame.unitsDown
      var checkpoints: [UnitScan.Checkpoint] = []
      checkpoints.reserveCapacity(count / Self.interval + 1)
      for unit in 0..<count {
        if unit % script.frame.unitsAcross == 0 { try control.check() }
        if unit % Self.interval == 0 {
          guard let checkpoint = scan.checkpoint() else { throw Self.broken(scan, unit, of: count) }
          checkpoints.append(checkpoint)
        }
        guard scan.skip() else { throw Self.broken(scan, unit, of: count) }
      }
      guard !scan.hasRunOut else { throw Self.broken(scan, count, of: count) }
      return checkpoints
    }
  }

  /// Decodes a part of the picture, or all of it.
  ///
  /// Blocks until done.
  ///
  /// - Parameter options: The options, with the part in ``DecodeOptions/region``.
  /// - Returns: The same as ``DecoderRegistry/decode(_:_:)``.
  /// - Throws: The same as ``DecoderRegistry/decode(_:_:)``.
  package func decode(_ options: DecodeOptions) throws(ImageError) -> ImageContainer {
    var job = DecodeJob()
    try job.begin(options)
    guard options.frame == 0 else { throw .noSuchFrame(options.frame, of: info) }
    try options.limits.check(info)
    let plan = try options.plan(for: info)
    let request = options.request(for: info, plan, job)
    // A region that is most of the picture is decoded without an index.
    guard let region = request.region, region.width * region.height < info.storedWidth * info.storedHeight / 2 else {
      return try Self.decoders.decode(data, options)
    }
    let patch = try patch(region, job.control)
    return try unsafe patch.data.withImageBytes { (bytes) throws(ImageError) in
      var own = ImageInfo(format: .jpeg, storedWidth: patch.part.width, storedHeight: patch.part.height)
      own.streamsRows = true
      let part = RowRequest(
        info: own,
        minimumScale: request.minimumScale,
        lightScale: request.lightScale,
        limits: request.limits,
        control: request.control,
      )
      // The whole picture decides which of the decoders is used, as without an index.
      let isOwn = info.storedWidth * info.storedHeight >= JPEGDecoder.ownDecoderMinimum
      guard let rows = try unsafe JPEGDecoder(ownDecoderMinimum: isOwn ? 0 : .max).open(bytes, part) else {
        throw ImageError(.unsupported, format: .jpeg, "an unsupported kind of JPEG")
      }
      let result = try options.renderer(for: info, plan, job)
        .render(PatchRows(rows, patch.part, info), acceptsPartial: options.acceptsPartial)
      return ImageContainer(result.bitmap, info: info, damage: result.damage)
    }
  }

  private static let decoders = DecoderRegistry([JPEGDecoder()])

  private static func scan(_ bytes: UnsafeRawBufferPointer) -> (JPEGScript, UnitScan)? {
    guard let script = JPEGScript(unsafe ByteReader(bytes)), let scan = UnitScan(unsafe Elements(bytes), script) else {
      return nil
    }
    return (script, scan)
  }

  private static func broken(_ scan: UnitScan, _ unit: Int, of count: Int) -> ImageError {
    scan.hasRunOut
      ? ImageError(.truncated, format: .jpeg, "truncated: the file ends at unit \(unit) of \(count)")
      : ImageError(.corrupt, format: .jpeg, "corrupt: unit \(unit) of \(count)")
  }

  /// Makes a file of the region and a margin: chroma is interpolated from neighbouring pixels.
  func patch(
    _ region: PixelRegion,
    _ control: DecodeControl,
  ) throws(ImageError) -> (data: Data, part: PixelRegion) {
    // The bytes are only read while the closure runs.
    try unsafe data.withImageBytes { (bytes) throws(ImageError) in
      guard let (script, scan) = unsafe Self.scan(bytes) else {
        throw ImageError(.corrupt, format: .jpeg, "corrupt: the file has changed since it was indexed")
      }
      let frame = script.frame
      let (width, height) = (8 * frame.unitColumns, 8 * frame.unitRows)
      let margin = 2
      let columns =
        max(
          0,
          region.x / width - margin,
        )..<min(
          frame.unitsAcross,
          JPEGFrame.divided(region.x + region.width, by: width) + margin,
        )
      let rows =
        max(
          0,
          region.y / height - margin,
        )..<min(
          frame.unitsDown,
          JPEGFrame.divided(region.y + region.height, by: height) + margin,
        )
      let part = PixelRegion(
        x: columns.lowerBound * width,
        y: rows.lowerBound * height,
        width: min(columns.upperBound * width, frame.width) - columns.lowerBound * width,
        height: min(rows.upperBound * height, frame.height) - rows.lowerBound * height,
      )
      var writer = JPEGPatchWriter(script, width: part.width, height: part.height)
      var coefficients = [Int16](repeating: 0, count: scan.blockCount * 64)
      for row in rows {
        try control.check()
        let first = row * frame.unitsAcross + columns.lowerBound
        let place = first / Self.interval
        guard place < checkpoints.count, scan.seek(checkpoints[place], unit: place * Self.interval) else {
          throw Self.broken(scan, first, of: frame.unitsAcross * frame.unitsDown)
        }
        while scan.unit < first + columns.count {
          if scan.unit < first {
            guard scan.skip() else { throw Self.broken(scan, scan.unit, of: frame.unitsAcross * frame.unitsDown) }
            continue
          }
          guard scan.read(into: &coefficients),
            scan.components.indices.allSatisfy({ index in
              writer.append(coefficients[index * 64..<index * 64 + 64], component: scan.components[index])
            })
          else { throw Self.broken(scan, scan.unit, of: frame.unitsAcross * frame.unitsDown) }
        }
      }
      writer.finish()
      return (Data(writer.bytes), part)
    }
  }
}

extension DecoderRegistry {
  /// A Boolean value that indicates whether JPEG is decoded by Vitrine's own decoder in this process, so that a
  /// ``JPEGIndex`` gives the same pixels.
  package var decodesJPEGItself: Bool { local(for: .jpeg) is JPEGDecoder }
}

/// The rows of a patch, presented as rows of the whole picture.
private final class PatchRows: RowSource {
  var width: Int { rows.width }
  var height: Int { rows.height }
  let extentWidth: Double
  let extentHeight: Double
  let origin: (x: Int, y: Int)
  var hasAlpha: Bool { rows.hasAlpha }
  var isAveraged: Bool { rows.isAveraged }
  var colorModel: ColorModel { rows.colorModel }
  var damage: ImageError? { rows.damage }
  private let rows: any RowSource

  init(_ rows: any RowSource, _ part: PixelRegion, _ info: ImageInfo) {
    self.rows = rows
    // The scale is a multiple of an eighth and units are multiples of eight pixels, so nothing is rounded.
    let scale = rows.extentWidth / Double(part.width)
    extentWidth = Double(info.storedWidth) * scale
    extentHeight = Double(info.storedHeight) * scale
    origin = (Int(Double(part.x) * scale), Int(Double(part.y) * scale))
  }

  func read(into target: UnsafeMutableRawBufferPointer, bytesPerRow: Int, count: Int) throws(ImageError) -> Int {
    try unsafe rows.read(into: target, bytesPerRow: bytesPerRow, count: count)
  }
}
