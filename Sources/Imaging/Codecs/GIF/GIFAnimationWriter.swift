import VitrineRuntime

/// Writes an animation frame by frame.
///
/// A frame is written once the next one is known, which says what must become transparent again. Then the earlier frame
/// is disposed of as a whole, and the next one drawn anew. Otherwise frames stay, and only the rectangle that changes is
/// written, with the transparent colour for those of its pixels that stay.
struct GIFAnimationWriter {
  private let input: EncoderInput
  private let options: GIFOptions
  private let loopCount: Int
  private let width: Int
  private let height: Int

  /// The frame that is not written yet; `nil` before the first.
  private var held: Bitmap?
  /// The rectangle in which it differs from what is shown before it.
  private var area: PixelRegion
  /// The pixels in which it differs, and room for the frame after it.
  private var (changes, next): (PixelMask, PixelMask)
  private var clock = GIFClock()

  private var blocks: GIFBlocks?
  /// The colours of the file, and those of the last frame that has others.
  private var (shared, own): (GIFColors?, GIFColors?)

  /// Begins an animation of frames of the size of the first.
  init(_ first: Bitmap, loopCount: Int, _ input: EncoderInput, _ options: GIFOptions) {
    (self.input, self.options, self.loopCount) = (input, options, loopCount)
    (width, height) = (first.width, first.height)
    area = PixelRegion(x: 0, y: 0, width: width, height: height)
    changes = PixelMask(width: width, height: height)
    next = PixelMask(width: width, height: height)
  }

  /// Adds a frame with straight alpha, or an opaque one, that is shown for `delay` seconds.
  mutating func add(_ frame: Bitmap, delay: Double) throws(ImageError) {
    guard frame.width == width, frame.height == height else {
      throw ImageError(
        .notEncodable,
        format: .gif,
        "a frame has \(frame.width)x\(frame.height) pixels, the first one \(width)x\(height)",
      )
    }
    guard let held else {
      // All is drawn onto the empty canvas.
      var start = FrameDifference()
      start.redraw(area, of: frame, changes)
      clock.begin(delay)
      self.held = frame
      return
    }
    // Of more than 50 frames a second some are left out, so that the others come at the right time.
    guard clock.hasRoom(for: delay) else { return clock.skip(delay) }
    var difference = FrameDifference(from: held, to: frame, next)
    if difference.changed == nil, difference.cleared == nil, clock.extend(delay) { return }
    try write(held, clearing: difference.cleared)
    if difference.cleared != nil { difference.redraw(area, of: frame, next) }
    // A frame without a change shows for longer what is there.
    area = difference.changed ?? PixelRegion(x: 0, y: 0, width: 1, height: 1)
    swap(&changes, &next)
    self.held = frame
    clock.begin(delay)
  }

  /// Ends the file.
  mutating func finish() throws(ImageError) -> Data {
    if let held { try write(held, clearing: nil) }
    return blocks?.finish() ?? Data()
  }

  /// Writes the frame that is held.
  ///
  /// If there is something to be cleared after it, ``area`` grows to have it in it.
  private mutating func write(_ frame: Bitmap, clearing cleared: PixelRegion?) throws(ImageError) {
    area = PixelRegion.union(area, cleared) ?? area
    let (picture, colors) = try drawn(DrawnPixels(frame, in: area, mask: changes))
    if shared == nil {
      shared = colors
      var first = GIFBlocks(width: width, height: height, colors.table)
      first.append(loopCount: loopCount)
      if let xmp = input.xmp { first.append(xmp: xmp) }
      blocks = first
    } else if colors !== shared {
      own = colors
    }
    let table = colors === shared ? nil : colors.table
    blocks?.append(picture, at: area, table, delay: clock.finish(), cleared == nil ? .keep : .background)
  }

  /// Draws a frame in the way that takes the fewest bytes and loses the least.
  private func drawn(_ pixels: DrawnPixels) throws(ImageError) -> (GIFPicture, GIFColors) {
    var best = try drawn(pixels, leavesOut: pixels.leavesOut())
    let whole = pixels.unmasked()
    // What stays may as well be drawn again. That is worth while if it loses nothing, or there are hardly any colours.
    guard best.mayBeExact || hasFewColors, pixels.leavesOut(), !whole.leavesOut() else {
      return (best.picture, best.colors)
    }
    let other = try drawn(whole, leavesOut: false)
    let isBetter = other.isExact && (!best.isExact || other.byteCount < best.byteCount)
    if isBetter || !best.isExact && hasFewColors { best = other }
    return (best.picture, best.colors)
  }

