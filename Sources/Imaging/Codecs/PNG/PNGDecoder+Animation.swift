import VitrineRuntime

extension PNGDecoder {
  /// Reads the duration of each frame, in seconds, from the file's chunks.
  public func frameDelays(of bytes: UnsafeRawBufferPointer, _ info: ImageInfo) throws(ImageError) -> [Double] {
    unsafe PNGHeader.delays(ByteReader(bytes))
  }

  /// Returns the first frame of an animation; `nil` if the animation is broken, so that its default picture is shown.
  func firstFrame(_ bytes: ByteReader, _ request: RowRequest) throws(ImageError) -> HeldRows? {
    do throws(ImageError) {
      return try composed(bytes, request)
    } catch {
      guard error.code == .corrupt else { throw error }
      return nil
    }
  }

  /// Returns one frame of an animation, composed with the frames before it.
  func composed(_ bytes: ByteReader, _ request: RowRequest) throws(ImageError) -> HeldRows {
    try HeldRows.composed(PNGFrames(bytes, request.info, through: request.frame), request)
  }

  /// Opens the frames of an animation.
  package func frames(
    of bytes: UnsafeRawBufferPointer,
    _ info: ImageInfo,
    _ limits: DecodeLimits,
  ) throws(ImageError) -> (any FrameReader)? {
    guard info.format == .apng, info.frameCount > 1 else { return nil }
    return try CanvasFrames(unsafe ByteReader(bytes), info, limits) { (bytes, info) in
      PNGFrames(bytes, info, through: info.frameCount - 1)
    }
  }
}

/// The frames of an APNG, each made a PNG file of its own.
private struct PNGFrames: StoredFrames {
  private let animation: PNGAnimation
  let places: [FramePlace]
  var ending: ImageError { animation.ending }
  private let bytes: ByteReader

  /// `bytes` must stay in place for the life of the frames.
  init(_ bytes: ByteReader, _ info: ImageInfo, through last: Int) {
    self.bytes = bytes
    animation = PNGAnimation(bytes, info, through: last)
    places = animation.frames.map(\.ownPlace)
  }

  func draw(_ frame: Int, onto canvas: inout FrameCanvas, _ request: RowRequest) throws(ImageError) {
    do throws(ImageError) {
      try drawOwn(frame, onto: &canvas, request)
    } catch {
      // The default picture stands for an animation whose first frame is broken.
      guard frame == 0, error.code == .corrupt, (try? drawDefaultPicture(onto: &canvas, request)) != nil else {
        throw error
      }
    }
  }

  private func drawOwn(_ frame: Int, onto canvas: inout FrameCanvas, _ request: RowRequest) throws(ImageError) {
    let place = places[frame]
    // The file outlives the rows, which end with the closure.
    try animation.file(of: frame).reading { (bytes) throws(ImageError) in
      let rows = try PNGDecoder.openPicture(bytes, request.unscaled, width: place.width, height: place.height)
      try canvas.draw(place, from: rows, format: .apng, request.control)
    }
  }

  private func drawDefaultPicture(onto canvas: inout FrameCanvas, _ request: RowRequest) throws(ImageError) {
    var place = FramePlace(width: request.info.storedWidth, height: request.info.storedHeight)
    place.disposal = places[0].disposal
    let rows = try PNGDecoder.openPicture(bytes, request.unscaled, width: place.width, height: place.height)
    try canvas.draw(place, from: rows, format: .apng, request.control)
  }
}
