public import VitrineHTTP
public import VitrineImaging

/// The answer that a client can use: the format, and the options that its header fields decide.
///
/// ```swift
/// let answer = Negotiation.choose(request, headers: headers, configuration)
/// let image = try await pipeline.encoded(for: try answer.options.imageRequest(for: source), as: answer.encoding)
/// ```
/// ``canonical`` names everything that headers have changed, so two clients share a response only if it is the same.
public struct Negotiation: Sendable, Hashable {
  /// The options, with the size, pixel ratio and quality that the headers decide.
  public package(set) var options: ThumbnailOptions
  /// The format; `nil` for the source's, as `ImageEncoding.automatic(preferring:)` has it.
  public let format: ImageFormat?
  /// The names of the header fields on which the response depends, for `Vary`.
  ///
  /// They depend on the request and the settings only, and not on the client's headers: also the response to a client
  /// without a field depends on its absence.
  public let vary: [String]

  /// Options and format in one text, for validators and keys.
  public var canonical: String { "\(options.canonical)@\(format?.name ?? "still")" }

  /// The encoding.
  public var encoding: ImageEncoding { options.encoding(as: format) }

  /// The settings.
  public struct Configuration: Sendable {
    /// The formats that are chosen by `Accept`, if the server has encoders for them.
    ///
    /// Defaults to all that not every client shows.
    public var formats = ImageFormat.negotiated
    /// The costs and benefits of formats.
    ///
    /// Defaults to ``FormatCosts/measured``.
    public var costs = FormatCosts.measured
    /// The maximum time of encoding for which a format is chosen.
    ///
    /// Formats that would take longer are left to requests that name them. Defaults to 2.5 s, in which WebP has 22
    /// megapixels and AVIF has 8.
    public var timeLimit = Duration.milliseconds(2_500)
    /// A Boolean value that indicates whether `Sec-CH-Width` and `Width` set a width that the URL leaves open.
    ///
    /// Defaults to `false`.
    public var usesWidthHints = false
    /// A Boolean value that indicates whether `Sec-CH-DPR` and `DPR` set a pixel ratio that the URL leaves open.
    ///
    /// Defaults to `false`.
    public var usesPixelRatioHints = false
    /// A Boolean value that indicates whether `Save-Data: on` lowers quality and pixel ratio that the URL leaves open.
    ///
    /// Defaults to `false`.
    public var usesSaveData = false
    /// The step to which widths of hints are rounded up, in pixels, so that clients share thumbnails.
    ///
    /// Defaults to 80.
    public var widthStep = 80
    /// The maximum side in pixels that hints lead to, with zoom and padding; a pixel ratio beyond is lowered.
    ///
    /// Defaults to 8,192. A server sets the maximum of its URLs.
    public var maxSide = 8192
    /// The maximum number of pixels that hints lead to, where width and height are known.
    ///
    /// Defaults to 33,554,432. A server sets the maximum of its URLs.
    public var maxPixels = 33_554_432
    /// The maximum width that a hint sets.
    ///
    /// Defaults to 3,840.
    public var maxHintedWidth = 3840
    /// The quality with `Save-Data`, on the scale of JPEG.
    ///
    /// Defaults to 60.
    public var savingQuality = 60

    /// Makes the default settings.
    public init() {}

    /// The names of the header fields that may be consulted for some request.
    package var consultedFields: [String] {
      (formats.isEmpty ? [] : ["Accept"]) + (usesWidthHints ? ClientHints.widthFields : [])
        + (usesPixelRatioHints ? ClientHints.ratioFields : []) + (usesSaveData ? ["Save-Data"] : [])
    }
  }

  /// Returns all fields that may be consulted for some request, as a client has sent them, in one text.
  ///
  /// Of one URL, two clients with equal texts get the same.
  ///
  /// - Parameters:
  ///   - configuration: The settings. Defaults to `Configuration()`.
  ///   - value: Returns the client's value of a field; `nil` if it has sent none.
  /// - Returns: The text.
  public static func fingerprint(
    _ configuration: Configuration = Configuration(),
    value: (_ name: String) -> String?,
  ) -> String {
    // A value has no line breaks.
    configuration.consultedFields.map { value($0) ?? "" }.joined(separator: "\n")
  }

  /// The number of frames of an animation that has not been loaded.
  private static let assumedFrames = 40.0

  /// Chooses what a client gets.
  ///
  /// Of the formats that `Accept` names with the highest weight, it is the one of the smallest files whose encoding
  /// stays within the time. A source with the name of an animation, such as a GIF, is taken for 40 frames.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - headers: The header fields of the client.
  ///   - configuration: The settings. Defaults to `Configuration()`.
  /// - Returns: The choice.
  public static func choose(
    _ request: ThumbnailRequest,
    headers: HTTPFields,
    _ configuration: Configuration = Configuration(),
  ) -> Negotiation {
    // Facts of the original are the same for all.
    guard !request.isInfo else { return Negotiation(options: request.options, format: nil, vary: []) }
    var vary: [String] = []
    var options = request.options
    ClientHints(headers, configuration).apply(to: &options, &vary)
    guard request.format == nil, !configuration.formats.isEmpty else {
      return Negotiation(options: options, format: request.format, vary: vary)
    }
    vary.append("Accept")
    let accepted = AcceptedTypes(headers["Accept"] ?? "")
    let frames = options.animates && options.page == 0 && request.source.mostlyMoves ? assumedFrames : 1
    let format = configuration.costs.best(
      of: configuration.formats,
      accepted,
      pixels: options.outputPixels * frames,
      within: configuration.timeLimit,
    )
    return Negotiation(options: options, format: format, vary: vary)
  }
}

extension ThumbnailOptions {
  /// The largest number of pixels that the result can have, as far as the options tell.
  ///
  /// Where they leave a side open, an image of the shape of a portrait is assumed, and one of 12 megapixels where they
  /// leave open both.
  var outputPixels: Double {
    let boxes = pipelines.map { ResizeBox($0) }
    let box = boxes.last { $0.width > 0 || $0.height > 0 } ?? boxes[0]
    let (w, h) = (box.width, box.height)
    let limit = box.rules.limit?.side ?? .infinity
    let pixels =
      switch (w > 0, h > 0) {
      case (true, true): w * h
      case (true, false): w * w * 1.5
      case (false, true): h * h * 1.5
      case (false, false): 12e6
      }
    return min(pixels, limit * limit)
  }
}

extension ThumbnailRequest.Source {
  /// A Boolean value that indicates whether the name has the extension of a format that mostly moves.
  fileprivate var mostlyMoves: Bool { namedFormat?.row.motion == .mostly }

  /// The format that the extension of the name stands for; `nil` if there is none that is known.
  package var namedFormat: ImageFormat? {
    let path =
      switch self {
      case .url(let url): ObjectURL(standIn: url)?.key[...] ?? url.prefix { $0 != "?" }
      case .localFile(let path): path[...]
      }
    guard let dot = path.lastIndex(of: ".") else { return nil }
    return ImageFormat(fileExtension: path[path.index(after: dot)...])
  }
}
