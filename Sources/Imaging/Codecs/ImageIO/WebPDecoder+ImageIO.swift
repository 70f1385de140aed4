import VitrineRuntime

extension WebPDecoder {
  package func memory(for bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> DecodeMemory {
    var (width, height) = (request.info.storedWidth, request.info.storedHeight)
    // The first frame of an animation needs no canvas.
    if request.frame == 0, let first = unsafe WebPHeader(ByteReader(bytes), metadataLimit: 0).firstFrame {
      (width, height) = (first.width, first.height)
    }
    let held = PlatformCodecs.heldByteCount(width: width, height: height)
    // A picture's file is copied once, and once more by ImageIO.
    return DecodeMemory(codec: held.addingSaturating(2 * bytes.count), rows: 4 * width * height)
  }

  /// Opens a still picture or the first frame of an animation at the requested scale, or any other frame whole.
  ///
  /// ImageIO sees one picture at a time, as a file of its own that is not cut.
  public func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    let info = request.info
    guard request.frame < max(1, info.frameCount) else { throw .noSuchFrame(request.frame, of: info) }
    let pixelCount = (info.storedWidth * info.storedHeight).multipliedSaturating(by: request.frame + 1)
    if request.frame > 0 { try request.limits.check(composed: pixelCount, format: .webp) }
    let file = try unsafe WebPFile(ByteReader(bytes), info, through: request.frame)
    if request.frame == 0, let first = file.frames.first {
      let isWhole = first.place.covers(info.storedWidth, info.storedHeight)
      let rows = try unsafe file.file(of: first).withFileBytes { (bytes) throws(ImageError) in
        try unsafe ImageIORows.open(
          bytes,
          // The file has no orientation of its own.
          isWhole ? request : request.unscaled,
          width: first.place.width,
          height: first.place.height,
        )
      }
      // The first frame is drawn on nothing, so it needs no canvas.
      if isWhole { return rows }
      return PlacedRows(
        rows,
        x: first.place.left,
        y: first.place.top,
        width: info.storedWidth,
        height: info.storedHeight,
      )
    }
    return try composed(file, request)
  }

  private func composed(_ file: WebPFile, _ request: RowRequest) throws(ImageError) -> HeldRows {
    let (width, height) = (request.info.storedWidth, request.info.storedHeight)
    try request.limits.check(heldWidth: width, height: height, format: .webp)
    return unsafe HeldRows(width: width, height: height, hasAlpha: true) { (pixels, _) throws(ImageError) in
      var canvas = unsafe FrameCanvas(pixels, width: width, height: height)
      for (index, frame) in file.frames.enumerated() {
        try unsafe file.file(of: frame).withFileBytes { (bytes) throws(ImageError) in
          let (place, own) = (frame.place, request.unscaled)
          let source = try unsafe ImageIORows.open(bytes, own, width: place.width, height: place.height)
          try canvas.draw(place, from: source, format: .webp, request.control)
        }
        if index < request.frame { canvas.dispose(frame.place) }
      }
    }
  }
}
