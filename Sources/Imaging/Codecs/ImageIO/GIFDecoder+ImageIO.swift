import VitrineRuntime

extension GIFDecoder {
  package func memory(for bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> DecodeMemory {
    let header = try unsafe GIFHeader(ByteReader(bytes))
    let (width, height) = (request.info.storedWidth, request.info.storedHeight)
    let isFirst = request.frame == 0
    var memory = PlatformCodecs.memory(width: width, height: height, scale: isFirst ? request.minimumScale : 1)
    // A frame's file is copied once, and once more by ImageIO.
    memory.codec = memory.codec.addingSaturating(2 * bytes.count)
    guard !isFirst || !header.beginsWithWholePicture else { return memory }
    // The canvas, and the picture before a frame that is disposed of.
    memory.rows = max(memory.rows, 4 * width * height)
    if header.savesPicture { memory.codec = memory.codec.addingSaturating(4 * width * height) }
    return memory
  }

  /// Opens one frame, composed as a viewer shows it.
  ///
  /// ImageIO sees one frame at a time, as a file of its own that has all its pixels.
  public func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    let info = request.info
    guard request.frame < info.frameCount else { throw .noSuchFrame(request.frame, of: info) }
    let pictures = unsafe GIFPictures(ByteReader(bytes), through: request.frame)
    // The first frame is drawn on nothing, so it needs no canvas and may be downsampled.
    if request.frame == 0, pictures.places.first?.covers(info.storedWidth, info.storedHeight) == true {
      return try pictures.open(0, request)
    }
    return try HeldRows.composed(pictures, request)
  }
}
