package import VitrineImaging
import VitrineRuntime

/// A picture to be encoded, without its long parts: pixels at the beginning of the input, then EXIF and XMP.
package struct EncodeQuestion: Equatable, Sendable {
  /// The facts of an animation that an encoder needs.
  package struct Animation: Equatable, Sendable {
    package var frameCount = 1
    package var loopCount = 0
    package var hasAlpha = false
  }

  package var format = ImageFormat.avif
  package var options = SandboxEncodingOptions()
  package var width = 1
  package var height = 1
  package var isOpaque = true
  package var colorSpace = ColorSpace.sRGB
  package var exif: SharedRange?
  package var xmp: SharedRange?
  package var animation: Animation?

  package init() {}

  /// The bytes of the pixels.
  package var pixelByteCount: Int { 4 * width * height }
}

/// A frame that an encoder has asked for, whose pixels are in the input.
package struct EncodeFrame: Equatable, Sendable {
  package var isOpaque = true
  package var delay = 0.0

  package init() {}
}

extension Message {
  package mutating func code(_ question: inout EncodeQuestion) throws(Malformed) {
    try code(&question.format, "format")
    try code(&question.options)
    try code(&question.width, "width", in: 1...1 << 30)
    try code(&question.height, "height", in: 1...1 << 30)
    guard isWriting || question.width <= (1 << 38) / question.height else { throw Malformed(field: "height") }
    try code(&question.isOpaque, "alpha")
    try code(&question.colorSpace, "colour space")
    try code(&question.exif, "EXIF", from: SharedRange()) { (message, range) throws(Malformed) in
      try message.code(&range, "EXIF")
    }
    try code(&question.xmp, "XMP", from: SharedRange()) { (message, range) throws(Malformed) in
      try message.code(&range, "XMP")
    }
    try code(&question.animation, "animation", from: EncodeQuestion.Animation()) {
      (message, animation) throws(Malformed) in
      try message.code(&animation.frameCount, "number of frames", in: 1...Int(Int32.max))
      try message.code(&animation.loopCount, "number of loops", in: 0...Int(Int32.max))
      try message.code(&animation.hasAlpha, "alpha")
    }
  }

  private mutating func code(_ options: inout SandboxEncodingOptions) throws(Malformed) {
    var (quality, isLossless, effort) = (options.quality, options.isLossless, options.effort)
    var subsampling = options.subsampling
    try code(&quality, "quality", from: 1) { (message, quality) throws(Malformed) in
      try message.code(&quality, "quality", in: 1...100)
    }
    try code(&isLossless, "lossless")
    try code(&effort, "effort", from: 0) { (message, effort) throws(Malformed) in
      try message.code(&effort, "effort", in: 0...10)
    }
    try code(&subsampling, "subsampling", from: .yuv420) { (message, subsampling) throws(Malformed) in
      try message.code(&subsampling, "subsampling")
    }
    options = SandboxEncodingOptions(
      quality: quality,
      isLossless: isLossless,
      effort: effort,
      subsampling: subsampling,
    )
  }

  /// Codes a frame, or that there is none.
  package mutating func code(_ frame: inout EncodeFrame?) throws(Malformed) {
    try code(&frame, "frame", from: EncodeFrame()) { (message, frame) throws(Malformed) in
      try message.code(&frame.isOpaque, "alpha")
      try message.code(&frame.delay, "delay", in: 0...1e12)
    }
  }
}
