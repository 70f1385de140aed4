import VitrineRuntime

/// The facts about rows that are about to be read.
package struct RowHead: Sendable {
  /// The facts of the picture, or of the frame.
  package let info: ImageInfo
  /// The orientation of the rows.
  package let orientation: Orientation
  /// The number of times that the decoder has halved the picture.
  package let level: Int
  /// A Boolean value that indicates whether the rows have alpha, which is straight.
  package let hasAlpha: Bool
}

/// Takes the rows of a picture one after another.
package protocol RowTaking {
  /// Called once, before the first row.
  mutating func begin(_ head: RowHead) throws(ImageError)

  /// Takes a row in stored orientation and in the requested colours: RGBA with straight alpha.
  mutating func take(_ row: UnsafeRawBufferPointer) throws(ImageError)
}

extension DecoderRegistry {
  /// Reads all rows of a picture without holding it.
  ///
  /// Blocks until done. The limits on the picture and on memory hold; there is none on its output, as nothing is held of
  /// that. A picture that another process decodes comes in parts that are within the limit.
  ///
  /// - Parameters:
  ///   - bytes: The encoded image.
  ///   - options: The options; size, region and quality are ignored.
  ///   - job: The memory of the decode. Defaults to none of its own.
  ///   - level: The number of times that the picture may be halved while it is decoded, 0 to 3. Decoders that cannot,
  ///     do not.
  ///   - held: The bytes that the taker holds.
  ///   - taker: The receiver.
  /// - Returns: The damage that ended the rows early, if `options.acceptsPartial` is set.
  /// - Throws: ``ImageError`` of any code but `.notEncodable`, or the error of the taker.
  package func readRows(
    of bytes: ImageBytes,
    _ options: DecodeOptions,
    _ job: DecodeJob = DecodeJob(),
    level: Int,
    held: Int,
    _ taker: inout some RowTaking,
  ) throws(ImageError) -> ImageError? {
    var job = job
    try job.begin(options)
    let result = try find(bytes, options.limits) { [job] (image) throws(ImageError) -> Result<Void, ImageError>? in
      switch image {
      case .local(let image): try read(from: image, options, level: level, held: held, job, &taker)
      case .remote(let image): try read(from: image, options, job, &taker)
      }
    }
    guard case .failure(let damage) = result else { return nil }
    return damage
  }

  /// Reads the rows that this process decodes; returns `nil` if the decoder declines.
  private func read(
    from image: LocalImage,
    _ options: DecodeOptions,
    level: Int,
    held: Int,
    _ job: DecodeJob,
    _ taker: inout some RowTaking,
  ) throws(ImageError) -> Result<Void, ImageError>? {
    var job = job
    let info = try image.info(ofFrame: options.frame, options.limits)
    func request(_ level: Int) -> RowRequest {
      RowRequest(
        info: info,
        frame: options.frame,
        minimumScale: 1 / Double(1 << level),
        colorSpace: options.colorSpace,
        limits: options.limits,
        control: job.control,
      )
    }
    let memory = try image.memory(request(level))
    let total = memory.total(output: held, decodesInPlace: false).addingSaturating(image.byteCount)
    try options.limits.check(memory: total, of: info)
    try job.hold(total, output: held, of: info)
    guard var rows = try image.open(request(level)) else { return nil }
    var reached = rows.level(of: info)
    if reached == nil {
      // It delivers a size that no level has.
      guard let whole = try image.open(request(0)) else { return nil }
      (rows, reached) = (whole, whole.level(of: info))
    }
    guard let reached else {
      throw ImageError(.unsupported, format: info.format, "the decoder does not deliver the picture's own size")
    }
    let head = RowHead(
      info: info,
      orientation: rows.isUpright ? .up : info.orientation,
      level: reached,
      hasAlpha: rows.hasAlpha,
    )
    return try rows.deliver(head, options, job.control, &taker)
  }

