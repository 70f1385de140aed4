public import VitrineRuntime

/// Places in a baseline JPEG file from which decoding can begin, so that a small part of a huge picture costs as much as
/// that part, wherever it is.
///
/// ```swift
/// let index = try JPEGIndex(data)                  // one pass over the file
/// var options = DecodeOptions(size: .pixels(256, 256))
/// options.region = PixelRegion(x: 8000, y: 6000, width: 1024, height: 1024)
/// let tile = try index.decode(options).bitmap      // reads that part only
/// ```
/// Without an index a decoder must go through all that lies above a region, since no code says where it begins. The pass
/// decodes no pixels: it notes, every ``interval`` units (8 to 32 pixels wide), where the codes are and what the means before
/// them were. The pixels are those of ``DecoderRegistry/decode(_:_:)`` with the same options.
///
/// A value that shares the file's bytes; it may be used on any threads at once. Complexity: making it O(bytes), memory
/// 24 bytes for every ``interval`` units.
public struct JPEGIndex: Sendable {
  /// How many units lie between two places.
  public static let interval = 64

  /// What the header says.
  public let info: ImageInfo
  private let data: Data
  private let checkpoints: [UnitScan.Checkpoint]

  /// Reads through the file once.
  ///
  /// Blocks for that: some 3 ns a pixel.
  ///
  /// - Parameters:
  ///   - data: The file, which is kept.
  ///   - limits: The bounds to keep; the defaults unless told.
  ///   - isCancelled: Asked at every row of units; `nil`, the default, for no such question.
  /// - Throws: ``ImageError``: `.unsupported` for what is not a JPEG file of one scan in grey, YCbCr or RGB, all of which
  ///   ``DecoderRegistry`` decodes without an index; `.truncated`, `.corrupt`, `.overLimit`, `.outOfTime`, `.cancelled`.
  public init(
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
      guard let script = JPEGScript(unsafe ByteReader(bytes)), let scan = unsafe UnitScan(bytes, script) else {
        throw ImageError(.unsupported, format: .jpeg, "not a JPEG file of one scan that can be indexed")
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
  /// Blocks as decoding does.
  ///
  /// - Parameter options: How; ``DecodeOptions/region`` says which part.
  /// - Returns: What ``DecoderRegistry/decode(_:_:)`` returns.
  /// - Throws: ``ImageError``, as there.
  public func decode(_ options: DecodeOptions) throws(ImageError) -> ImageContainer {
    let control = DecodeControl(isCancelled: options.isCancelled, timeLimit: options.limits.timeLimit)
    try control.check()
    guard options.frame == 0 else { throw .noSuchFrame(options.frame, of: info) }
    try options.limits.check(info)
    let plan = try options.plan(for: info)
    let request = options.request(for: info, plan, control)
    // What is most of the picture is read without detours.
    guard let region = request.region, region.width * region.height < info.storedWidth * info.storedHeight / 2 else {
      return try Self.decoders.decode(data, options)
    }
    let patch = try patch(region, control)
    return try unsafe patch.data.withImageBytes { (bytes) throws(ImageError) in
      var own = ImageInfo(format: .jpeg, storedWidth: patch.part.width, storedHeight: patch.part.height)
      own.streamsRows = true
      let part = RowRequest(
        info: own,
        minimumScale: request.minimumScale,
        limits: request.limits,
        control: control,
      )
      // Which of the decoders takes it is decided by the whole picture, as without an index.
      let isOwn = info.storedWidth * info.storedHeight >= JPEGDecoder.ownDecoderMinimum
      guard let rows = try unsafe JPEGDecoder(ownDecoderMinimum: isOwn ? 0 : .max).open(bytes, part) else {
        throw ImageError(.unsupported, format: .jpeg, "an unsupported kind of JPEG")
      }
      let result = try options.renderer(for: info, plan, control)
        .render(PatchRows(rows, patch.part, info), acceptsPartial: options.acceptsPartial)
      return ImageContainer(result.bitmap, info: info, damage: result.damage)
    }
  }

  private static let decoders = DecoderRegistry([JPEGDecoder()])

  private static func broken(_ scan: UnitScan, _ unit: Int, of count: Int) -> ImageError {
    scan.hasRunOut
      ? ImageError(.truncated, format: .jpeg, "truncated: the file ends at unit \(unit) of \(count)")
      : ImageError(.corrupt, format: .jpeg, "corrupt: unit \(unit) of \(count)")
  }

  /// A file that has the region, and more to each side: chroma is interpolated from what lies beside.
  private func patch(
    _ region: PixelRegion,
    _ control: DecodeControl,
  ) throws(ImageError) -> (data: Data, part: PixelRegion) {
    // The bytes are only read while the closure runs.
    try unsafe data.withImageBytes { (bytes) throws(ImageError) in
      guard let script = JPEGScript(unsafe ByteReader(bytes)), let scan = unsafe UnitScan(bytes, script) else {
        throw ImageError(.corrupt, format: .jpeg, "corrupt: not the file that was indexed")
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

/// The rows of a patch, as those of the picture that it is of.
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
    // An eighth or a multiple of it, and units are eights of pixels: nothing is rounded.
    let scale = rows.extentWidth / Double(part.width)
    extentWidth = Double(info.storedWidth) * scale
    extentHeight = Double(info.storedHeight) * scale
    origin = (Int(Double(part.x) * scale), Int(Double(part.y) * scale))
  }

  func read(into target: UnsafeMutableRawBufferPointer, bytesPerRow: Int, count: Int) throws(ImageError) -> Int {
    try unsafe rows.read(into: target, bytesPerRow: bytesPerRow, count: count)
  }
}
