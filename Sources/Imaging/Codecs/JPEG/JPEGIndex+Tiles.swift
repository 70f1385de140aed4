extension JPEGIndex {
  /// Decodes a tile of a level.
  ///
  /// Blocks until done.
  ///
  /// Level 0 equals the picture; the others are its averages, as ``TilePyramid`` makes them. The decoder halves up to
  /// `halvings` times itself, which is faster and keeps a little less of the finest detail.
  ///
  /// - Parameters:
  ///   - tile: The tile, at level 0 or above.
  ///   - grid: The grid of the picture.
  ///   - halvings: The number of times that the decoder may halve the picture, 0 to 3.
  ///   - options: The options; size and region are ignored.
  /// - Returns: The upright pixels.
  /// - Throws: The same as ``decode(_:)``.
  package func tile(
    _ tile: TilePlace,
    of grid: TileGrid,
    halvings: Int,
    _ options: DecodeOptions,
  ) throws(ImageError) -> Bitmap {
    guard let upright = grid.region(of: tile), tile.level >= 0 else {
      throw ImageError(.invalidSize, format: .jpeg, "no tile \(tile.column), \(tile.row) at level \(tile.level)")
    }
    let control = DecodeControl(isCancelled: options.isCancelled, timeLimit: options.limits.timeLimit)
    try control.check()
    let size = grid.size(of: tile.level)
    let levelSize = info.orientation.applied(width: size.width, height: size.height)
    let stored = info.orientation.stored(upright, width: levelSize.width, height: levelSize.height)
    let factor = 1 << tile.level
    let region = PixelRegion(
      x: stored.x * factor,
      y: stored.y * factor,
      width: min(stored.width * factor, info.storedWidth - stored.x * factor),
      height: min(stored.height * factor, info.storedHeight - stored.y * factor),
    )
    let level = min(halvings, tile.level)
    // The bytes as they are, those of the patch, and the tile.
    try options.limits.check(memory: 4 * region.width * region.height, of: info)
    let patch = try patch(region, control)
    return try unsafe patch.data.withImageBytes { (bytes) throws(ImageError) in
      var own = ImageInfo(format: .jpeg, storedWidth: patch.part.width, storedHeight: patch.part.height)
      own.streamsRows = true
      let request = RowRequest(
        info: own,
        minimumScale: 1 / Double(1 << level),
        limits: options.limits,
        control: control,
      )
      guard let rows = try unsafe JPEGDecoder(ownDecoderMinimum: 0).open(bytes, request) else {
        throw ImageError(.unsupported, format: .jpeg, "an unsupported kind of JPEG")
      }
      // The patch begins at a unit of the file, so that no level rounds its start.
      let scale = 1 << level
      let part = PixelRegion(
        x: (region.x - patch.part.x) / scale,
        y: (region.y - patch.part.y) / scale,
        width: TileGrid.reduced(region.width, by: level),
        height: TileGrid.reduced(region.height, by: level),
      )
      return try render(rows, part, tile, upright, level, options, control)
    }
  }

  /// Halves a part of rows as often as the tile's level asks, and turns it.
  private func render(
    _ rows: any RowSource,
    _ part: PixelRegion,
    _ tile: TilePlace,
    _ upright: PixelRegion,
    _ level: Int,
    _ options: DecodeOptions,
    _ control: DecodeControl,
  ) throws(ImageError) -> Bitmap {
    let whole = info.orientation.applied(width: part.width, height: part.height)
    let pyramid = TilePyramid(
      TileGrid(width: whole.width, height: whole.height),
      base: 0,
      top: tile.level - level,
      info.orientation,
      hasAlpha: false,
      options.colorSpace,
      canvas: nil,
    ) { $0.level == tile.level - level }
    let transform = ColorTransform(of: rows, info, to: options.colorSpace)
    var result: Bitmap?
    let bytesPerRow = rows.width * 4
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytesPerRow * Renderer.batch, alignment: 64)
    defer { unsafe memory.deallocate() }
    var row = 0
    while row < part.y + part.height {
      try control.check()
      let count = min(Renderer.batch, part.y + part.height - row)
      let got = try unsafe rows.read(into: memory, bytesPerRow: bytesPerRow, count: count)
      guard got > 0 else { throw ImageError(.truncated, format: .jpeg, "truncated: the tile ends at row \(row)") }
      for index in 0..<got where row + index >= part.y {
        let line = unsafe memory.rows(from: index, count: 1, width: rows.width)
        // The slice checks the bounds.
        let shown = unsafe UnsafeMutableRawBufferPointer(rebasing: line[part.x * 4..<(part.x + part.width) * 4])
        unsafe transform?.apply(to: MutableElements(shown))
        try unsafe pyramid.push(UnsafeRawBufferPointer(shown)) { (_, bitmap) in result = bitmap }
      }
      row += got
    }
    if !options.acceptsPartial, let damage = rows.damage { throw damage }
    guard let result, result.width == upright.width, result.height == upright.height else {
      throw ImageError(.corrupt, format: .jpeg, "corrupt: the tile has another size")
    }
    return result
  }
}

extension Orientation {
  /// Returns the stored region of an upright one; `width` and `height` are the stored size.
  func stored(_ region: PixelRegion, width: Int, height: Int) -> PixelRegion {
    var result =
      swapsAxes
      ? PixelRegion(x: region.y, y: region.x, width: region.height, height: region.width) : region
    if mirrorsStoredColumns { result.x = width - result.x - result.width }
    if mirrorsStoredRows { result.y = height - result.y - result.height }
    return result
  }
}
