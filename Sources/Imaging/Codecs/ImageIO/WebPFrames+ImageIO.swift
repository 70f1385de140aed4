extension WebPFrames {
  /// Opens a picture at the requested scale.
  func open(_ frame: Frame, _ request: RowRequest) throws(ImageError) -> HeldRows {
    // ImageIO is given no picture that is cut.
    guard frame.isWhole else { throw ending }
    // The rows do not refer to the file, which is copied.
    return try unsafe file(of: frame).withImageBytes { (bytes) throws(ImageError) in
      try unsafe ImageIORows.open(bytes, request, width: frame.place.width, height: frame.place.height)
    }
  }

  /// Returns a picture as a file of its own.
  private func file(of frame: Frame) -> [UInt8] {
    var content: [UInt8] = []
    if frame.chunks.count > 1 {
      let size = [frame.place.width - 1, frame.place.height - 1].flatMap { [UInt8].little($0, count: 3) }
      // The flag of alpha, and three reserved bytes.
      content += Self.chunk("VP8X", [0x10, 0, 0, 0] + size)
    }
    for chunk in frame.chunks { content += Self.chunk(chunk.type, chunk.body.copy()) }
    return Array("RIFF".utf8) + .little(content.count + 4, count: 4) + Array("WEBP".utf8) + content
  }

  private static func chunk(_ type: String, _ body: [UInt8]) -> [UInt8] {
    Array(type.utf8) + .little(body.count, count: 4) + body + [UInt8](repeating: 0, count: body.count & 1)
  }
}

extension WebPDecoder {
  /// Reads the size of the picture or canvas, and whether it has an alpha channel.
  static func features(of reader: ByteReader) throws(ImageError) -> (width: Int, height: Int, hasAlpha: Bool) {
    guard let type = reader.ascii(at: 12, count: 4), let length = reader.littleEndian32(at: 16) else {
      throw ImageError(.truncated, format: .webp, "truncated: the file ends inside its header")
    }
    let body = reader.slice(20, Int(length))
    if type == "VP8X" {
      guard let flags = body.byte(at: 0), let width = body.littleEndian24(at: 4),
        let height = body.littleEndian24(at: 7)
      else { throw ImageError(.truncated, format: .webp, "truncated: the file ends inside its header") }
      return (Int(width) + 1, Int(height) + 1, flags & 0x10 != 0)
    }
    guard body.count >= min(10, Int(length)) else {
      throw ImageError(.truncated, format: .webp, "truncated: the file ends inside its header")
    }
    guard let picture = WebPFrames.Picture(type, body) else { throw WebPFrames.corrupt("the header of the picture") }
    return (picture.width, picture.height, picture.hasAlpha)
  }
}
