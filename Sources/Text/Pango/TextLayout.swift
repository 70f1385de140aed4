import CVitrineText
import VitrineImaging
import VitrineRuntime

/// A text whose lines have their places, for one thread.
@safe
final class TextLayout {
  // Owned: made in init, freed in deinit.
  private let layout: OpaquePointer
  private let box: vitrine_text_box
  private let color: PixelColor

  /// The size of the smallest box around all lines, in pixels, at least 1.
  var width: Int { Int(box.width) }
  /// The height of that box, in pixels, at least 1.
  var height: Int { Int(box.height) }

  /// Lays out a text without NUL, within the limits of `Bitmap.init(text:)`.
  init(
    _ text: String,
    _ font: TextFont,
    size: Double,
    color: PixelColor,
    width: Int?,
    _ alignment: TextAlignment,
  ) throws(ImageError) {
    var style = vitrine_text_style(
      size: size,
      width: Int32(width ?? -1),
      is_bold: font.isBold,
      is_italic: font.isItalic,
      alignment: Int32(alignment.rawValue),
    )
    // Pango copies the text and the name.
    guard let layout = unsafe vitrine_text_create(text, text.utf8.count, font.family, &style) else {
      throw ImageError(.processingFailed, "the machine has no fonts: apt-get install fonts-dejavu-core")
    }
    unsafe self.layout = layout
    var box = unsafe vitrine_text_get_box(layout)
    // A text may have no width, as a line break alone.
    (box.width, box.height) = (max(box.width, 1), max(box.height, 1))
    (self.box, self.color) = (box, color)
  }

  deinit { unsafe vitrine_text_destroy(layout) }

  /// Draws into `4 * width * height` bytes, which must be zero, as RGBA with premultiplied colours.
  func draw(into pixels: MutableElements<UInt8>) throws(ImageError) {
    precondition(pixels.count == 4 * width * height)
    let (red, green, blue, alpha) = (
      Double(color.red) / 255, Double(color.green) / 255, Double(color.blue) / 255, Double(color.alpha) / 255,
    )
    // The precondition guarantees the room; the message is a constant of cairo's.
    let message = unsafe pixels.withUnsafeBufferPointer { pixels in
      unsafe vitrine_text_draw(layout, box, red, green, blue, alpha, pixels.baseAddress).map {
        unsafe String(cString: $0)
      }
    }
    if let message { throw ImageError(.processingFailed, "cairo cannot draw the text: \(message)") }
    pixels.swapRedAndBlue()
  }
}
