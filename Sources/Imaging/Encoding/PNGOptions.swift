/// The options for encoding PNG.
public struct PNGOptions: EncodingOptions {
  /// The effort spent on fewer bytes.
  public enum Compression: String, Sendable, Hashable, CaseIterable {
    /// As fast as is possible without giving away much: about 1 % of the bytes of a photograph.
    case fast
    /// As few bytes as are possible; takes ten times as long and more.
    case smallest
  }

  /// The effort spent on fewer bytes.
  ///
  /// Defaults to ``Compression/fast``.
  public let compression: Compression

  /// Makes options.
  public init(_ compression: Compression = .fast) { self.compression = compression }

  /// Makes the default options; PNG is always lossless.
  public init(quality: Int?, isLossless: Bool) { self.init() }

  /// Returns `true`.
  public var commonIsLossless: Bool { true }

  /// The options as text.
  public var identifier: String { compression.rawValue }
}

extension ImageEncoding {
  /// PNG with 8 bits a component.
  ///
  /// Without an alpha channel if nothing is transparent; grey, or with a palette, where that loses nothing.
  ///
  /// - Parameter compression: The effort spent on fewer bytes. Defaults to ``PNGOptions/Compression/fast``.
  /// - Returns: The encoding.
  public static func png(_ compression: PNGOptions.Compression = .fast) -> ImageEncoding {
    ImageEncoding(.png, PNGOptions(compression))
  }
}
