package import VitrineRuntime

/// A question about the bytes of one image, which another process can answer as a whole.
package struct DecodeQuestion: Sendable {
  /// The subject of a question.
  package enum Kind: Hashable, Sendable {
    case info
    case metadata
    case frameDelays
    /// The thumbnail in EXIF, by itself.
    case embeddedThumbnail
    /// A test for an EXIF thumbnail that fits the requested size; the bytes are the beginning of the file.
    case usesThumbnail
    case image
    /// The image in gray levels over a background.
    case gray(over: UInt8)
    /// A preview; the bytes are the beginning of the file.
    case preview(PendingPreview.Purpose, showsRows: Bool)
  }

  /// The subject.
  package let kind: Kind
  /// The options; for questions that need only limits, those.
  package var options: DecodeOptions
  /// The maximum number of threads to answer with.
  package var threadCount = 1
  /// The frames that are decoded one after another, this among them.
  package var session: FrameSession?

  package init(_ kind: Kind, _ options: DecodeOptions) {
    (self.kind, self.options) = (kind, options)
    if case .gray = kind { self.options.bytesPerPixel = 1 }
  }

  /// Returns the same question with other options.
  func with(_ options: DecodeOptions) -> DecodeQuestion {
    var question = self
    question.options = options
    return question
  }

  package init(_ kind: Kind, _ limits: DecodeLimits) {
    var options = DecodeOptions()
    options.limits = limits
    self.init(kind, options)
  }
}

/// The answer to a ``DecodeQuestion``.
package enum DecodeAnswer: Sendable {
  case info(ImageInfo)
  case metadata(ImageMetadata)
  case frameDelays([Double])
  case usesThumbnail(Bool)
  /// The image, or the embedded thumbnail if there is one.
  case image(ImageContainer?)
  case gray(DecodedGrayImage)
  /// The preview, if it shows enough.
  case preview(ImagePreview?)
}

extension DecodeAnswer {
  package var info: ImageInfo? {
    guard case .info(let info) = self else { return nil }
    return info
  }

  package var metadata: ImageMetadata? {
    guard case .metadata(let metadata) = self else { return nil }
    return metadata
  }

  package var frameDelays: [Double]? {
    guard case .frameDelays(let delays) = self else { return nil }
    return delays
  }

  package var usesThumbnail: Bool? {
    guard case .usesThumbnail(let uses) = self else { return nil }
    return uses
  }

  package var image: ImageContainer?? {
    guard case .image(let image) = self else { return nil }
    return .some(image)
  }

  package var gray: DecodedGrayImage? {
    guard case .gray(let image) = self else { return nil }
    return image
  }

  package var preview: ImagePreview?? {
    guard case .preview(let preview) = self else { return nil }
    return .some(preview)
  }
}

/// The encoded image that a question is about.
@unsafe
package enum DecodeInput {
  /// The file, or its beginning, valid until the call returns.
  case bytes(UnsafeRawBufferPointer)
  /// A file of which the process that decodes it reads what it needs.
  case file(LargeFile)
}

/// A decoder that does all work on an image elsewhere: it takes the file's bytes, and answers with upright pixels.
package protocol RemoteDecoder: Sendable {
  /// The formats it can decode.
  var formats: [ImageFormat] { get }

  /// Answers a question about an image; blocks until done.
  ///
  /// - Parameters:
  ///   - question: The question; its ``DecodeOptions/isCancelled`` and time limit apply.
  ///   - input: The encoded image.
  ///   - format: The format by the first bytes.
  /// - Returns: The answer of the kind that belongs to the question. It is checked against the limits.
  /// - Throws: ``ImageError`` of any code but `.notEncodable`.
  func answer(
    _ question: DecodeQuestion,
    about input: DecodeInput,
    of format: ImageFormat,
  ) throws(ImageError) -> DecodeAnswer
}

extension DecoderRegistry {
  /// Answers a question about a large file of which no more than the beginning is read here; blocks until done.
  ///
  /// - Returns: `nil` if the file must be read as a whole: it is decoded in this process, or needs several questions.
  /// - Throws: ``ImageError`` of any code but `.notEncodable`.
  package func answer(_ question: DecodeQuestion, about file: LargeFile) throws(ImageError) -> DecodeAnswer? {
    var options = question.options
    let format = file.beginning.reading(ImageFormat.sniff)
    guard !options.animates, options.dynamicRange == .standard, let format, let decoder = remote(for: format) else {
      return nil
    }
    let share = options.takeCore()
    defer { share.leave() }
    try DecodeControl(isCancelled: options.isCancelled, timeLimit: options.limits.timeLimit).check()
    return try unsafe decoder.answer(question.with(options), about: .file(file), of: format)
  }

  /// Answers a question with the decoders of this registry; blocks until done.
  ///
  /// - Throws: ``ImageError`` of any code but `.notEncodable`.
  package func answer(_ question: DecodeQuestion, about data: Data) throws(ImageError) -> DecodeAnswer {
    let options = question.options
    switch question.kind {
    case .info: return .info(try info(of: data, limits: options.limits))
    case .metadata: return .metadata(try metadata(of: data, limits: options.limits))
    case .frameDelays: return .frameDelays(try frameDelays(of: data, limits: options.limits))
    case .embeddedThumbnail: return .image(try embeddedThumbnail(of: data, limits: options.limits))
    case .usesThumbnail: return .usesThumbnail(usesThumbnail(in: data, options))
    case .image: return .image(try decode(data, options))
    case .gray(let background): return .gray(try decodeGray(data, options, over: background))
    case .preview(let purpose, let showsRows):
      let pending = PendingPreview(
        purpose: purpose,
        data: data,
        options: options,
        showsRows: showsRows,
        decoders: self,
      )
      return .preview(try pending.decode(options.memoryShare))
    }
  }
}
