/// The options for encoding PNG.
package struct PNGOptions: EncodingOptions {
  /// The effort spent on fewer bytes.
  ///
  /// Defaults to ``ImageEncoding/PNGCompression/fast``.
  package let compression: ImageEncoding.PNGCompression

  /// Makes options.
  package init(_ compression: ImageEncoding.PNGCompression = .fast) { self.compression = compression }

  /// Makes the default options; PNG is always lossless.
  package init(quality: Int?, isLossless: Bool) { self.init() }

  /// Returns `true`.
  package var commonIsLossless: Bool { true }

  /// The options as text.
  package var identifier: String { compression.rawValue }
}

extension ImageEncoding {
  /// The effort spent on fewer bytes.
  public enum PNGCompression: String, Sendable, Hashable, CaseIterable {
    /// As fast as is possible without giving away much: about 1 % of the bytes of a photograph.
    case fast
    /// As few bytes as are possible; takes ten times as long and more.
    case smallest
  }

  /// PNG with 8 bits a component.
  ///
  /// Without an alpha channel if nothing is transparent; grey, or with a palette, where that loses nothing.
  ///
  /// - Parameter compression: The effort spent on fewer bytes. Defaults to ``ImageEncoding/PNGCompression/fast``.
  /// - Returns: The encoding.
  public static func png(_ compression: PNGCompression = .fast) -> ImageEncoding {
    ImageEncoding(.png, PNGOptions(compression))
  }
}