  /// Reads the rows that another process decodes, in as many parts as the limit on an output takes.
  private func read(
    from image: RemoteImage,
    _ options: DecodeOptions,
    _ job: DecodeJob,
    _ taker: inout some RowTaking,
  ) throws(ImageError) -> Result<Void, ImageError>? {
    guard let info = try image.answer(DecodeQuestion(.info, options, job)).info else { return nil }
    var options = options
    (options.size, options.animates, options.dynamicRange) = (nil, false, .standard)
    let most = min(options.limits.outputByteCount, options.limits.memoryByteCount / 2)
    let rowCount = max(1, most / (4 * info.width))
    var damage: ImageError?
    var row = 0
    var height = info.height
    var hasBegun = false
    while row < height {
      options.region = rowCount >= height ? nil : PixelRegion(x: 0, y: row, width: info.width, height: rowCount)
      guard let part = try image.answer(DecodeQuestion(.image, options, job)).image ?? nil else { return nil }
      if !hasBegun {
        let head = RowHead(
          info: part.info,
          orientation: .up,
          level: 0,
          hasAlpha: part.info.hasAlpha || part.bitmap.alpha != .opaque,
        )
        try taker.begin(head)
        (hasBegun, height) = (true, part.info.height)
      }
      try unsafe part.bitmap.withUnsafeBytes { (pixels) throws(ImageError) in
        let bitmap = part.bitmap
        for index in 0..<bitmap.height {
          let start = index * bitmap.bytesPerRow
          // The slice checks the bounds.
          try unsafe taker.take(UnsafeRawBufferPointer(rebasing: pixels[start..<start + 4 * bitmap.width]))
        }
      }
      damage = damage ?? part.damage
      row += part.bitmap.height
    }
    return damage.map { .failure($0) } ?? .success(())
  }
}

extension RowSource {
  /// Returns the number of times that the rows are halved; `nil` if they are of another size.
  fileprivate func level(of info: ImageInfo) -> Int? {
    let (storedWidth, storedHeight) =
      isUpright ? (info.width, info.height) : (info.storedWidth, info.storedHeight)
    guard origin == (0, 0) else { return nil }
    return (0...3).first { level in
      width == TileGrid.reduced(storedWidth, by: level) && height == TileGrid.reduced(storedHeight, by: level)
        && extentWidth == Double(storedWidth) / Double(1 << level)
        && extentHeight == Double(storedHeight) / Double(1 << level)
    }
  }

  /// Passes all rows to a taker; returns the damage that is accepted.
  fileprivate func deliver(
    _ head: RowHead,
    _ options: DecodeOptions,
    _ control: DecodeControl,
    _ taker: inout some RowTaking,
  ) throws(ImageError) -> Result<Void, ImageError> {
    if !options.acceptsPartial, let damage { throw damage }
    let transform = ColorTransform(of: self, head.info, to: options.colorSpace)
    let bytesPerRow = width * 4
    let rows = UnsafeMutableRawBufferPointer.allocate(byteCount: bytesPerRow * Renderer.batch, alignment: 64)
    defer { unsafe rows.deallocate() }
    try taker.begin(head)
    var row = 0
    while row < height {
      try control.check()
      let got: Int
      do throws(ImageError) {
        got = try unsafe read(into: rows, bytesPerRow: bytesPerRow, count: min(Renderer.batch, height - row))
        guard got > 0 else {
          throw ImageError(
            .truncated,
            format: head.info.format,
            "truncated: the picture ends at row \(row) of \(height)",
          )
        }
      } catch {
        guard options.acceptsPartial, error.isDamage else { throw error }
        return .failure(error)
      }
      // Some decoders know it with the first rows: a picture that is only coarse.
      if !options.acceptsPartial, let damage { throw damage }
      for index in 0..<got {
        let line = unsafe rows.rows(from: index, count: 1, width: width)
        unsafe transform?.apply(to: MutableElements(line))
        try unsafe taker.take(UnsafeRawBufferPointer(line))
      }
      row += got
    }
    guard let damage else { return .success(()) }
    guard options.acceptsPartial else { throw damage }
    return .failure(damage)
  }
}
