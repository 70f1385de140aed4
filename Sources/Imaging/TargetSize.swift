/// The size at which an image is wanted, and how it is to be fitted in.
///
/// ```swift
/// TargetSize.pixels(300, 300, .fill)
/// TargetSize.points(150, 150, .fit, scale: 2)   // the same 300 pixels on a display of scale 2
/// TargetSize.pixels(width: 400)                 // any height
/// ```
/// No mode enlarges an image unless ``enlarges`` is set. Zero, negative, infinite and undefined lengths are accepted
/// here and refused where the size is used, with ``ImageError/Code/invalidSize``.
public struct TargetSize: Hashable, Sendable, CustomStringConvertible {
  /// How an image is fitted into a box of another shape.
  public enum Mode: String, Hashable, Sendable, CaseIterable {
    /// Inside the box, aspect kept: the whole image is seen and one side may be shorter than the box.
    case fit
    /// Covers the box, aspect kept, cropped to it; ``TargetSize/anchor`` says what part stays.
    case fill
    /// Stretched to the box.
    case exact
  }

  /// The box's width in pixels; `nil` leaves it open.
  public let width: Double?
  /// The box's height in pixels; `nil` leaves it open.
  public let height: Double?
  /// How the image is fitted in.
  public let mode: Mode
  /// Whether an image smaller than the box is enlarged; `false` unless told.
  public var enlarges: Bool
  /// What part of the image stays when ``Mode/fill`` crops it; ``Anchor/center`` unless told.
  public var anchor = Anchor.center

  private init(width: Double?, height: Double?, mode: Mode, enlarges: Bool) {
    self.width = width
    self.height = height
    self.mode = mode
    self.enlarges = enlarges
  }

  /// A box in pixels.
  public static func pixels(
    _ width: Double,
    _ height: Double,
    _ mode: Mode = .fit,
    anchor: Anchor = .center,
    enlarges: Bool = false,
  ) -> TargetSize {
    var size = TargetSize(width: width, height: height, mode: mode, enlarges: enlarges)
    size.anchor = anchor
    return size
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

  /// A bound on the width, in pixels; the height follows the image's aspect.
  public static func pixels(width: Double, enlarges: Bool = false) -> TargetSize {
    TargetSize(width: width, height: nil, mode: .fit, enlarges: enlarges)
  }

  /// A bound on the height, in pixels; the width follows the image's aspect.
  public static func pixels(height: Double, enlarges: Bool = false) -> TargetSize {
    TargetSize(width: nil, height: height, mode: .fit, enlarges: enlarges)
  }

  /// A box in points of a display with `scale` pixels a point.
  public static func points(
    _ width: Double,
    _ height: Double,
    _ mode: Mode = .fit,
    scale: Double,
    anchor: Anchor = .center,
    enlarges: Bool = false,
  ) -> TargetSize {
    .pixels(width * scale, height * scale, mode, anchor: anchor, enlarges: enlarges)
  }
}

/// What part of an upright image is shown, and in how many pixels.
package struct SamplingPlan: Hashable, Sendable {
  /// The part of the source that is used, in its pixels.
  package var crop: PixelRect
  /// The output, in pixels.
  package var width: Int
  package var height: Int

  /// Everything, at its own size.
  package init(width: Int, height: Int) {
    crop = PixelRect(x: 0, y: 0, width: Double(width), height: Double(height))
    self.width = width
    self.height = height
  }

  /// Fits an upright source of `width` x `height` pixels to `size`.
  package init(_ size: TargetSize?, width: Int, height: Int) throws(ImageError) {
    self.init(width: width, height: height)
    guard let size else { return }
    for length in [size.width, size.height] {
      guard let length else { continue }
      guard length.isFinite, length > 0, length < 1e9 else {
        throw ImageError(.invalidSize, "the size asked for, \(size.box), is not one of positive, finite lengths")
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
      // Never more than there is: the output's sides are rounded, the crop follows them.
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

  /// How many pixels of output there are for one of the source, along each side.
  package var scales: (x: Double, y: Double) { (Double(width) / crop.width, Double(height) / crop.height) }

  private static func pixels(_ length: Double) -> Int { max(1, Int(length.rounded())) }
}

extension TargetSize {
  /// The box, the mode and what differs from the defaults: `300x200 fill`.
  public var description: String {
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

  /// All that a result depends on.
  var identifier: String { "\(box),\(mode.rawValue),\(enlarges),\(anchor.x),\(anchor.y)" }
}
