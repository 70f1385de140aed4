import VitrineHTTP
import VitrineImaging
import VitrineRuntime

/// The size and thrift that a client's header fields ask for.
struct ClientHints {
  /// The fields with a width, the first of which counts.
  static let widthFields = ["Sec-CH-Width", "Width"]
  /// The fields with a pixel ratio, the first of which counts.
  static let ratioFields = ["Sec-CH-DPR", "DPR"]

  private let headers: HTTPFields
  private let configuration: Negotiation.Configuration

  init(_ headers: HTTPFields, _ configuration: Negotiation.Configuration) {
    (self.headers, self.configuration) = (headers, configuration)
  }

  /// Sets what a URL leaves open, and notes the fields that decide it.
  func apply(to options: inout ThumbnailOptions, _ vary: inout [String]) {
    let isSaving = configuration.usesSaveData && savesData
    let leavesRatioOpen = options.pixelRatio == nil
    let leavesQualityOpen = options.quality == nil
    if configuration.usesWidthHints, options.width == 0 {
      vary += Self.widthFields
      if let width {
        options.width = width
        // The width counts the screen's pixels already.
        options.pixelRatio = options.pixelRatio ?? 1
      }
    }
    if configuration.usesPixelRatioHints, leavesRatioOpen {
      vary += Self.ratioFields
      if options.pixelRatio == nil, let ratio { options.pixelRatio = isSaving ? 1 : allowed(ratio, for: options) }
    }
    if configuration.usesSaveData, leavesQualityOpen || leavesRatioOpen && configuration.usesPixelRatioHints {
      vary.append("Save-Data")
      if isSaving, leavesQualityOpen { options.quality = configuration.savingQuality }
    }
  }

  private var savesData: Bool { headers["Save-Data"]?.lowercased() == "on" }

  /// The width in pixels of the screen, rounded up to a step.
  private var width: Int? {
    guard let number = number(Self.widthFields), number >= 1, number <= 1e6 else { return nil }
    let step = max(1, configuration.widthStep)
    let steps = Int((number / Double(step)).rounded(.up))
    return min(steps * step, configuration.maxHintedWidth, configuration.maxSide)
  }

  /// Returns the largest ratio in halves that keeps within the limits, at most `ratio`; 1 is within the URL's limits.
  private func allowed(_ ratio: Double, for options: ThumbnailOptions) -> Double {
    var options = options
    options.pixelRatio = ratio
    while let ratio = options.pixelRatio, ratio > 1 {
      let sides = options.operations.mostSides
      guard
        max(sides.width, sides.height) > Double(configuration.maxSide)
          || sides.width * sides.height > Double(configuration.maxPixels)
      else { break }
      options.pixelRatio = ratio - 0.5
    }
    return options.pixelRatio ?? 1
  }

  /// The pixel ratio, rounded up to halves.
  private var ratio: Double? {
    guard let number = number(Self.ratioFields), number > 0, number <= 100 else { return nil }
    return min(max((number * 2).rounded(.up) / 2, 1), 4)
  }

  /// Reads the first field that is there.
  private func number(_ names: [String]) -> Double? {
    guard let text = names.lazy.compactMap({ headers[$0] }).first, text.utf8.count <= 12,
      text.utf8.allSatisfy({ (48...57).contains($0) || $0 == UInt8(ascii: ".") })
    else { return nil }
    return Double(text)
  }
}
