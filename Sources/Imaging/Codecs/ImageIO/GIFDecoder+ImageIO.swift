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
  /// ImageIO has crashed on GIFs whose frames have fewer pixels than their headers say. So the pixels are counted
  /// first, and each frame is a file of its own, whose only frame is whole.
  public func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    let info = request.info
    guard request.frame < info.frameCount else { throw .noSuchFrame(request.frame, of: info) }
    let file = try unsafe GIFFile(ByteReader(bytes), through: request.frame)
    if request.frame == 0, let first = file.frames.first, first.place.covers(info.storedWidth, info.storedHeight) {
      // The first frame is drawn on nothing, so it needs no canvas and may be downsampled.
      return try unsafe file.file(of: first).withImageBytes { (bytes) throws(ImageError) in
        try unsafe ImageIORows.open(bytes, request, width: first.place.width, height: first.place.height)
      }
    }
    return try ImageIORows.composed(file.frames.map(\.place), request) { (frame) throws(ImageError) in
      try file.file(of: file.frames[frame])
    }
  }
}
