import VitrineImaging
import VitrineRuntime

/// The encoded image of a source: in memory, or a large file of which the process that decodes it reads what it needs.
struct EncodedImage {
  private enum Content {
    case data(Data)
    case file(LargeFile)
  }

  private let content: Content

  /// An image in memory.
  init(_ data: Data) { content = .data(data) }

  /// Opens a large file, or reads one.
  ///
  /// Blocks.
  init(_ path: ByteString) throws(FileError) {
    if let descriptor = path.descriptor {
      content = .data(try FileContents.of(descriptor))
    } else if let file = LargeFile(path) {
      content = .file(file)
    } else {
      content = .data(try FileContents.at(path))
    }
  }

  /// The size in bytes.
  var byteCount: Int {
    switch content {
    case .data(let data): data.count
    case .file(let file): file.byteCount
    }
  }

  /// Reads the facts in the header.
  func info(_ limits: DecodeLimits) throws(Failure) -> ImageInfo {
    try answer(DecodeQuestion(.info, limits), \.info) { (decoders, data) throws(ImageError) in
      try decoders.info(of: data, limits: limits)
    }
  }

  /// Reads the metadata.
  func metadata() throws(Failure) -> ImageMetadata {
    try answer(DecodeQuestion(.metadata, DecodeLimits()), \.metadata) { (decoders, data) throws(ImageError) in
      try decoders.metadata(of: data)
    }
  }

  /// Decodes the image.
  ///
  /// Blocks.
  func image(_ options: DecodeOptions) throws(Failure) -> ImageContainer {
    try answer(DecodeQuestion(.image, options)) {
      $0.image ?? nil
    } orDecode: { (decoders, data) throws(ImageError) in
      try decoders.decode(data, options)
    }
  }

  /// Asks a process about a large file, or reads the file and calls `decode`.
  private func answer<Value>(
    _ question: DecodeQuestion,
    _ value: (DecodeAnswer) -> Value?,
    orDecode decode: (DecoderRegistry, Data) throws(ImageError) -> Value,
  ) throws(Failure) -> Value {
    let decoders = DecoderRegistry.ofTool
    do throws(ImageError) {
      if case .file(let file) = content, let answer = try decoders.answer(question, about: file).flatMap(value) {
        return answer
      }
    } catch {
      throw Failure(error)
    }
    let data = try contents(for: question)
    do throws(ImageError) {
      return try decode(decoders, data)
    } catch {
      throw Failure(error)
    }
  }

  private func contents(for question: DecodeQuestion) throws(Failure) -> Data {
    let file: LargeFile
    switch content {
    case .data(let data): return data
    case .file(let large): file = large
    }
    let limit = question.options.limits.memoryByteCount
    // It would be refused after it has been read. A sparse file costs whoever sends it nothing.
    guard question.kind != .image || byteCount <= limit else {
      throw Failure(stage: .fetch, "its \(byteCount.asBytes) are more than the limit of \(limit.asBytes)")
    }
    do throws(FileError) {
      return try file.contents()
    } catch {
      throw Failure(stage: .fetch, error.description)
    }
  }
}
