/// The result of rendering rows.
struct RenderedRows {
  let bitmap: Bitmap
  /// The reason why rows are missing, where that is accepted.
  let damage: ImageError?
  /// The share of the picture's rows that were decoded: 1 without damage.
  let shown: Double
  /// The gains of a picture of high dynamic range over ``bitmap``, if they are wanted.
  var gainMap: GainMap?
}

/// Makes a bitmap from rows: crops, resamples and orients them on the way, holding a few at a time.
struct Renderer {
  /// The number of rows read at once: enough for libjpeg to decode whole blocks, few enough to stay in a core's
  /// cache.
  static let batch = 16
  /// The most pixels that are made between two checks for cancellation.
  private static let pixelsPerCheck = 1 << 16

  let info: ImageInfo
  let plan: SamplingPlan
  let control: DecodeControl
  var resampling = ResamplingOptions()
  var colorSpace = ColorSpace.sRGB
  /// False if a result of high dynamic range must fit others of the same file: tiles, or frames.
  var measuresPeak = true
  /// True if the result of a picture of high dynamic range has a gain map.
  var makesGainMap = false
  /// Returns storage of a number of bytes for the pixels of the result; `nil` to use other memory.
  var storage: (Int) -> PixelStorage? = { _ in nil }

  /// Renders the rows.
  ///
  func render(_ source: any RowSource, acceptsPartial: Bool) throws(ImageError) -> RenderedRows {
    if source.isUpright, info.orientation != .up {
      return try oriented().render(source, acceptsPartial: acceptsPartial)
    }
    // An image that is damaged and must be whole needs no rendering.
    if !acceptsPartial, let damage = source.damage { throw damage }
    if let source = source as? HighRangeRows { return try render(source, acceptsPartial: acceptsPartial) }
    let height = info.orientation.applied(width: plan.width, height: plan.height).height
    let transform = ColorTransform(of: source, info, to: colorSpace)
    var damage: ImageError?
    var wholeRows = 0
    let bitmap = try Bitmap.writing(
      width: plan.width,
      height: plan.height,
      alpha: source.hasAlpha ? .straight : .opaque,
      colorSpace: colorSpace,
      storage: storage(4 * plan.width * plan.height),
    ) { (pixels) throws(ImageError) in
      do throws(ImageError) {
        if isWhole(source), info.orientation == .up {
          try copy(source, transform, into: pixels, &wholeRows)
        } else {
          var writer = UprightWriter<UInt32>(pixels, plan, info.orientation)
          defer { wholeRows = writer.rowsGiven }
          try write(source, transform, &writer)
        }
      } catch {
        guard acceptsPartial, error.isDamage else { throw error }
        damage = error
      }
    }
    // Missing rows are transparent, even in an opaque image.
    let isCovered = damage == nil || wholeRows == height
    return RenderedRows(
      bitmap: isCovered ? bitmap : bitmap.declared(.straight),
      damage: damage,
      shown: isCovered ? 1 : Double(wholeRows) / Double(height),
    )
  }

  /// Renders gray levels, one byte a pixel; transparent and missing pixels show `background`.
  func renderGray(
    _ source: any RowSource,
    over background: UInt8,
    acceptsPartial: Bool,
  ) throws(ImageError) -> (bitmap: GrayBitmap, damage: ImageError?) {
    if source.isUpright, info.orientation != .up {
      return try oriented().renderGray(source, over: background, acceptsPartial: acceptsPartial)
    }
    if !acceptsPartial, let damage = source.damage { throw damage }
    let transform = ColorTransform(of: source, info, to: colorSpace)
    var damage: ImageError?
    let bitmap = try GrayBitmap(width: plan.width, height: plan.height, storage: storage(plan.width * plan.height)) {
      (pixels) throws(ImageError) in
      do throws(ImageError) {
        var writer = GrayWriter(pixels, plan, info.orientation, over: background, isOpaque: !source.hasAlpha)
        try write(source, transform, &writer)
      } catch {
        guard acceptsPartial, error.isDamage else { throw error }
        damage = error
      }
    }
    return (bitmap, damage)
  }

