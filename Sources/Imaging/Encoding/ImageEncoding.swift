import VitrineRuntime

/// A choice of format, options and metadata for encoding.
///
/// ```swift
/// let file = try bitmap.encoded(as: .jpeg(quality: 80))
/// let response = try await pipeline.encoded(for: request, as: .automatic(accepting: accept))
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

  private let choice: Choice

  fileprivate enum Choice: Sendable {
    case fixed(ImageFormat, any EncodingOptions)
    /// The format's own options, made of what all formats have in common.
    case plain(ImageFormat, quality: Int?, isLossless: Bool)
    case automatic(AcceptedFormats, quality: Int?)

    var identifier: String {
      switch self {
      case .fixed(let format, let options): "\(format) \(options.identifier)"
      case .plain(let format, let quality, let isLossless):
        "\(format) plain \(quality.map { "\($0)" } ?? "-") \(isLossless)"
      case .automatic(let accepted, let quality): "automatic \(accepted.identifier) \(quality.map { "\($0)" } ?? "-")"
      }
    }
  }

  /// Makes the encoding of a format with options of its own.
  ///
  /// Formats that Vitrine writes have shorter ways, such as ``jpeg(quality:subsampling:isProgressive:)``. The encoder
  /// that the ``EncoderRegistry`` has for the format may have options of another type, as have those of a sandbox. It
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

  /// The format that a client prefers, as its `Accept` header says.
  ///
  /// Of AVIF, JPEG XL and WebP it is the one that the header names with the highest `q`, if the ``EncoderRegistry`` has
  /// an encoder. Among equals it is the first in this order, which is that of the smallest files. `image/*` and `*/*`
  /// do not count, since browsers send them whatever they can show. Otherwise it is PNG for a picture with
  /// transparency, GIF for an animation, and JPEG for all others.
  ///
  /// - Parameters:
  ///   - accept: The value of the header (RFC 9110, section 12.5.1); several are joined by commas. Without one, or
  ///     with anything else, nothing is named.
  ///   - quality: The quality on the scale of the format that is chosen. Defaults to `nil`, its default.
  /// - Returns: The encoding.
  public static func automatic(accepting accept: String? = nil, quality: Int? = nil) -> ImageEncoding {
    ImageEncoding(.automatic(AcceptedFormats(accept ?? ""), quality: quality))
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

  /// Compares formats, options and metadata.
  public static func == (left: Self, right: Self) -> Bool {
    left.metadata == right.metadata && left.choice.identifier.utf8.elementsEqual(right.choice.identifier.utf8)
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
    case .automatic(let accepted, let quality):
      let named = accepted.best(among: AcceptedFormats.candidates.filter { encoder($0) != nil })
      func choice(_ format: ImageFormat) -> EncoderChoice? {
        encoder(format).map { EncoderChoice($0, quality: quality, isLossless: false) }
      }
      return .several(
        named: named.compactMap(choice),
        opaque: choice(.jpeg),
        transparent: choice(.png),
        animated: choice(.gif),
      )
    }
  }

  enum Candidates {
    case one(EncoderChoice?, ImageFormat)
    case several(named: [EncoderChoice], opaque: EncoderChoice?, transparent: EncoderChoice?, animated: EncoderChoice?)
  }
}

/// The formats that an `Accept` header names.
struct AcceptedFormats: Sendable, Hashable {
  /// The formats that not every client reads, those of the smallest files first.
  static let candidates: [ImageFormat] = [.avif, .jxl, .webp]

  /// Those that are named, with their weights in thousandths.
  private let weights: [(format: ImageFormat, weight: Int)]

  /// Reads a header (RFC 9110, section 12.5.1); what is none is ignored.
  init(_ header: String) {
    var weights: [ImageFormat: Int] = [:]
    for item in header.lowercased().split(separator: ",") {
      let parts = item.split(separator: ";").map { part in part.filter { !$0.isWhitespace } }
      guard let type = parts.first, let format = Self.candidates.first(where: { $0.mediaType == type }) else {
        continue
      }
      let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
      weights[format] = weight.isFinite ? Int((min(max(weight, 0), 1) * 1000).rounded()) : 0
    }
    self.weights = Self.candidates.compactMap { format in
      weights[format].flatMap { $0 > 0 ? (format, $0) : nil }
    }
  }

  /// Returns those that are named, the best first.
  func best(among formats: [ImageFormat]) -> [ImageFormat] {
    // Stable: with equal weights the order of the candidates counts.
    weights.enumerated().filter { formats.contains($0.element.format) }
      .sorted { ($1.element.weight, $0.offset) < ($0.element.weight, $1.offset) }.map(\.element.format)
  }

  /// The formats in order, without their weights.
  var identifier: String { best(among: Self.candidates).map(\.name).joined(separator: ",") }

  static func == (left: Self, right: Self) -> Bool { left.identifier == right.identifier }

  func hash(into hasher: inout Hasher) { hasher.combine(identifier) }
}
