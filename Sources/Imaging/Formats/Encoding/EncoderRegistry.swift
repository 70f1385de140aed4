public import VitrineRuntime

/// The available encoders, by format.
///
/// ```swift
/// let pipeline = try ImagePipeline { $0.encoders.add(.avif) }
/// ```
/// A registry is a value: adding an encoder to a copy changes no other copy.
public struct EncoderRegistry: Sendable {
  private var encoders: [any ImageEncoder]
  /// The limits of encoded animations, of which the rest is left out.
  ///
  /// Defaults to none.
  public var animationLimits = AnimationLimits()

  /// The limits of encoded animations.
  public struct AnimationLimits: Sendable, Hashable {
    /// The maximum number of frames.
    ///
    /// Defaults to `Int.max`.
    public var frameCount = Int.max
    /// The maximum number of pixels of all frames together; one frame is always written.
    ///
    /// Defaults to `Int.max`.
    public var pixelCount = Int.max

    /// Makes limits with the default values.
    public init() {}

    /// Returns the number of frames that are written.
    func frames(of bitmap: Bitmap) -> Int { max(1, min(frameCount, pixelCount / (bitmap.width * bitmap.height))) }
  }

  /// Makes a registry.
  ///
  /// The first of several encoders of a format is used.
  public init(_ encoders: [any ImageEncoder]) {
    self.encoders = encoders
  }

  /// Adds an encoder that takes precedence over the existing ones.
  public mutating func add(_ encoder: some ImageEncoder) {
    encoders.insert(encoder, at: 0)
  }

  /// The formats that can be encoded.
  public var formats: [ImageFormat] { encoders.map(\.format) }

  /// Encodes pixels.
  ///
  /// Blocks until done.
  ///
  /// - Parameters:
  ///   - bitmap: The pixels. Colours outside sRGB are kept where the format has a place for their profile, and brought
  ///     into sRGB otherwise.
  ///   - encoding: The format and its options. Its metadata has no effect, since pixels have none.
  ///   - isCancelled: Called now and then; `true` stops encoding with an error of code `.cancelled`. Defaults to
  ///     `nil`.
  /// - Returns: The file.
  /// - Throws: ``ImageError`` of code `.notEncodable` or `.cancelled`.
  public func encode(
    _ bitmap: Bitmap,
    as encoding: ImageEncoding,
    isCancelled: (@Sendable () -> Bool)? = nil,
  ) throws(ImageError) -> Data {
    try encode(ImageContainer(bitmap), as: encoding, isCancelled: isCancelled).data
  }

  /// Encodes an image: its pixels, its frames if it moves, and of its metadata what the encoding says.
  ///
  /// Blocks until done. Frames of an animation are decoded one after another.
  ///
  /// - Parameters:
  ///   - image: The image. ``ImageContainer/metadata`` must have been read for a policy other than
  ///     ``MetadataPolicy/strip`` to have an effect.
  ///   - encoding: The format, its options, and the metadata to be written.
  ///   - isCancelled: Called now and then; `true` stops encoding with an error of code `.cancelled`. Defaults to
  ///     `nil`.
  /// - Returns: The file and its format.
  /// - Throws: ``ImageError`` of code `.notEncodable` or `.cancelled`; of any other code if a frame of an animation
  ///   cannot be decoded.
  public func encode(
    _ image: ImageContainer,
    as encoding: ImageEncoding,
    isCancelled: (@Sendable () -> Bool)? = nil,
  ) throws(ImageError) -> (data: Data, format: ImageFormat) {
    try encode(image, as: encoding, within: nil, isCancelled: isCancelled)
  }

  /// Encodes an image within a share of memory, which it holds until that is released; throws if it needs more than
  /// `limit` bytes.
  package func encode(
    _ image: ImageContainer,
    as encoding: ImageEncoding,
    within memoryShare: MemoryShare?,
    limit: Int = .max,
    isCancelled: (@Sendable () -> Bool)?,
  ) throws(ImageError) -> (data: Data, format: ImageFormat) {
    let metadata = encoding.metadata.written(
      image.metadata,
      width: image.bitmap.width,
      height: image.bitmap.height,
    )
    var input = EncoderInput(
      image.bitmap,
      animation: image.animation,
      frameLimit: animationLimits.frames(of: image.bitmap),
      metadata: metadata,
      gainMap: encoding.metadata.keepsGainMap ? image.gainMap : nil,
      memoryShare: memoryShare,
      isCancelled: isCancelled,
    )
    // The missing part of a photograph does not make it a drawing with transparency.
    let isOpaque = image.isOpaqueApartFromDamage || input.bitmap.alpha == .opaque
    let choice = try choice(encoding, for: input, of: image.info.format, isOpaque: isOpaque)
    input.restrict(to: choice.features)
    try input.checkCancellation()
    let memory = choice.byteCountPerPixel.multipliedSaturating(by: image.bitmap.byteCount / 4)
    guard memory <= limit else {
      let (size, count) = ("\(image.bitmap.width)x\(image.bitmap.height)", memory / 1_000_000)
      let detail = "\(size) pixels need \(count) MB to be encoded, over the limit of \(limit / 1_000_000) MB"
      throw ImageError(.notEncodable, format: choice.format, limit: .memoryByteCount, detail)
    }
    if let memoryShare {
      memoryShare.setBase(memory)
      // The decodes of an animation's frames hold it with their own.
      _ = try memoryShare.hold(0, DecodeControl(isCancelled: isCancelled, timeLimit: nil))
    }
    return (try choice.encode(input), choice.format)
  }

