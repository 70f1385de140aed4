// Pictures of high dynamic range: cropped and resampled with 16 bits a component, then measured, then converted.
extension Renderer {
  /// Renders rows as ``render(_:acceptsPartial:)`` does, holding eight more bytes for each pixel of the result.
  ///
  /// White is the peak that the file says, or else the measured peak of the pixels of the result.
  func render(_ source: HighRangeRows, acceptsPartial: Bool) throws(ImageError) -> RenderedRows {
    let (width, height) = info.orientation.applied(width: plan.width, height: plan.height)
    let picture = HighRangePicture(width: width, height: height)
    var damage: ImageError?
    do throws(ImageError) {
      try fill(picture, from: source)
    } catch {
      guard acceptsPartial, error.isDamage else { throw error }
      damage = error
    }
    let measured = { measuresPeak ? ToneMap.peak(of: picture.pixels, source.colors, to: colorSpace) : nil }
    let peak = source.colors.peak ?? measured() ?? HighRangeColors.nominalPeak
    let map = ToneMap(source.colors, peak: peak, to: colorSpace)
    var gains = makesGainMap && damage == nil ? GainMeter(width: width, height: height, map, peak: peak) : nil
    let bitmap = try Bitmap.writing(
      width: plan.width,
      height: plan.height,
      alpha: source.hasAlpha || picture.rowCount < height ? .straight : .opaque,
      colorSpace: colorSpace,
      storage: storage(4 * plan.width * plan.height),
    ) { (pixels) throws(ImageError) in
      var writer = UprightWriter<UInt32>(pixels, plan, info.orientation)
      let line = OwnedElements<UInt8>(repeating: 0, count: 4 * width)
      for row in 0..<picture.rowCount {
        if row % Self.batch == 0 { try control.check() }
        map.apply(picture.row(row).elements, into: line.elements)
        gains?.add(picture.row(row).elements, shownAs: line.elements.elements)
        writer.write(line.elements.elements)
      }
      writer.finish()
    }
    return RenderedRows(
      bitmap: bitmap,
      damage: damage,
      shown: Double(picture.rowCount) / Double(height),
      gainMap: try gains?.gainMap(info.orientation, colorSpace),
    )
  }

  /// Makes the pixels of the result in stored orientation.
  private func fill(_ picture: HighRangePicture, from source: HighRangeRows) throws(ImageError) {
    let crop = info.orientation.stored(plan.crop, width: Double(info.storedWidth), height: Double(info.storedHeight))
    if let part = try part(of: source, crop, width: picture.width, height: picture.height) {
      var row = 0
      try forEachRow(source, through: part.y + part.height - 1) { line in
        if row >= part.y { picture.add(line.extracting(part.x * 4..<(part.x + part.width) * 4).elements) }
        row += 1
      }
    } else {
      let resampler = try resampler(of: source, crop, width: picture.width, height: picture.height, isWide: true)
      try forEachRow(source, through: resampler.lastRow) { (line) throws(ImageError) in
        try resampler.push(wide: line.elements) { (finished) throws(ImageError) in
          if picture.rowCount % Self.batch == 0 { try control.check() }
          picture.add(finished)
        }
      }
    }
  }

  private func forEachRow(
    _ source: HighRangeRows,
    through last: Int,
    _ body: (MutableElements<UInt16>) throws(ImageError) -> Void,
  ) throws(ImageError) {
    let length = 4 * source.width
    let memory = OwnedElements<UInt16>(repeating: 0, count: length * Self.batch)
    var row = 0
    while row <= last {
      try control.check()
      let got = try source.read(wide: memory.elements, count: min(Self.batch, last + 1 - row))
      guard got > 0 else { throw ended(row, source.height) }
      for index in 0..<got { try body(memory.elements.extracting(index * length..<(index + 1) * length)) }
      row += got
    }
    if let damage = source.damage { throw damage }
  }
}

/// Pixels of 16 bits a component, straight alpha, which are added row by row.
private final class HighRangePicture {
  let width: Int
  private let memory: OwnedElements<UInt16>
  let height: Int
  private(set) var rowCount = 0

  init(width: Int, height: Int) {
    (self.width, self.height) = (width, height)
    memory = OwnedElements(repeating: 0, count: 4 * width * height)
  }

  /// The pixels of the rows that were added.
  var pixels: Elements<UInt16> { memory.elements.extracting(0..<4 * width * rowCount).elements }

  func row(_ row: Int) -> MutableElements<UInt16> {
    memory.elements.extracting(4 * width * row..<4 * width * (row + 1))
  }

  func add(_ pixels: Elements<UInt16>) {
    row(rowCount).update(from: pixels)
    rowCount += 1
  }
}
