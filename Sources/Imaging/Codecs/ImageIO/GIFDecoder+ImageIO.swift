import VitrineRuntime

extension GIFDecoder {
  package func memory(for bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> DecodeMemory {
    let header = try unsafe GIFHeader(ByteReader(bytes))
    let info = request.info
    let picture = 4 * info.storedWidth * info.storedHeight
    let saved = request.frame > 0 && header.savesPicture ? picture : 0
    let held = PlatformCodecs.heldByteCount(width: info.storedWidth, height: info.storedHeight)
    // A frame's file is copied once, and once more by ImageIO.
    return DecodeMemory(codec: saved.addingSaturating(held).addingSaturating(2 * bytes.count), rows: picture)
  }

  /// Opens one frame, composed as a viewer shows it.
  ///
  /// ImageIO has crashed on GIFs whose frames have fewer pixels than their headers say. So the pixels are counted
  /// first, and each frame is a file of its own, whose only frame is whole.
  public func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    let info = request.info
    guard request.frame < info.frameCount else { throw .noSuchFrame(request.frame, of: info) }
    let file = try unsafe GIFFile(ByteReader(bytes), through: request.frame)
    if request.frame == 0, let first = file.frames.first, first.place.covers(info.storedWidth, info.storedHeight) {
      // The first frame is drawn on nothing, so it needs no canvas and may be downsampled.
      return try unsafe file.file(of: first).withFileBytes { (bytes) throws(ImageError) in
        try unsafe ImageIORows.open(bytes, request, width: first.place.width, height: first.place.height)
      }
    }
    return try composed(file, request)
  }

  private func composed(_ file: GIFFile, _ request: RowRequest) throws(ImageError) -> HeldRows {
    let (width, height) = (request.info.storedWidth, request.info.storedHeight)
    try request.limits.check(heldWidth: width, height: height, format: .gif)
    let drawn = file.frames.reduce(0) { $0.addingSaturating($1.place.width * $1.place.height) }
    try request.limits.check(composed: drawn, format: .gif)
    return unsafe HeldRows(width: width, height: height, hasAlpha: true) { (pixels, wholeRows) throws(ImageError) in
      var canvas = unsafe FrameCanvas(pixels, width: width, height: height)
      for (index, frame) in file.frames.enumerated() {
        // The previous picture stays until the frame's rows replace it.
        if index == request.frame, index > 0 { wholeRows = height }
        try unsafe file.file(of: frame).withFileBytes { (bytes) throws(ImageError) in
          let (place, own) = (frame.place, request.unscaled)
          let source = try unsafe ImageIORows.open(bytes, own, width: place.width, height: place.height)
          try canvas.draw(place, from: source, format: .gif, request.control)
        }
        if index < request.frame { canvas.dispose(frame.place) }
      }
    }
  }
}
