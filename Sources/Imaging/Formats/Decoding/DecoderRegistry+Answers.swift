package import VitrineRuntime

extension DecoderRegistry {
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
