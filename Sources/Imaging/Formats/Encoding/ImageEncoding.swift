package import VitrineRuntime

/// A choice of format, options and metadata for encoding.
///
/// ```swift
/// let file = try bitmap.encoded(as: .jpeg(quality: 80))
/// let smallest = try registry.encode(image, as: .automatic(preferring: [.avif, .webp]))
///
/// var encoding = ImageEncoding.webp(quality: 75)
/// encoding.metadata = .only(.copyright, .captureTime)
/// ```
/// Two that are equal give the same bytes for the same picture.
public struct ImageEncoding: Sendable, Hashable {
  /// The metadata that is written, where the format has a place for it.
  ///
  /// Defaults to ``MetadataPolicy/strip``: none but what the pixels mean.
  public var metadata = MetadataPolicy.strip
  /// The formats of originals that are the answer as they are, whatever size, processors and format are asked for.
  ///
  /// Defaults to none. An `ImagePipeline` heeds it; encoders have no original. A drawing that gzip has compressed is not
  /// passed on, since few readers of files know how to inflate it.
  public var passedOn: Set<ImageFormat> = []

  private let choice: Choice

  fileprivate enum Choice: Sendable {
    case fixed(ImageFormat, any EncodingOptions)
    /// The format's own options, made of the parameters that all formats have in common.
    case plain(ImageFormat, quality: Int?, isLossless: Bool)
    case automatic([ImageFormat], quality: Int?, qualities: [ImageFormat: Int])

    var identifier: String {
      switch self {
      case .fixed(let format, let options): "\(format) \(options.identifier)"
      case .plain(let format, let quality, let isLossless):
        "\(format) plain \(quality.map { "\($0)" } ?? "-") \(isLossless)"
      case .automatic(let preferred, let quality, let qualities):
        "automatic \(preferred.map(\.name).joined(separator: ",")) \(quality.map { "\($0)" } ?? "-") "
          + qualities.map { "\($0.key)=\($0.value)" }.sorted().joined(separator: ",")
      }
    }
  }

  /// Makes the encoding of a format with options of its own.
  ///
  /// Formats that Vitrine writes have shorter ways, such as ``jpeg(quality:subsampling:isProgressive:)``. The encoder
  /// that the ``EncoderRegistry`` has for the format may have options of another type, as in a sandbox. It
  /// then gets quality and losslessness, and its own defaults for all else; such an encoder's other options can be
  /// chosen with a value of its own type.
  public init(_ format: ImageFormat, _ options: some EncodingOptions) { choice = .fixed(format, options) }

  /// Makes the encoding of a format that is known only at run time.
  ///
  /// - Parameters:
  ///   - format: The format.
  ///   - quality: The quality of lossy formats, from 1 to 100 on the format's own scale; others ignore it. Values
  ///     outside are clamped. Defaults to `nil`, the format's own default.
  ///   - isLossless: A Boolean value that indicates whether every pixel is kept, in formats that allow both. Defaults
  ///     to `false`.
  public init(_ format: ImageFormat, quality: Int? = nil, isLossless: Bool = false) {
    choice = .plain(format, quality: quality, isLossless: isLossless)
  }

  /// The first of several formats for which the ``EncoderRegistry`` has an encoder.
  ///
  /// Formats that do not move are passed over for an animation. If none is left, it is the format of the image's own file,
  /// if that is JPEG, PNG, WebP or GIF and can keep what is transparent or moves. Otherwise it is PNG for a picture with
  /// transparency, GIF for an animation, and JPEG for all others.
  ///
  /// - Parameters:
  ///   - formats: The formats, the best first. Defaults to none.
  ///   - quality: The quality on the scale of the format that is chosen. Defaults to `nil`, its default.
  ///   - qualities: The qualities of single formats, which precede `quality`. Defaults to none.
  /// - Returns: The encoding.
  public static func automatic(
    preferring formats: [ImageFormat] = [],
    quality: Int? = nil,
    qualities: [ImageFormat: Int] = [:],
  ) -> ImageEncoding {
    ImageEncoding(.automatic(formats, quality: quality, qualities: qualities))
  }

  private init(_ choice: Choice) { self.choice = choice }

  /// The format; `nil` if it depends on the picture.
  public var format: ImageFormat? {
    switch choice {
    case .fixed(let format, _), .plain(let format, _, _): format
    case .automatic: nil
    }
  }

  /// Returns the same encoding with other metadata.
  public func metadata(_ policy: MetadataPolicy) -> ImageEncoding {
    var other = self
    other.metadata = policy
    return other
  }

  /// Compares formats, options, metadata, and the formats that are passed on.
  public static func == (left: Self, right: Self) -> Bool {
    (left.metadata, left.passedOn) == (right.metadata, right.passedOn)
      && left.choice.identifier.utf8.elementsEqual(right.choice.identifier.utf8)
  }

  /// Hashes format and options.
  public func hash(into hasher: inout Hasher) { hasher.combine(choice.identifier) }

  /// Returns the encoders that may be used, with their options.
  func candidates(_ encoders: [any ImageEncoder]) -> Candidates {
    func encoder(_ format: ImageFormat) -> (any ImageEncoder)? { encoders.first { $0.format == format } }
    switch choice {
    case .fixed(let format, let options):
      return .one(encoder(format).map { EncoderChoice($0, options) }, format)
    case .plain(let format, let quality, let isLossless):
      return .one(encoder(format).map { EncoderChoice($0, quality: quality, isLossless: isLossless) }, format)
    case .automatic(let preferred, let quality, let qualities):
      func choices(_ formats: [ImageFormat]) -> [EncoderChoice] {
        formats.compactMap { format in
          encoder(format).map { EncoderChoice($0, quality: qualities[format] ?? quality, isLossless: false) }
        }
      }
      return .several(named: choices(preferred), common: choices(ImageFormat.common))
    }
  }

  /// A Boolean value that indicates whether the encoding depends on the original's bytes, and not on the picture alone.
  package var needsOriginal: Bool { metadata != .strip || !passedOn.isEmpty }

  /// Returns `true` if an original of a format is the answer as it is.
  package func passesOn(_ format: ImageFormat, _ data: Data) -> Bool {
    passedOn.contains(format) && !data.starts(with: Gzip.signature)
  }

  enum Candidates {
    case one(EncoderChoice?, ImageFormat)
    /// The formats that were named, the best first, and those that every browser shows.
    case several(named: [EncoderChoice], common: [EncoderChoice])
  }
}
