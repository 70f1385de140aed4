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
    case preview(PreviewPurpose, showsRows: Bool)
  }

  /// The subject.
  package let kind: Kind
  /// The options; for questions that need only limits, those.
  package var options: DecodeOptions
  /// The circumstances of the decode; in another process, its own.
  package var job: DecodeJob
  /// The frames that are decoded one after another, this among them.
  package var session: FrameSession?

  package init(_ kind: Kind, _ options: DecodeOptions, _ job: DecodeJob = DecodeJob()) {
    (self.kind, self.options, self.job) = (kind, options, job)
    if case .gray = kind { self.options.bytesPerPixel = 1 }
  }

  /// True if a smaller picture in the file may stand for the image.
  var allowsShortcut: Bool { kind == .image && session == nil && options.allowsShortcut }

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

/// A decoded image in gray levels.
package struct DecodedGrayImage: Sendable {
  /// The levels: upright, at the requested size.
  package let bitmap: GrayBitmap
  /// The facts of the image's header.
  package let info: ImageInfo
  /// The reason why a part of the image is missing, if ``DecodeOptions/acceptsPartial`` allowed that; `nil` for a
  /// whole image.
  package let damage: ImageError?

  package init(bitmap: GrayBitmap, info: ImageInfo, damage: ImageError?) {
    (self.bitmap, self.info, self.damage) = (bitmap, info, damage)
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
