/// The rules by which a thumbnail server fits an image into a box, as imgproxy documents them.
///
/// They need the size of the image: it bounds the device pixel ratio, and so every distance that the ratio multiplies.
package struct FitRules: Hashable, Sendable {
  /// The way in which the image is fitted into the box.
  package enum Fit: String, Sendable, Hashable, CaseIterable {
    /// Inside the box, keeping the aspect ratio.
    case fit
    /// Covering the box, keeping the aspect ratio, cropped to it.
    case fill
    /// Like ``fill``; an image that is too small is cropped to the aspect ratio of the box.
    case fillDown = "fill-down"
    /// Stretched to the box.
    case force
    /// ``fill`` if the image and the box are both landscape or both portrait, otherwise ``fit``.
    case auto
  }

  package var fit = Fit.fit
  /// The width of the box at a ratio of 1, in pixels; 0 for any.
  package var width = 0.0
  /// The height, like ``width``.
  package var height = 0.0
  /// The factors of the scaled image and of the box.
  package var zoomX = 1.0
  package var zoomY = 1.0
  /// The number of pixels for each that is named, if the image has as many.
  package var ratio = 1.0
  /// The least width, at a ratio of 1; 0 for none.
  package var minimumWidth = 0.0
  package var minimumHeight = 0.0
  package var enlarges = false
  /// True if the image is put on a canvas of the size of the box, which is composed alike at every ratio.
  package var extends = false
  /// The part that stays when the image is cropped.
  package var gravity = Gravity.center
  /// The transform of the decoded image into the one that is fitted.
  package var turn = Orientation.up
  /// The longest side of the result; `nil` for any.
  package var limit: Limit?

  package init() {}

  /// The longest side of a result, and the canvas and the padding around the image.
  package struct Limit: Hashable, Sendable {
    /// The longest side, in pixels.
    package var side: Double
    /// True if the image is put on a canvas of the shape of the box.
    package var keepsShape = false
    /// The padding at a ratio of 1, in pixels: at the top, right, bottom and left.
    package var padding = SIMD4<Double>()

    package init(side: Double) { self.side = side }
  }

  /// The sizes that follow for an image.
  package struct Result: Hashable, Sendable {
    /// The size of the whole image before it is cropped, in pixels, at least 1.
    package var width: Double
    package var height: Double
    /// The size to which the image is cropped, at most its own.
    package var cropWidth: Double
    package var cropHeight: Double
    /// The box, in pixels of the result; 0 for an open side.
    package var boxWidth: Double
    package var boxHeight: Double
    /// The factor of distances.
    package var ratio: Double
  }

  /// Fits an image of `w` by `h` pixels.
  package func fitted(_ w: Double, _ h: Double) -> Result {
    // These are pixels of the image for one of the result. Halves depend on the order of the divisions, as in imgproxy.
    var (x, y) = shrinks(w, h)
    (x, y) = (x / zoomX, y / zoomY)
    var ratio = ratio
    if !enlarges {
      let least = min(x, y)
      if least < 1 {
        (x, y) = (x / least, y / least)
        // A ratio below 1 would take the image even further from the box that it cannot fill.
        if !extends { ratio /= least }
      }
      ratio = min(ratio, x, y)
    }
    // The least sizes come last, and enlarge.
    if minimumWidth > 0, w / minimumWidth < x { (x, y) = (w / minimumWidth, y / (x / (w / minimumWidth))) }
    if minimumHeight > 0, h / minimumHeight < y { (x, y) = (x / (y / (h / minimumHeight)), h / minimumHeight) }
    (x, y) = (min(x / ratio, w), min(y / ratio, h))
    var result = result(w, h, x, y, ratio)
    // Sides are rounded: after one turn a side may still have a pixel too many.
    for _ in 0..<3 {
      let excess = excess(of: result)
      guard excess > 1 else { break }
      (x, y, ratio) = (min(x * excess, w), min(y * excess, h), ratio / excess)
      result = self.result(w, h, x, y, ratio)
    }
    return result
  }

  /// Returns the sizes for an image that shrinks, and a factor of distances.
  private func result(_ w: Double, _ h: Double, _ x: Double, _ y: Double, _ ratio: Double) -> Result {
    var result = Result(
      width: (w * (1 / x)).rounded(),
      height: (h * (1 / y)).rounded(),
      cropWidth: 0,
      cropHeight: 0,
      boxWidth: (width * (ratio * zoomX)).rounded(),
      boxHeight: (height * (ratio * zoomY)).rounded(),
      ratio: ratio,
    )
    (result.cropWidth, result.cropHeight) = crop(result)
    return result
  }

  /// Returns the factor by which the longest side is beyond the limit, with canvas and padding.
  private func excess(of result: Result) -> Double {
    guard let limit else { return 0 }
    var sides = (width: result.cropWidth, height: result.cropHeight)
    if extends {
      sides = Self.extended(sides, to: (result.boxWidth, result.boxHeight))
    } else if limit.keepsShape {
      sides = Self.shaped(sides, like: (result.boxWidth, result.boxHeight))
    }
    let edges = (limit.padding * result.ratio).rounded(.toNearestOrEven)
    return max(sides.width + edges[1] + edges[3], sides.height + edges[0] + edges[2]) / limit.side
  }

  /// Returns the size of a canvas with the sides of a box, unless the image has both.
  static func extended(
    _ sides: (width: Double, height: Double),
    to box: (width: Double, height: Double),
  ) -> (width: Double, height: Double) {
    guard box.width > sides.width || box.height > sides.height else { return sides }
    return (box.width > 0 ? box.width : sides.width, box.height > 0 ? box.height : sides.height)
  }

  /// Returns the size of the smallest canvas with the shape of a box, which may have open sides.
  static func shaped(
    _ sides: (width: Double, height: Double),
    like box: (width: Double, height: Double),
  ) -> (width: Double, height: Double) {
    guard box.width > 0, box.height > 0, sides.width > 0, sides.height > 0 else { return sides }
    return box.width / sides.width > box.height / sides.height
      ? (max(sides.width, (sides.height * box.width / box.height).rounded()), sides.height)
      : (sides.width, max(sides.height, (sides.width * box.height / box.width).rounded()))
  }

  /// Returns the pixels of the image for one of the result, along both axes, at a ratio and a zoom of 1.
  private func shrinks(_ w: Double, _ h: Double) -> (Double, Double) {
    let (x, y) = (width > 0 ? w / width : 1, height > 0 ? h / height : 1)
    if fit == .force || (x, y) == (1, 1) { return (x, y) }
    if width == 0 { return (y, y) }
    if height == 0 { return (x, x) }
    let fills = fit == .fill || fit == .fillDown || fit == .auto && (w >= h) == (width >= height)
    let shrink = fills ? min(x, y) : max(x, y)
    return (shrink, shrink)
  }

  private func crop(_ result: Result) -> (Double, Double) {
    var (width, height) = (result.boxWidth, result.boxHeight)
    if fit == .fillDown, !enlarges {
      let (missingX, missingY) = (width / result.width, height / result.height)
      if missingX > missingY, missingX > 1 {
        (width, height) = (result.width, (result.width * height / width).rounded())
      } else if missingY > missingX, missingY > 1 {
        (width, height) = ((result.height * width / height).rounded(), result.height)
      }
    }
    return (
      width > 0 ? min(width, result.width) : result.width, height > 0 ? min(height, result.height) : result.height,
    )
  }

  /// A text that equal rules have in common.
  package var text: String {
    let numbers = [width, height, zoomX, zoomY, ratio, minimumWidth, minimumHeight].map(DecimalText.of)
    return
      (["box", fit.rawValue] + numbers + [gravity.text] + (enlarges ? ["enlarging"] : [])
      + (extends ? ["extending"] : []) + (turn == .up ? [] : ["turned \(turn.rawValue)"])
      + (limit?.texts ?? [])).joined(separator: " ")
  }
}

