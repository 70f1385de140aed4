/// Makes a bitmap of rows: crops, resamples and turns them upright on the way, holding a few at a time.
struct Renderer {
  /// How many rows are read at once: enough for libjpeg to decode whole blocks, few enough to stay in a core's cache.
  static let batch = 16

  let info: ImageInfo
  let plan: SamplingPlan
  let control: DecodeControl
  var resampling = ResamplingOptions()
  var colorSpace = ColorSpace.sRGB

  /// `shown` is the share of the picture's rows that came, 1 unless there is damage.
  func render(
    _ source: any RowSource,
    acceptsPartial: Bool,
  ) throws(ImageError) -> (bitmap: Bitmap, damage: ImageError?, shown: Double) {
    // Nothing needs to be drawn of what is known to be damaged and wanted whole.
    if !acceptsPartial, let damage = source.damage { throw damage }
    // From here on in the source's own geometry: not yet upright, and perhaps shrunk by the decoder.
    let crop = info.orientation.stored(plan.crop, width: Double(info.storedWidth), height: Double(info.storedHeight))
    let (width, height) = info.orientation.applied(width: plan.width, height: plan.height)
    let isWhole =
      source.width == width && source.height == height && plan.crop.width == Double(info.width)
      && plan.crop.height == Double(info.height)
    let transform = ColorTransform(info, rows: source.colorModel, to: colorSpace)
    var damage: ImageError?
    var wholeRows = 0
    let bitmap = try unsafe Bitmap(
      width: plan.width,
      height: plan.height,
      alpha: source.hasAlpha ? .straight : .opaque,
      colorSpace: colorSpace,
    ) { (pixels) throws(ImageError) in
      do throws(ImageError) {
        if isWhole {
          try unsafe copy(source, transform, into: pixels, &wholeRows)
        } else if let part = part(of: source, crop, width: width, height: height) {
          try unsafe cut(part, of: source, transform, into: pixels, &wholeRows)
        } else {
          try unsafe resample(source, transform, crop: crop, width: width, height: height, into: pixels, &wholeRows)
        }
      } catch {
        guard acceptsPartial, error.code == .truncated || error.code == .corrupt else { throw error }
        damage = error
      }
    }
    // The rows that are missing are transparent, whatever the image was.
    let isCovered = damage == nil || wholeRows == height
    return (
      isCovered ? bitmap : bitmap.declared(.straight), damage, isCovered ? 1 : Double(wholeRows) / Double(height),
    )
  }

  /// Rows already at their final size.
  private func copy(
    _ source: any RowSource,
    _ transform: ColorTransform?,
    into pixels: UnsafeMutableRawBufferPointer,
    _ wholeRows: inout Int,
  ) throws(ImageError) {
    let (width, height) = (source.width, source.height)
    if info.orientation == .up, let held = source as? HeldRows {
      let result = unsafe held.decode(into: pixels)
      wholeRows = result.wholeRows
      unsafe transform?.apply(to: pixels)
      guard let failure = result.failure else { return }
      unsafe pixels.rows(from: result.wholeRows, count: height - result.wholeRows, width: width).clear()
      throw failure
    }
    if info.orientation == .up {
      var row = 0
      while row < height {
        do throws(ImageError) {
          try control.check()
          let count = min(Self.batch, height - row)
          let got = try unsafe source.read(
            into: pixels.rows(from: row, count: count, width: width),
            bytesPerRow: width * 4,
            count: count,
          )
          guard got > 0 else { throw ended(row, height) }
          unsafe transform?.apply(to: pixels.rows(from: row, count: got, width: width))
          row += got
          wholeRows = row
        } catch {
          unsafe pixels.rows(from: row, count: height - row, width: width).clear()
          throw error
        }
      }
      if let damage = source.damage { throw damage }
      return
    }
    var writer = unsafe UprightWriter(pixels, orientation: info.orientation, width: width, height: height)
    defer { wholeRows = writer.rowsGiven }
    try unsafe forEachRow(source, through: height - 1, &writer) { (row, writer) throws(ImageError) in
      unsafe transform?.apply(to: row)
      unsafe writer.write(UnsafeRawBufferPointer(row))
    }
  }

