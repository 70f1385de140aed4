import VitrineRuntime

extension WebPDecoder {
  package func memory(for bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> DecodeMemory {
    var (width, height) = (request.info.storedWidth, request.info.storedHeight)
    let isFirst = request.frame == 0
    // The first frame of an animation needs no canvas.
    if isFirst, let first = unsafe WebPHeader(ByteReader(bytes), metadataLimit: 0).firstFrame {
      (width, height) = (first.width, first.height)
    }
    var memory = PlatformCodecs.memory(width: width, height: height, scale: isFirst ? request.minimumScale : 1)
    // A picture's file is copied once, and once more by ImageIO.
    memory.codec = memory.codec.addingSaturating(2 * bytes.count)
    if !isFirst { memory.rows = max(memory.rows, 4 * width * height) }
    return memory
  }

  /// Opens a still picture or the first frame of an animation at the requested scale, or any other frame whole.
  ///
  /// ImageIO sees one picture at a time, as a file of its own that is not cut.
  public func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    let info = request.info
    guard request.frame < max(1, info.frameCount) else { throw .noSuchFrame(request.frame, of: info) }
    let file = try unsafe WebPFile(ByteReader(bytes), info, through: request.frame)
    if request.frame == 0, let first = file.frames.first {
      let isWhole = first.place.covers(info.storedWidth, info.storedHeight)
      let rows = try unsafe file.file(of: first).withImageBytes { (bytes) throws(ImageError) in
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
    let canvases = (info.storedWidth * info.storedHeight).multipliedSaturating(by: request.frame + 1)
    try request.limits.check(composed: canvases, format: .webp)
    return try ImageIORows.composed(file.frames.map(\.place), request) { (frame) throws(ImageError) in
      file.file(of: file.frames[frame])
    }
  }
}
