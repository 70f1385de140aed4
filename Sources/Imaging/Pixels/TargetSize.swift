/// The requested size of an image, and the way it is fitted into that size.
///
/// ```swift
/// TargetSize.pixels(300, 300, .fill)
/// TargetSize.points(150, 150, .fit, scale: 2)   // the same 300 pixels on a display of scale 2
/// TargetSize.pixels(width: 400)                 // any height
/// ```
/// No mode enlarges an image unless ``enlarges`` is set. Zero, negative, infinite and undefined lengths are accepted
/// here and rejected where the size is used, with ``ImageError/Code/invalidSize``.
public struct TargetSize: Hashable, Sendable, CustomStringConvertible {
  /// The way an image is fitted into a box of another shape.
  public enum Mode: String, Hashable, Sendable, CaseIterable {
    /// Inside the box, keeping the aspect ratio: the whole image is visible, and one side may be shorter than the
    /// box.
    case fit
    /// Covering the box, keeping the aspect ratio, cropped to the box at ``TargetSize/anchor``.
    case fill
    /// Stretched to the box.
    case exact
  }

  /// The width of the box in pixels; `nil` for any width.
  public let width: Double?
  /// The height of the box in pixels; `nil` for any height.
  public let height: Double?
  /// The way the image is fitted into the box.
  public let mode: Mode
  /// A Boolean value that indicates whether an image smaller than the box is enlarged.
  ///
  /// Defaults to `false`.
  public var enlarges: Bool {
    didSet { rules?.enlarges = enlarges }
  }
  /// The part of the image that stays when ``Mode/fill`` crops it.
  ///
  /// Defaults to ``Anchor/center``.
  public var anchor: Anchor
  /// The number of pixels in a point, for lengths of processors; 1 for a size in pixels.
  ///
  /// Sizes are equal if they are in pixels.
  public private(set) var scale = 1.0

  /// The rules of a thumbnail server, which count in place of the rest; `nil` for none.
  package private(set) var rules: FitRules?

  /// Makes a box with the rules of a thumbnail server.
  package init(_ rules: FitRules) {
    let width = rules.width > 0 ? rules.width * rules.zoomX * rules.ratio : nil
    let height = rules.height > 0 ? rules.height * rules.zoomY * rules.ratio : nil
    self.init(
      width: rules.turn.swapsAxes ? height : width,
      height: rules.turn.swapsAxes ? width : height,
      mode: rules.fit == .force || rules.zoomX != rules.zoomY ? .exact : rules.fit == .fit ? .fit : .fill,
      enlarges: rules.enlarges,
    )
    self.rules = rules
  }

  init(width: Double?, height: Double?, mode: Mode, anchor: Anchor = .center, enlarges: Bool) {
    self.width = width
    self.height = height
    self.mode = mode
    self.anchor = anchor
    self.enlarges = enlarges
  }

  /// Makes a box in pixels.
  public static func pixels(
    _ width: Double,
    _ height: Double,
    _ mode: Mode = .fit,
    anchor: Anchor = .center,
    enlarges: Bool = false,
  ) -> TargetSize {
    TargetSize(width: width, height: height, mode: mode, anchor: anchor, enlarges: enlarges)
  }

  /// A square box with sides of `side` pixels.
  public static func pixels(
    _ side: Double,
    _ mode: Mode = .fit,
    anchor: Anchor = .center,
    enlarges: Bool = false,
  ) -> TargetSize {
    .pixels(side, side, mode, anchor: anchor, enlarges: enlarges)
  }

  /// Makes a limit on the width, in pixels.
  ///
  /// The height follows the image's aspect ratio.
  public static func pixels(width: Double, enlarges: Bool = false) -> TargetSize {
    TargetSize(width: width, height: nil, mode: .fit, enlarges: enlarges)
  }

  /// Makes a limit on the height, in pixels.
  ///
  /// The width follows the image's aspect ratio.
  public static func pixels(height: Double, enlarges: Bool = false) -> TargetSize {
    TargetSize(width: nil, height: height, mode: .fit, enlarges: enlarges)
  }

  /// Makes a box in whole pixels, such as the sides of a bitmap.
  public static func pixels(
    _ width: Int,
    _ height: Int,
    _ mode: Mode = .fit,
    anchor: Anchor = .center,
    enlarges: Bool = false,
  ) -> TargetSize {
    .pixels(Double(width), Double(height), mode, anchor: anchor, enlarges: enlarges)
  }

  /// A square box with sides of `side` whole pixels.
  public static func pixels(
    _ side: Int,
    _ mode: Mode = .fit,
    anchor: Anchor = .center,
    enlarges: Bool = false,
  ) -> TargetSize {
    .pixels(Double(side), mode, anchor: anchor, enlarges: enlarges)
  }

  /// Makes a limit on the width, in whole pixels.
  ///
  /// The height follows the image's aspect ratio.
  public static func pixels(width: Int, enlarges: Bool = false) -> TargetSize {
    .pixels(width: Double(width), enlarges: enlarges)
  }