  /// The delivered pixels that are the output as they are; `nil` where they have to be filtered.
  private func part(of source: any RowSource, _ crop: PixelRect, width: Int, height: Int) -> PixelRegion? {
    guard source.extentWidth == Double(info.storedWidth), source.extentHeight == Double(info.storedHeight),
      let x = Int(exactly: crop.x), let y = Int(exactly: crop.y), crop.width == Double(width),
      crop.height == Double(height)
    else { return nil }
    return PixelRegion(x: x - source.origin.x, y: y - source.origin.y, width: width, height: height)
  }

  private func cut(
    _ part: PixelRegion,
    of source: any RowSource,
    _ transform: ColorTransform?,
    into pixels: UnsafeMutableRawBufferPointer,
    _ wholeRows: inout Int,
  ) throws(ImageError) {
    var writer = unsafe UprightWriter(pixels, orientation: info.orientation, width: part.width, height: part.height)
    defer { wholeRows = writer.rowsGiven }
    var row = 0
    try unsafe forEachRow(source, through: part.y + part.height - 1, &writer) { (line, writer) throws(ImageError) in
      // In bounds by the slice.
      if row >= part.y {
        let shown = unsafe UnsafeMutableRawBufferPointer(rebasing: line[part.x * 4..<(part.x + part.width) * 4])
        unsafe transform?.apply(to: shown)
        unsafe writer.write(UnsafeRawBufferPointer(shown))
      }
      row += 1
    }
  }

  private func resample(
    _ source: any RowSource,
    _ transform: ColorTransform?,
    crop: PixelRect,
    width: Int,
    height: Int,
    into pixels: UnsafeMutableRawBufferPointer,
    _ wholeRows: inout Int,
  ) throws(ImageError) {
    let scaleX = source.extentWidth / Double(info.storedWidth)
    let scaleY = source.extentHeight / Double(info.storedHeight)
    let resampler = Resampler(
      Resampler.Source(
        width: source.width,
        height: source.height,
        crop: PixelRect(
          x: crop.x * scaleX - Double(source.origin.x),
          y: crop.y * scaleY - Double(source.origin.y),
          width: crop.width * scaleX,
          height: crop.height * scaleY,
        ),
        layout: source.colorModel == .cmyk ? .ink : source.hasAlpha ? .colorAndAlpha : .color,
        averaged: source.isAveraged ? max(1, 1 / max(scaleX, scaleY)) : 1,
      ),
      outputWidth: width,
      outputHeight: height,
      options: resampling,
    )
    var writer = unsafe UprightWriter(pixels, orientation: info.orientation, width: width, height: height)
    defer { wholeRows = writer.rowsGiven }
    try unsafe forEachRow(source, through: resampler.lastRow, &writer) { (row, writer) throws(ImageError) in
      try unsafe resampler.push(UnsafeRawBufferPointer(row)) { (finished) throws(ImageError) in
        unsafe transform?.apply(to: finished)
        unsafe writer.write(UnsafeRawBufferPointer(finished))
      }
    }
  }

  /// Reads rows up to `last` and gives them to `body` one by one; ends the writer whether or not that succeeds.
  private func forEachRow(
    _ source: any RowSource,
    through last: Int,
    _ writer: inout UprightWriter,
    _ body: (UnsafeMutableRawBufferPointer, inout UprightWriter) throws(ImageError) -> Void,
  ) throws(ImageError) {
    defer { writer.finish() }
    let bytesPerRow = source.width * 4
    let rows = UnsafeMutableRawBufferPointer.allocate(byteCount: bytesPerRow * Self.batch, alignment: 64)
    defer { unsafe rows.deallocate() }
    var row = 0
    while row <= last {
      try control.check()
      let got = try unsafe source.read(into: rows, bytesPerRow: bytesPerRow, count: min(Self.batch, last + 1 - row))
      guard got > 0 else { throw ended(row, source.height) }
      for index in 0..<got {
        try unsafe body(rows.rows(from: index, count: 1, width: source.width), &writer)
      }
      row += got
    }
    if let damage = source.damage { throw damage }
  }

