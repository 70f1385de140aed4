import CoreGraphics
import CoreText
import VitrineImaging
import VitrineRuntime

/// A text whose lines have their places, for one thread.
final class TextLayout {
  private let lines: [TextLine]
  // Whole pixels, counted from the place where lines begin on the left and from the top of the first line.
  private let left: Double
  private let top: Double

  /// The size of the smallest box around all lines, in pixels, at least 1.
  let width: Int
  /// The height of that box, in pixels, at least 1.
  let height: Int

  /// Lays out a text without NUL, within the limits of `Bitmap.init(text:)`.
  init(
    _ text: String,
    _ font: TextFont,
    size: Double,
    color: PixelColor,
    width: Int?,
    _ alignment: TextAlignment,
  ) throws(ImageError) {
    let typesetter = TextTypesetter(CTFont.matching(font, size: size), color, width: width.map { Double($0) })
    var lines: [TextLine] = []
    for paragraph in TextParagraph.all(of: text) { lines += try typesetter.lines(of: paragraph) }

    // As Pango does it: lines have their places within the width, or within the widest line.
    let room = width.map { Double($0) } ?? lines.reduce(0) { max($0, $1.width) }
    var (left, top, right, bottom) = (Double.infinity, 0.0, -Double.infinity, 0.0)
    for index in lines.indices {
      let line = lines[index]
      let start = (room - line.width) * alignment.share(isRightToLeft: line.isRightToLeft)
      // Spaces at the end have no room. They are on the left of a line from right to left.
      lines[index].x = start - (line.isRightToLeft ? line.spaces : 0)
      lines[index].baseline = bottom + line.ascent
      bottom += line.height
      (left, right) = (min(left, start), max(right, start + line.width))
    }
    // Letters may reach beyond their lines.
    for line in lines {
      guard let ink = line.ink else { continue }
      (left, right) = (min(left, line.x + ink.minX), max(right, line.x + ink.maxX))
      (top, bottom) = (min(top, line.baseline - ink.maxY), max(bottom, line.baseline - ink.minY))
    }
    (left, top) = (left.rounded(.down), top.rounded(.down))
    self.lines = lines
    (self.left, self.top) = (left, top)
    // A text may have no width, as a line break alone.
    (self.width, self.height) = (max(1, Int((right - left).rounded(.up))), max(1, Int((bottom - top).rounded(.up))))
  }

  /// Draws into `4 * width * height` bytes, which must be zero, as RGBA with premultiplied colours.
  func draw(into pixels: MutableElements<UInt8>) throws(ImageError) {
    precondition(pixels.count == 4 * width * height)
    // The precondition guarantees the room, and `pixels` outlives the context, which ends with this function.
    let made = unsafe pixels.withUnsafeBufferPointer {
      unsafe CGContext(
        data: $0.baseAddress,
        width: width,
        height: height,
        bitsPerComponent: 8,
        bytesPerRow: 4 * width,
        space: CGColorSpace(name: CGColorSpace.sRGB) ?? CGColorSpaceCreateDeviceRGB(),
        bitmapInfo: CGImageAlphaInfo.premultipliedLast.rawValue | CGBitmapInfo.byteOrder32Big.rawValue,
      )
    }
    guard let context = made else {
      throw ImageError(.processingFailed, "CoreGraphics cannot draw a text of \(width)x\(height) pixels")
    }
    // The same pixels whatever the settings of a Mac are.
    context.setShouldSubpixelPositionFonts(true)
    context.setShouldSubpixelQuantizeFonts(false)
    context.setShouldSmoothFonts(false)
    context.textMatrix = .identity
    for line in lines {
      guard let letters = line.letters else { continue }
      // The origin of a context is at the bottom.
      context.textPosition = CGPoint(x: line.x - left, y: Double(height) - (line.baseline - top))
      CTLineDraw(letters, context)
    }
  }
}

extension TextAlignment {
  /// The part of the free room that is on the left of a line.
  fileprivate func share(isRightToLeft: Bool) -> Double {
    switch self {
    case .leading: isRightToLeft ? 1 : 0
    case .center: 0.5
    case .trailing: isRightToLeft ? 0 : 1
    }
  }
}