  /// True if a colour for what stays would be missed by what changes.
  private var hasFewColors: Bool { options.colorCount <= 4 }

  private struct Drawing {
    let picture: GIFPicture
    let colors: GIFColors
    let isExact: Bool
    /// True if it is exact, or would be without the transparent colour.
    let mayBeExact: Bool
    let byteCount: Int
  }

  private func drawn(_ pixels: DrawnPixels, leavesOut: Bool) throws(ImageError) -> Drawing {
    var counts = ColorCounts(pixelCount: pixels.area.width * pixels.area.height)
    let check = { () throws(ImageError) in try input.checkCancellation() }
    try counts.add(pixels, check)
    // Later frames need an entry for what stays, unless the first has use for all.
    let isFull = hasFewColors || counts.isExact && counts.count == options.colorCount
    let isTransparent = leavesOut || shared == nil && !isFull
    let limit = options.colorCount - (isTransparent ? 1 : 0)
    let usable = [shared, own].compactMap { $0 }.filter { colors in
      !leavesOut || colors.hasTransparent && colors.palette.colors.count < options.colorCount
    }
    guard counts.isExact, counts.count <= limit else {
      var fitting: GIFColors?
      for colors in usable where fitting == nil {
        let limit = max(Self.unseenError, colors.palette.error * Self.tolerance)
        if colors.error(of: counts) <= limit { fitting = colors }
      }
      let mayBeExact = counts.isExact && counts.count <= options.colorCount
      if let fitting { return try drawing(pixels, fitting, isExact: false, mayBeExact) }
      let new = try GIFColors(counts, count: limit, withTransparent: isTransparent, check)
      return try drawing(pixels, new, isExact: false, mayBeExact)
    }
    let new = try GIFColors(counts, count: limit, withTransparent: isTransparent, check)
    var best = try drawing(pixels, new, isExact: true, true)
    for colors in usable where colors.hasAll(of: counts) {
      let other = try drawing(pixels, colors, isExact: true, true)
      if other.byteCount < best.byteCount { best = other }
    }
    return best
  }

  private func drawing(
    _ pixels: DrawnPixels,
    _ colors: GIFColors,
    isExact: Bool,
    _ mayBeExact: Bool,
  ) throws(ImageError) -> Drawing {
    let dithering = isExact ? .none : options.dithering ?? .ordered
    let picture = try colors.picture(pixels, dithering) { () throws(ImageError) in try input.checkCancellation() }
    let tableByteCount = colors === shared ? 0 : 3 << colors.table.bits
    return Drawing(
      picture: picture,
      colors: colors,
      isExact: isExact,
      mayBeExact: mayBeExact,
      byteCount: picture.data.count + tableByteCount,
    )
  }

  /// The mean squared error that no palette needs to improve on.
  private static let unseenError = 1.5
  /// The error of another frame's palette, relative to the error of its own frame, up to which it is used again.
  private static let tolerance = 1.25
}

/// The durations of frames in hundredths of a second, whose rounding does not add up.
struct GIFClock {
  /// The most that a frame has room for.
  private static let most = 0xFFFF
  /// Browsers show a frame of less for 0.1 s.
  private static let least = 2

  /// The end of the frames that are written.
  private var written = 0
  /// The end of the frame that is held, to be rounded.
  private var end = 0.0
  /// The end of the frames that are known, of which some were left out.
  private var now = 0.0

  private var rounded: Int { min(max(Int(end.rounded()) - written, Self.least), Self.most) }

  private static func hundredths(_ delay: Double) -> Double {
    delay.isFinite ? min(max(delay * 100, 0), Double(most)) : 0
  }

  /// Begins a frame of a duration in seconds.
  mutating func begin(_ delay: Double) {
    now += Self.hundredths(delay)
    end = now
  }

  /// Leaves a frame out.
  mutating func skip(_ delay: Double) { now += Self.hundredths(delay) }

  /// Shows the frame that is held for longer; returns `false` if that is too long.
  mutating func extend(_ delay: Double) -> Bool {
    guard Int((now + Self.hundredths(delay)).rounded()) - written <= Self.most else { return false }
    begin(delay)
    return true
  }

  /// Returns `false` if a frame after the one that is held would end before it can begin.
  func hasRoom(for delay: Double) -> Bool { now + Self.hundredths(delay) >= Double(written + rounded + 1) }

  /// Ends the frame that is held, and returns its duration.
  mutating func finish() -> Int {
    let duration = rounded
    written += duration
    return duration
  }
}