  private func ended(_ row: Int, _ height: Int) -> ImageError {
    ImageError(.truncated, format: info.format, "truncated: the picture ends at row \(row) of \(height)")
  }
}

/// Writes rows, given from top to bottom as stored, to where they belong in the upright bitmap.
@safe
struct UprightWriter {
  /// Rows that become columns are gathered, so that each line of memory is visited once for several of them.
  private static let stripHeight = 16

  private let pixels: UnsafeMutableRawBufferPointer
  private let orientation: Orientation
  /// As stored.
  private let width: Int
  private let height: Int
  private var strip: [UInt32] = []
  private var row = 0
  /// How many rows were written before ``finish()`` made up the others.
  private(set) var rowsGiven = 0

  /// `pixels` is the bitmap's memory, `4 * width * height` bytes.
  init(_ pixels: UnsafeMutableRawBufferPointer, orientation: Orientation, width: Int, height: Int) {
    precondition(pixels.count == 4 * width * height)
    unsafe self.pixels = pixels
    (self.orientation, self.width, self.height) = (orientation, width, height)
    if orientation.swapsAxes { strip.reserveCapacity(Self.stripHeight * width) }
  }

  mutating func write(_ source: UnsafeRawBufferPointer) {
    precondition(source.count == 4 * width && row < height)
    defer { row += 1 }
    switch orientation {
    case .up, .downMirrored:
      let target = orientation == .up ? row : height - 1 - row
      unsafe pixels.rows(from: target, count: 1, width: width).copyMemory(from: source)
    case .upMirrored, .down:
      let target = unsafe pixels.rows(from: orientation == .down ? height - 1 - row : row, count: 1, width: width)
      for x in 0..<width {
        // Both are one row of `width` pixels.
        let pixel = unsafe source.loadUnaligned(fromByteOffset: x * 4, as: UInt32.self)
        unsafe target.storeBytes(of: pixel, toByteOffset: (width - 1 - x) * 4, as: UInt32.self)
      }
    case .leftMirrored, .right, .rightMirrored, .left:
      for x in 0..<width { unsafe strip.append(source.loadUnaligned(fromByteOffset: x * 4, as: UInt32.self)) }
      if strip.count == Self.stripHeight * width { flush(endingAt: row + 1) }
    }
  }

  /// Writes what is gathered and makes the rows that never came transparent.
  mutating func finish() {
    rowsGiven = row
    if !strip.isEmpty { flush(endingAt: row) }
    guard row < height else { return }
    let missing = [UInt32](repeating: 0, count: width)
    unsafe missing.withUnsafeBytes { bytes in
      while row < height { unsafe write(bytes) }
    }
    if !strip.isEmpty { flush(endingAt: row) }
  }

  private mutating func flush(endingAt end: Int) {
    let count = strip.count / width
    let first = end - count
    // Stored column x is an upright row; the strip's rows are neighbours in it.
    for x in 0..<width {
      for index in 0..<count {
        let place = orientation.upright(x: x, y: first + index, width: width, height: height)
        // The upright bitmap is `height` pixels wide here.
        unsafe pixels.storeBytes(
          of: strip[index * width + x],
          toByteOffset: (place.y * height + place.x) * 4,
          as: UInt32.self,
        )
      }
    }
    strip.removeAll(keepingCapacity: true)
  }
}

extension UnsafeMutableRawBufferPointer {
  /// Makes all bytes zero.
  fileprivate func clear() { unsafe initializeMemory(as: UInt8.self, repeating: 0) }
}