  /// Returns the renderer of rows that are upright already.
  private func oriented() -> Renderer {
    Renderer(
      info: info.upright,
      plan: plan,
      control: control,
      resampling: resampling,
      colorSpace: colorSpace,
      measuresPeak: measuresPeak,
      makesGainMap: makesGainMap,
      storage: storage,
    )
  }

  /// Returns `true` if all rows of a source are rows of the output.
  private func isWhole(_ source: any RowSource) -> Bool {
    let (width, height) = info.orientation.applied(width: plan.width, height: plan.height)
    return source.width == width && source.height == height && plan.crop.width == Double(info.width)
      && plan.crop.height == Double(info.height)
  }

  /// Makes rows of the output, in stored orientation, and passes them to a writer.
  private func write(
    _ source: any RowSource,
    _ transform: ColorTransform?,
    _ writer: inout some RowWriter,
  ) throws(ImageError) {
    // From here on in the source's geometry: not oriented yet, and possibly downsampled by the decoder.
    let crop = info.orientation.stored(plan.crop, width: Double(info.storedWidth), height: Double(info.storedHeight))
    let (width, height) = info.orientation.applied(width: plan.width, height: plan.height)
    if isWhole(source) {
      try forEachRow(source, through: height - 1, &writer) { (row, writer) throws(ImageError) in
        transform?.apply(to: row)
        writer.write(row.elements)
      }
    } else if let part = try part(of: source, crop, width: width, height: height) {
      try cut(part, of: source, transform, &writer)
    } else {
      try resample(source, transform, crop: crop, width: width, height: height, &writer)
    }
  }

  /// Copies rows that need no rendering.
  private func copy(
    _ source: any RowSource,
    _ transform: ColorTransform?,
    into pixels: MutableElements<UInt8>,
    _ wholeRows: inout Int,
  ) throws(ImageError) {
    let (width, height) = (source.width, source.height)
    if let held = source as? HeldRows {
      let result = held.decode(into: pixels)
      wholeRows = result.wholeRows
      transform?.apply(to: pixels)
      guard let failure = result.failure else {
        if let damage = held.damage { throw damage }
        return
      }
      pixels.rows(from: wholeRows, count: height - wholeRows, width: width).update(repeating: 0)
      throw failure
    }
    var row = 0
    while row < height {
      do throws(ImageError) {
        try control.check()
        let count = min(Self.batch, height - row)
        let got = try source.read(
          into: pixels.rows(from: row, count: count, width: width),
          bytesPerRow: width * 4,
          count: count,
        )
        guard got > 0 else { throw ended(row, height) }
        transform?.apply(to: pixels.rows(from: row, count: got, width: width))
        row += got
        wholeRows = row
      } catch {
        pixels.rows(from: row, count: height - row, width: width).update(repeating: 0)
        throw error
      }
    }
    if let damage = source.damage { throw damage }
  }

  /// Returns the delivered pixels that are the output without filtering; `nil` if they must be filtered.
  func part(
    of source: any RowSource,
    _ crop: PixelRect,
    width: Int,
    height: Int,
  ) throws(ImageError) -> PixelRegion? {
    guard source.extentWidth == Double(info.storedWidth), source.extentHeight == Double(info.storedHeight),
      let x = Int(exactly: crop.x), let y = Int(exactly: crop.y), crop.width == Double(width),
      crop.height == Double(height)
    else { return nil }
    let part = PixelRegion(x: x - source.origin.x, y: y - source.origin.y, width: width, height: height)
    guard part.x >= 0, part.y >= 0, part.x + width <= source.width, part.y + height <= source.height else {
      throw lacks(source)
    }
    return part
  }

