// A processor of a program's own.

import Foundation
import Vitrine
import VitrineImaging

// snippet.show
extension ImageProcessor {
  /// Adds red, and takes away as much blue.
  static func warmth(_ amount: Int) -> ImageProcessor {
    // (Bitmap) throws -> Bitmap
    .custom(id: "warmth \(amount)") { bitmap in
      Bitmap(width: bitmap.width, height: bitmap.height, alpha: bitmap.alpha, colorSpace: bitmap.colorSpace) { pixels in
        bitmap.withUnsafeBytes { source in
          for red in stride(from: 0, to: pixels.count, by: 4) {
            pixels[red] = UInt8(clamping: Int(source[red]) + amount)
            pixels[red + 1] = source[red + 1]
            pixels[red + 2] = UInt8(clamping: Int(source[red + 2]) - amount)
            pixels[red + 3] = source[red + 3]
          }
        }
      }
    }
  }
}
// snippet.hide

func request(_ url: URL) -> ImageRequest {
  // snippet.show
  let request = ImageRequest(url: url, processors: [.warmth(20)])
  // snippet.hide
  return request
}
