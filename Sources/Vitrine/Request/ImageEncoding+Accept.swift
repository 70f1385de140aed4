package import VitrineHTTP
public import VitrineImaging

extension ImageEncoding {
  /// The format that a client prefers, as its `Accept` header says.
  ///
  /// The header names formats that not every client shows, such as AVIF. The named format with the highest `q` is chosen,
  /// if the `EncoderRegistry` has an encoder; among equals, the format of the smallest files. `image/*` and `*/*` do not
  /// count, since browsers send them whatever they can show. Otherwise it is PNG for a picture with transparency, GIF for
  /// an animation, and JPEG for all others.
  ///
  /// - Parameters:
  ///   - accept: The value of the header (RFC 9110, section 12.5.1); several are joined by commas. Without one, or
  ///     with anything else, nothing is named.
  ///   - quality: The quality on the scale of the format that is chosen. Defaults to `nil`, its default.
  /// - Returns: The encoding.
  public static func automatic(accepting accept: String?, quality: Int? = nil) -> ImageEncoding {
    let accepted = AcceptedTypes(accept ?? "")
    let candidates = ImageFormat.negotiated.enumerated().map { place, format in
      (format: format, weight: accepted.weight(of: format), place: place)
    }
    let named = candidates.filter { $0.weight > 0 }.sorted { ($1.weight, $0.place) < ($0.weight, $1.place) }
    return .automatic(preferring: named.map(\.format), quality: quality)
  }
}

extension AcceptedTypes {
  /// Returns the weight of a format under any of its media types, in thousandths.
  package func weight(of format: ImageFormat) -> Int { format.mediaTypes.map { weight(of: $0) }.max() ?? 0 }
}