  private func cut(
    _ part: PixelRegion,
    of source: any RowSource,
    _ transform: ColorTransform?,
    _ writer: inout some RowWriter,
  ) throws(ImageError) {
    var row = 0
    try forEachRow(source, through: part.y + part.height - 1, &writer) { (line, writer) throws(ImageError) in
      if row >= part.y {
        let shown = line.extracting(part.x * 4..<(part.x + part.width) * 4)
        transform?.apply(to: shown)
        writer.write(shown.elements)
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
    _ writer: inout some RowWriter,
  ) throws(ImageError) {
    let resampler = try resampler(of: source, crop, width: width, height: height)
    var unchecked = 0
    try forEachRow(source, through: resampler.lastRow, &writer) { (row, writer) throws(ImageError) in
      try resampler.push(row.elements) { (finished) throws(ImageError) in
        // Enlarging makes many rows of a few.
        unchecked += width
        if unchecked > Self.pixelsPerCheck {
          unchecked = 0
          try control.check()
        }
        transform?.apply(to: finished)
        writer.write(finished.elements)
      }
    }
  }

  /// Returns the resampler from the rows of a source to the output.
  func resampler(
    of source: any RowSource,
    _ crop: PixelRect,
    width: Int,
    height: Int,
    isWide: Bool = false,
  ) throws(ImageError) -> Resampler {
    let scaleX = source.extentWidth / Double(info.storedWidth)
    let scaleY = source.extentHeight / Double(info.storedHeight)
    let (left, top) = (crop.x * scaleX - Double(source.origin.x), crop.y * scaleY - Double(source.origin.y))
    // Half a pixel for rounding.
    guard left >= -0.5, top >= -0.5, left + crop.width * scaleX <= Double(source.width) + 0.5,
      top + crop.height * scaleY <= Double(source.height) + 0.5
    else { throw lacks(source) }
    return Resampler(
      Resampler.Source(
        width: source.width,
        height: source.height,
        crop: PixelRect(
          x: left,
          y: top,
          width: crop.width * scaleX,
          height: crop.height * scaleY,
        ),
        layout: source.colorModel == .cmyk ? .ink : source.hasAlpha ? .colorAndAlpha : .color,
        averaged: source.isAveraged ? max(1, 1 / max(scaleX, scaleY)) : 1,
      ),
      outputWidth: width,
      outputHeight: height,
      options: resampling,
      isWide: isWide,
    )
  }

  /// Reads rows up to `last` and calls `body` with each.
  ///
  /// Finishes the writer even if the file is damaged.
  private func forEachRow<Writer: RowWriter>(
    _ source: any RowSource,
    through last: Int,
    _ writer: inout Writer,
    _ body: (MutableElements<UInt8>, inout Writer) throws(ImageError) -> Void,
  ) throws(ImageError) {
    let bytesPerRow = source.width * 4
    let memory = OwnedElements<UInt8>(repeating: 0, count: bytesPerRow * Self.batch)
    let rows = memory.elements
    var row = 0
    do throws(ImageError) {
      while row <= last {
        try control.check()
        let got = try source.read(into: rows, bytesPerRow: bytesPerRow, count: min(Self.batch, last + 1 - row))
        guard got > 0 else { throw ended(row, source.height) }
        for index in 0..<got {
          try body(rows.rows(from: index, count: 1, width: source.width), &writer)
        }
        row += got
      }
      if let damage = source.damage { throw damage }
    } catch {
      // Pixels without a use need not be cleared, which takes 7 ms for 3 megapixels.
      if error.isDamage { writer.finish() }
      throw error
    }
    writer.finish()
  }

  /// The error of a source that has skipped pixels that are needed.
  private func lacks(_ source: any RowSource) -> ImageError {
    .impossible(info.format, "\(source.width)x\(source.height) pixels at \(source.origin.x),\(source.origin.y)")
  }

  func ended(_ row: Int, _ height: Int) -> ImageError {
    ImageError(.truncated, format: info.format, "truncated: the picture ends at row \(row) of \(height)")
  }
}