  /// Returns the encoder for a picture, whose file has a format.
  private func choice(
    _ encoding: ImageEncoding,
    for input: EncoderInput,
    of source: ImageFormat,
    isOpaque: Bool,
  ) throws(ImageError) -> EncoderChoice {
    switch encoding.candidates(encoders) {
    case .one(let choice?, _): return choice
    case .one(nil, let format): throw Self.missing(format)
    case .several(let named, let common):
      let isAnimated = input.animation != nil
      if let choice = named.first(where: { !isAnimated || $0.features.contains(.animation) }) { return choice }
      func choice(_ format: ImageFormat) -> EncoderChoice? { common.first { $0.format == format.written } }
      if let own = choice(source), own.features.isSuperset(of: needs(input, isOpaque)) { return own }
      if isAnimated, let gif = choice(.gif) { return gif }
      guard let choice = isOpaque ? choice(.jpeg) ?? choice(.png) : choice(.png) ?? choice(.jpeg) else {
        throw Self.missing(isOpaque ? .jpeg : .png)
      }
      return choice
    }
  }

  /// Returns the features of an encoder that loses nothing of a picture.
  private func needs(_ input: EncoderInput, _ isOpaque: Bool) -> EncoderFeatures {
    // What is transparent in an animation may stay so even in GIF.
    var features: EncoderFeatures = input.animation != nil ? .animation : isOpaque ? [] : .alpha
    if input.gainMap != nil { features.insert(.gainMap) }
    return features
  }

  private static func missing(_ format: ImageFormat) -> ImageError {
    ImageError(.notEncodable, format: format, "\(format) cannot be encoded by this build")
  }

  /// Returns a text that differs if the encoders would make other bytes, for keys of caches.
  package func identifier(of encoding: ImageEncoding) -> String {
    let format =
      switch encoding.candidates(encoders) {
      case .one(let choice, let format): choice?.identifier ?? format.name
      case .several(let named, let common): (named + common).map(\.identifier).joined(separator: "|")
      }
    let limits = animationLimits
    let bound = limits == AnimationLimits() ? "" : " frames \(limits.frameCount) \(limits.pixelCount)"
    let passedOn = encoding.passedOn.map(\.name).sorted().joined(separator: ",")
    return format + bound + (encoding.metadata == .strip ? "" : " \(encoding.metadata.identifier)")
      + (passedOn.isEmpty ? "" : " passing \(passedOn)")
  }

  /// Returns `true` if an encoding writes gain maps.
  package func keepsGainMap(_ encoding: ImageEncoding) -> Bool {
    guard encoding.metadata.keepsGainMap else { return false }
    return switch encoding.candidates(encoders) {
    case .one(let choice, _): choice?.features.contains(.gainMap) ?? false
    case .several(let named, let common): (named + common).contains { $0.features.contains(.gainMap) }
    }
  }

  /// Returns `true` if bytes of a format may be what an encoding gives, where nothing has to change.
  package func mayServe(_ format: ImageFormat, as encoding: ImageEncoding) -> Bool {
    switch encoding.candidates(encoders) {
    case .one(_, let wanted): wanted == format.written
    case .several(let named, let common): (named + common).contains { $0.format == format.written }
    }
  }
}

/// An encoder and its options.
struct EncoderChoice: Sendable {
  let format: ImageFormat
  let features: EncoderFeatures
  let identifier: String
  /// An estimate of the memory that encoding takes; encoders that say nothing may copy the picture.
  let byteCountPerPixel: Int
  private let call: @Sendable (EncoderInput) -> Result<Data, ImageError>

  /// Of options that are another encoder's, what all have in common is carried over.
  init<Encoder: ImageEncoder>(_ encoder: Encoder, _ options: any EncodingOptions) {
    if let own = options as? Encoder.Options {
      self.init(encoder, own: own)
    } else {
      self.init(encoder, quality: options.commonQuality, isLossless: options.commonIsLossless)
    }
  }

  init<Encoder: ImageEncoder>(_ encoder: Encoder, quality: Int?, isLossless: Bool) {
    let quality = quality.map { min(max($0, 1), 100) }
    self.init(encoder, own: Encoder.Options(quality: quality, isLossless: isLossless))
  }

  private init<Encoder: ImageEncoder>(_ encoder: Encoder, own options: Encoder.Options) {
    (format, features) = (encoder.format, encoder.features)
    byteCountPerPixel = (encoder as? any MeasuredEncoder)?.byteCountPerPixel ?? 8
    identifier = options.identifier.isEmpty ? format.name : "\(format.name) \(options.identifier)"
    call = { input in
      do throws(ImageError) {
        return .success(try encoder.encode(input, options))
      } catch {
        return .failure(error)
      }
    }
  }

  func encode(_ input: EncoderInput) throws(ImageError) -> Data { try call(input).get() }
}

extension EncoderInput {
  /// Leaves out what an encoder has no place for.
  mutating func restrict(to features: EncoderFeatures) {
    if !features.contains(.displayP3) { bitmap = bitmap.converted(to: .sRGB) }
    if !features.contains(.animation) { animation = nil }
    if !features.contains(.exif) { exif = nil }
    if !features.contains(.xmp) { xmp = nil }
    if !features.contains(.gainMap) { gainMap = nil }
  }
}

extension Bitmap {
  /// Encodes the bitmap with the standard encoders; see ``EncoderRegistry/encode(_:as:isCancelled:)-(Bitmap,_,_)``.
  ///
  /// Blocks until done.
  public func encoded(as encoding: ImageEncoding) throws(ImageError) -> Data {
    try EncoderRegistry.standard.encode(self, as: encoding)
  }

  /// Encodes the bitmap in a format with its default options.
  ///
  /// Blocks until done.
  public func encoded(as format: ImageFormat) throws(ImageError) -> Data {
    try encoded(as: ImageEncoding(format))
  }
}
