import VitrineRuntime

extension WebPDecoder {
  package func memory(for bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> DecodeMemory {
    var (width, height) = (request.info.storedWidth, request.info.storedHeight)
    let isFirst = request.frame == 0
    // The first frame of an animation needs no canvas.
    if isFirst, let first = unsafe WebPFrames(ByteReader(bytes), request.info, through: 0).places.first {
      (width, height) = (first.width, first.height)
    }
    var memory = PlatformCodecs.memory(width: width, height: height, scale: isFirst ? request.minimumScale : 1)
    // A picture's file is copied once, and once more by ImageIO.
    memory.codec = memory.codec.addingSaturating(2 * bytes.count)
    if !isFirst { memory.rows = max(memory.rows, 4 * width * height) }
    return memory
  }

  /// Opens a still picture or one frame of an animation, at the requested scale where no canvas is needed.
  ///
  /// ImageIO sees one picture at a time, as a file of its own that is not cut.
  public func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    guard request.frame < max(1, request.info.frameCount) else { throw .noSuchFrame(request.frame, of: request.info) }
    return try openFrame(unsafe ByteReader(bytes), request)
  }
}
