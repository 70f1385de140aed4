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
    let (width, height) = (request.info.storedWidth, request.info.storedHeight)
    let source = try unsafe Self.openPicture(bytes, request.unscaled, width: width, height: height)
    var row = 0
    while row < height {
      try request.control.check()
      let count = min(64, height - row)
      let rows = unsafe pixels.rows(from: row, count: count, width: width)
      let got = try unsafe source.read(into: rows, bytesPerRow: width * 4, count: count)
      guard got > 0 else { throw PNGAnimation.corrupt("the default picture lacks its last rows") }
      row += got
    }
    if let damage = source.damage { throw damage }
  }

  /// Returns one frame of an animation, composed with the frames before it.
  func composed(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> HeldRows {
    let (width, height) = (request.info.storedWidth, request.info.storedHeight)
    try request.limits.check(heldWidth: width, height: height, format: .apng)
    let animation = try unsafe PNGAnimation(ByteReader(bytes), request.info, through: request.frame)
    let start = animation.start(for: request.frame)
    let drawn = animation.frames[start...request.frame]
    let pixelCount = drawn.reduce(0) { $0 + $1.place.width * $1.place.height }
    try request.limits.check(composed: pixelCount, format: .apng)
    let leavesHoles =
      !animation.frames[start].place.covers(width, height) || drawn.dropLast().contains { $0.place.disposal != .none }
    let hasAlpha = request.info.hasAlpha || leavesHoles
    return unsafe HeldRows(width: width, height: height, hasAlpha: hasAlpha) { (pixels, wholeRows) throws(ImageError) in
      var canvas = unsafe FrameCanvas(pixels, width: width, height: height)
      for frame in drawn.dropLast() {
        try Self.draw(frame, of: animation, onto: &canvas, request)
        canvas.dispose(frame.place)
      }
      // If the last frame is truncated, the previous picture stays.
      wholeRows = height
      guard let frame = drawn.last else { return }
      do throws(ImageError) {
        try Self.draw(frame, of: animation, onto: &canvas, request)
      } catch {
        guard request.frame == 0, error.code == .corrupt,
          (try? unsafe drawDefaultPicture(bytes, request, into: pixels)) != nil
        else { throw error }
      }
    }
  }

  private static func draw(
    _ frame: PNGAnimation.Frame,
    of animation: PNGAnimation,
    onto canvas: inout FrameCanvas,
    _ request: RowRequest,
  ) throws(ImageError) {
    let place = frame.place
    // The file outlives the rows, which end with the closure.
    try unsafe animation.file(of: frame).withImageBytes { (bytes) throws(ImageError) in
      let source = try unsafe openPicture(bytes, request.unscaled, width: place.width, height: place.height)
      try canvas.draw(place, from: source, format: .apng, request.control)
    }
  }
}