  /// Makes a limit on the height, in whole pixels.
  ///
  /// The width follows the image's aspect ratio.
  public static func pixels(height: Int, enlarges: Bool = false) -> TargetSize {
    .pixels(height: Double(height), enlarges: enlarges)
  }

  /// Makes a box in points of a display with `scale` pixels a point.
  public static func points(
    _ width: Double,
    _ height: Double,
    _ mode: Mode = .fit,
    scale: Double,
    anchor: Anchor = .center,
    enlarges: Bool = false,
  ) -> TargetSize {
    var size = pixels(width * scale, height * scale, mode, anchor: anchor, enlarges: enlarges)
    size.scale = scale
    return size
  }

  /// Returns `true` if all but the scales are equal.
  public static func == (left: Self, right: Self) -> Bool {
    left.width == right.width && left.height == right.height && left.mode == right.mode
      && left.enlarges == right.enlarges && left.anchor == right.anchor && left.rules == right.rules
  }

  /// Hashes all but the scale.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(width)
    hasher.combine(height)
    hasher.combine(mode)
    hasher.combine(enlarges)
    hasher.combine(anchor)
    hasher.combine(rules)
  }
}

/// The part of an upright image that is shown, and its size in the output.
package struct SamplingPlan: Hashable, Sendable {
  /// The part of the source that is used, in its pixels.
  package var crop: PixelRect
  /// The output, in pixels.
  package var width: Int
  package var height: Int

  /// Makes a plan of the whole source at its own size.
  package init(width: Int, height: Int) {
    crop = PixelRect(x: 0, y: 0, width: Double(width), height: Double(height))
    self.width = width
    self.height = height
  }

  /// Fits an upright source of `width` x `height` pixels to `size`.
  package init(_ size: TargetSize?, width: Int, height: Int) throws(ImageError) {
    self.init(width: width, height: height)
    guard let size else { return }
    if let rules = size.rules {
      self.init(rules, width: width, height: height)
      return
    }
    for length in [size.width, size.height] {
      guard let length else { continue }
      guard length.isFinite, length > 0, length < 1e9 else {
        throw ImageError(.invalidSize, "the size \(size.box) is not valid: lengths must be positive and finite")
      }
    }
    let (w, h) = (Double(width), Double(height))
    let most = size.enlarges ? Double.infinity : 1
    let scaleX = size.width.map { $0 / w }
    let scaleY = size.height.map { $0 / h }
    switch size.mode {
    case .exact:
      self.width = Self.pixels(w * min(scaleX ?? scaleY ?? 1, most))
      self.height = Self.pixels(h * min(scaleY ?? scaleX ?? 1, most))
    case .fit:
      let scale = min(scaleX ?? .infinity, scaleY ?? .infinity, most)
      guard scale.isFinite else { return }
      self.width = Self.pixels(w * scale)
      self.height = Self.pixels(h * scale)
    case .fill:
      guard let boxWidth = size.width, let boxHeight = size.height, let scaleX, let scaleY else {
        let scale = min(scaleX ?? scaleY ?? 1, most)
        self.width = Self.pixels(w * scale)
        self.height = Self.pixels(h * scale)
        return
      }
      let scale = min(max(scaleX, scaleY), most)
      self.width = min(Self.pixels(boxWidth), Self.pixels(w * scale))
      self.height = min(Self.pixels(boxHeight), Self.pixels(h * scale))
      // Clamped to the source: the output's sides are rounded, and the crop follows them.
      let (cropWidth, cropHeight) = (min(w, Double(self.width) / scale), min(h, Double(self.height) / scale))
      crop = PixelRect(
        x: (w - cropWidth) * size.anchor.x,
        y: (h - cropHeight) * size.anchor.y,
        width: cropWidth,
        height: cropHeight,
      )
    }
  }

  /// The smallest scale at which a decoder may deliver, so that nothing has to be enlarged.
  var scale: Double { max(scales.x, scales.y) }

  /// The number of output pixels for one of the source, along each axis.
  package var scales: (x: Double, y: Double) { (Double(width) / crop.width, Double(height) / crop.height) }

  private static func pixels(_ length: Double) -> Int { max(1, Int(length.rounded())) }
}

extension TargetSize {
  /// The box, the mode and other values than the defaults: `300x200 fill`.
  public var description: String {
    if let rules { return rules.text }
    var parts = [box, mode.rawValue]
    if anchor != .center { parts.append("anchored at \(anchor.x), \(anchor.y)") }
    if enlarges { parts.append("enlarging") }
    return parts.joined(separator: " ")
  }

  /// The box for a message: `300x200`, `300x`.
  var box: String {
    func text(_ length: Double?) -> String {
      guard let length else { return "" }
      return Int(exactly: length).map(String.init) ?? "\(length)"
    }
    return "\(text(width))x\(text(height))"
  }
}
