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

  package init() {}

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
    var (x, y) = scales(w, h)
    (x, y) = (x * zoomX, y * zoomY)
    var ratio = ratio
    if !enlarges {
      let excess = max(x, y)
      if excess > 1 {
        (x, y) = (x / excess, y / excess)
        // A ratio below 1 would take the image even further from the box that it cannot fill.
        if !extends { ratio *= excess }
      }
      ratio = min(ratio, 1 / max(x, y))
    }
    // The least sizes come last, and enlarge.
    let leastX = max(1, minimumWidth / (w * x))
    (x, y) = (x * leastX, y * leastX)
    let leastY = max(1, minimumHeight / (h * y))
    (x, y) = (max(x * leastY * ratio, 1 / w), max(y * leastY * ratio, 1 / h))
    var result = Result(
      width: (w * x).rounded(),
      height: (h * y).rounded(),
      cropWidth: 0,
      cropHeight: 0,
      boxWidth: (width * zoomX * ratio).rounded(),
      boxHeight: (height * zoomY * ratio).rounded(),
      ratio: ratio,
    )
    (result.cropWidth, result.cropHeight) = crop(result)
    return result
  }

  /// Returns the scales at a ratio and a zoom of 1.
  private func scales(_ w: Double, _ h: Double) -> (Double, Double) {
    let (x, y) = (width > 0 ? width / w : 1, height > 0 ? height / h : 1)
    if fit == .force || (x, y) == (1, 1) { return (x, y) }
    if width == 0 { return (y, y) }
    if height == 0 { return (x, x) }
    let fills = fit == .fill || fit == .fillDown || fit == .auto && (w >= h) == (width >= height)
    let scale = fills ? max(x, y) : min(x, y)
    return (scale, scale)
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

  /// The rules for an image that is turned by a right angle afterwards, and then keeps the same part by its centre.
  package var turned: FitRules {
    var rules = self
    (rules.width, rules.height, rules.zoomX, rules.zoomY) = (height, width, zoomY, zoomX)
    (rules.minimumWidth, rules.minimumHeight) = (minimumHeight, minimumWidth)
    return rules
  }

  /// A text that equal rules have in common.
  var text: String {
    let numbers = [width, height, zoomX, zoomY, ratio, minimumWidth, minimumHeight].map(DecimalText.of)
    return
      (["box", fit.rawValue] + numbers + [gravity.text] + (enlarges ? ["enlarging"] : [])
      + (extends ? ["extending"] : [])).joined(separator: " ")
  }
}

extension SamplingPlan {
  /// Fits an upright source of `width` x `height` pixels by rules.
  init(_ rules: FitRules, width: Int, height: Int) {
    self.init(width: width, height: height)
    let (w, h) = (Double(width), Double(height))
    let result = rules.fitted(w, h)
    let (x, y) = rules.gravity.origin(
      of: (result.cropWidth, result.cropHeight),
      in: (result.width, result.height),
      ratio: result.ratio,
    )
    let (stepX, stepY) = (w / result.width, h / result.height)
    crop = PixelRect(
      x: x * stepX,
      y: y * stepY,
      width: min(w - x * stepX, result.cropWidth * stepX),
      height: min(h - y * stepY, result.cropHeight * stepY),
    )
    (self.width, self.height) = (Int(result.cropWidth), Int(result.cropHeight))
  }
}