extension FitRules.Limit {
  fileprivate var texts: [String] {
    ["within", DecimalText.of(side)] + (keepsShape ? ["shaped"] : [])
      + (padding == SIMD4() ? [] : ["padded"] + padding.indices.map { DecimalText.of(padding[$0]) })
  }
}

extension SamplingPlan {
  /// Fits an upright source of `width` x `height` pixels by rules.
  init(_ rules: FitRules, width: Int, height: Int) {
    self.init(width: width, height: height)
    let turned = rules.turn.applied(width: width, height: height)
    let (w, h) = (Double(turned.width), Double(turned.height))
    let result = rules.fitted(w, h)
    let (x, y) = rules.gravity.origin(
      of: (result.cropWidth, result.cropHeight),
      in: (result.width, result.height),
      ratio: result.ratio,
    )
    let (stepX, stepY) = (w / result.width, h / result.height)
    let part = PixelRect(
      x: x * stepX,
      y: y * stepY,
      width: min(w - x * stepX, result.cropWidth * stepX),
      height: min(h - y * stepY, result.cropHeight * stepY),
    )
    crop = rules.turn.stored(part, width: Double(width), height: Double(height))
    (self.width, self.height) = rules.turn.applied(width: Int(result.cropWidth), height: Int(result.cropHeight))
  }
}
