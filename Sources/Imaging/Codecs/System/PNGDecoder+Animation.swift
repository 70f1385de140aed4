import VitrineRuntime

extension PNGDecoder {
  /// Reads the duration of each frame, in seconds, from the file's chunks.
  public func frameDelays(of bytes: UnsafeRawBufferPointer, _ info: ImageInfo) throws(ImageError) -> [Double] {
    unsafe PNGHeader.delays(ByteReader(bytes))
  }

  /// Returns the first frame of an animation; `nil` if the animation is broken, so that its default picture is shown.
  func firstFrame(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> HeldRows? {
    do throws(ImageError) {
      return try unsafe composed(bytes, request)
    } catch {
      guard error.code == .corrupt else { throw error }
      return nil
    }
  }

  /// Draws the default picture in place of an animation whose first frame is broken.
  private func drawDefaultPicture(
    _ bytes: UnsafeRawBufferPointer,
    _ request: RowRequest,
    into pixels: UnsafeMutableRawBufferPointer,
  ) throws(ImageError) {
    let reader = try unsafe PNGReader(bytes, limits: request.limits, format: .apng)
    let (width, height) = (request.info.storedWidth, request.info.storedHeight)
    guard reader.width == width, reader.height == height else { throw PNGAnimation.corrupt("two headers disagree") }
    for _ in 0..<(reader.isInterlaced ? 7 : 1) {
      var row = 0
      while row < height {
        try request.control.check()
        let count = min(64, height - row)
        let rows = unsafe pixels.rows(from: row, count: count, width: width)
        row += try unsafe reader.read(into: rows, bytesPerRow: width * 4, count: count, row: row)
      }
    }
  }

  /// Returns one frame of an animation, composed with the frames before it.
  func composed(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> HeldRows {
    let (width, height) = (request.info.storedWidth, request.info.storedHeight)
    try request.limits.check(heldWidth: width, height: height, format: .apng)
    let animation = try unsafe PNGAnimation(ByteReader(bytes), request.info, through: request.frame)
    let start = animation.start(for: request.frame)
    let drawn = animation.frames[start...request.frame]
    let pixelCount = drawn.reduce(0) { $0 + $1.width * $1.height }
    try request.limits.check(composed: pixelCount, format: .apng)
    let leavesHoles =
      !animation.frames[start].covers(width, height) || drawn.dropLast().contains { $0.disposal != .none }
    let hasAlpha = request.info.hasAlpha || leavesHoles
    return unsafe HeldRows(width: width, height: height, hasAlpha: hasAlpha) { (pixels, wholeRows) throws(ImageError) in
      var canvas = unsafe PNGCanvas(pixels, width: width)
      for frame in drawn.dropLast() {
        try canvas.draw(frame, of: animation, request)
        canvas.dispose(frame)
      }
      // If the last frame is truncated, the previous picture stays.
      wholeRows = height
      guard let frame = drawn.last else { return }
      do throws(ImageError) {
        try canvas.draw(frame, of: animation, request)
      } catch {
        guard request.frame == 0, error.code == .corrupt,
          (try? unsafe drawDefaultPicture(bytes, request, into: pixels)) != nil
        else { throw error }
      }
    }
  }
}

/// The composed picture of an APNG, as a viewer shows it.
@safe
private struct PNGCanvas {
  private static let batch = 16

  private let width: Int
  /// RGBA in memory order, with straight alpha: the memory of the caller, which outlives the canvas.
  private let pixels: UnsafeMutableBufferPointer<UInt32>
  private var saved: [UInt32] = []

  init(_ pixels: UnsafeMutableRawBufferPointer, width: Int) {
    self.width = width
    unsafe self.pixels = pixels.bindMemory(to: UInt32.self)
  }

  mutating func draw(
    _ frame: PNGAnimation.Frame,
    of animation: PNGAnimation,
    _ request: RowRequest,
  ) throws(ImageError) {
    saved = []
    if frame.disposal == .previous { saved = unsafe Array(pixels) }
    let file = animation.file(of: frame)
    let result: Result<Void, ImageError> = unsafe file.withUnsafeBytes { bytes in
      do throws(ImageError) {
        return .success(try unsafe draw(frame, bytes, request))
      } catch {
        return .failure(error)
      }
    }
    try result.get()
  }

  private mutating func draw(
    _ frame: PNGAnimation.Frame,
    _ file: UnsafeRawBufferPointer,
    _ request: RowRequest,
  ) throws(ImageError) {
    // `file` outlives the reader, which ends with this call.
    let reader = try unsafe PNGReader(file, limits: request.limits, format: .apng)
    guard reader.width == frame.width, reader.height == frame.height else {
      throw PNGAnimation.corrupt("two headers disagree")
    }
    let source: any RowSource = reader.isInterlaced ? reader.interlacedRows(request.control) : PNGRows(reader)
    var lines = [UInt32](repeating: 0, count: frame.width * Self.batch)
    var row = 0
    while row < frame.height {
      try request.control.check()
      let count = min(Self.batch, frame.height - row)
      let got: Result<Int, ImageError> = unsafe lines.withUnsafeMutableBytes { bytes in
        do throws(ImageError) {
          return .success(try unsafe source.read(into: bytes, bytesPerRow: frame.width * 4, count: count))
        } catch {
          return .failure(error)
        }
      }
      let rows = try got.get()
      guard rows > 0 else { throw PNGAnimation.corrupt("a frame lacks its last rows") }
      for line in 0..<rows { blend(frame, lines[line * frame.width..<(line + 1) * frame.width], row + line) }
      row += rows
    }
    if let damage = source.damage { throw damage }
  }

  private func blend(_ frame: PNGAnimation.Frame, _ line: ArraySlice<UInt32>, _ row: Int) {
    var target = (frame.top + row) * width + frame.left
    for source in line {
      // `PNGAnimation` has checked that the frame is within the picture.
      unsafe pixels[target] = frame.blend == .source ? source : Self.over(source, pixels[target])
      target += 1
    }
  }

  private static func over(_ source: UInt32, _ below: UInt32) -> UInt32 {
    let (top, bottom) = (UInt32(bigEndian: source), UInt32(bigEndian: below))
    let coverage = top & 255
    if coverage == 255 || bottom & 255 == 0 { return source }
    if coverage == 0 { return below }
    let (share, rest) = (coverage * 255, (bottom & 255) * (255 - coverage))
    let whole = share + rest
    var color = (whole + 127) / 255
    for shift in [8, 16, 24] as [UInt32] {
      let mixed = ((top >> shift & 255) * share + (bottom >> shift & 255) * rest + whole / 2) / whole
      color |= mixed << shift
    }
    return UInt32(bigEndian: color)
  }

  /// Disposes of the last frame as it asks.
  func dispose(_ frame: PNGAnimation.Frame) {
    switch frame.disposal {
    case .none: break
    case .previous: for index in saved.indices { unsafe pixels[index] = saved[index] }
    case .background:
      for row in frame.top..<frame.top + frame.height {
        for x in frame.left..<frame.left + frame.width { unsafe pixels[row * width + x] = 0 }
      }
    }
  }
}
