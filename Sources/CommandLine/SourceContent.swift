import VitrineImaging
import VitrineRuntime

/// The encoded image of a source: in memory, or a large file of which the process that decodes it reads what it needs.
enum SourceContent {
  case data(Data)
  case file(LargeFile)

  /// Opens a file, and reads it unless it is large.
  ///
  /// Blocks.
  init(ofFileAt path: ByteString) throws(FileError) {
    self = if let file = LargeFile(path) { .file(file) } else { .data(try FileContents.at(path)) }
  }

  /// The size in bytes.
  var byteCount: Int {
    switch self {
    case .data(let data): data.count
    case .file(let file): file.byteCount
    }
  }

  /// Reads the facts in the header.
  ///
  /// Blocks.
  func info(_ limits: DecodeLimits) throws(Failure) -> ImageInfo {
    try answer(DecodeQuestion(.info, limits), \.info)
  }

  /// Reads the metadata.
  ///
  /// Blocks.
  func metadata() throws(Failure) -> ImageMetadata {
    try answer(DecodeQuestion(.metadata, DecodeLimits()), \.metadata)
  }

  /// Returns how much brighter than white an image of a header is with its gain map; `nil` without one.
  func gainMapHeadroom(_ info: ImageInfo) -> Double? {
    guard case .data(let data) = self else { return nil }
    return info.gainMapHeadroom(in: data)
  }

  /// Decodes the image.
  ///
  /// Blocks.
  func image(_ options: DecodeOptions, _ job: DecodeJob = DecodeJob()) throws(Failure) -> ImageContainer {
    try answer(DecodeQuestion(.image, options, job)) { $0.image ?? nil }
  }

  private func answer<Value>(_ question: DecodeQuestion, _ value: (DecodeAnswer) -> Value?) throws(Failure) -> Value {
    let decoders = DecoderRegistry.ofTool
    func asked(_ body: () throws(ImageError) -> DecodeAnswer?) throws(Failure) -> Value? {
      do throws(ImageError) {
        return try body().flatMap(value)
      } catch {
        throw Failure(error)
      }
    }
    if case .file(let file) = self,
      let answer = try asked({ () throws(ImageError) in try decoders.answer(question, about: file) })
    {
      return answer
    }
    let data = try whole(for: question)
    if let answer = try asked({ () throws(ImageError) in try decoders.answer(question, about: data) }) {
      return answer
    }
    throw Failure(stage: .decode, "its decoder answers another question")
  }

  private func whole(for question: DecodeQuestion) throws(Failure) -> Data {
    switch self {
    case .data(let data): return data
    case .file(let file):
      let limit = question.options.limits.memoryByteCount
      // It would be refused after it has been read. A sparse file costs whoever sends it nothing.
      guard question.kind != .image || file.byteCount <= limit else {
        throw Failure(stage: .fetch, "its \(file.byteCount.asBytes) are more than the limit of \(limit.asBytes)")
      }
      do throws(FileError) {
        return try file.contents()
      } catch {
        throw Failure(stage: .fetch, error.description)
      }
    }
  }
}
