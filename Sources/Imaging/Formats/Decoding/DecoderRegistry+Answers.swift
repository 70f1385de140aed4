package import VitrineRuntime

extension DecoderRegistry {
  /// Answers a question about a large file of which no more than the beginning is read here; blocks until done.
  ///
  /// - Returns: `nil` if the file must be read as a whole: it is decoded in this process, or needs several questions.
  /// - Throws: ``ImageError`` of any code but `.notEncodable`.
  package func answer(_ question: DecodeQuestion, about file: LargeFile) throws(ImageError) -> DecodeAnswer? {
    let options = question.options
    let format = file.beginning.reading(ImageFormat.sniff)
    guard !options.animates, options.dynamicRange == .standard, let format, let decoder = remote(for: format) else {
      return nil
    }
    var question = question
    let core = question.job.takeCore()
    defer { core.leave() }
    try question.job.begin(options)
    return try unsafe decoder.answer(question, about: .file(file), of: format)
  }

  /// Answers a question with the decoders of this registry; blocks until done.
  ///
  /// - Throws: ``ImageError`` of any code but `.notEncodable`.
  package func answer(_ question: DecodeQuestion, about data: Data) throws(ImageError) -> DecodeAnswer {
    let (options, job) = (question.options, question.job)
    switch question.kind {
    case .info: return .info(try info(of: data, limits: options.limits))
    case .metadata: return .metadata(try metadata(of: data, limits: options.limits))
    case .frameDelays: return .frameDelays(try frameDelays(of: data, limits: options.limits))
    case .embeddedThumbnail: return .image(try embeddedThumbnail(of: data, limits: options.limits))
    case .usesThumbnail: return .usesThumbnail(usesThumbnail(in: data, options))
    case .image: return .image(try decode(data, options, job))
    case .gray(let background): return .gray(try decodeGray(data, options, job, over: background))
    case .preview(let purpose, let showsRows):
      let pending = PendingPreview(
        purpose: purpose,
        data: data,
        options: options,
        showsRows: showsRows,
        decoders: self,
      )
      return .preview(try pending.decode(job))
    }
  }
}
