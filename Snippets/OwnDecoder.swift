// A decoder of a program's own.

import Foundation
import Vitrine
import VitrineImaging

// snippet.show
let ppm = ImageFormat(name: "ppm", mediaType: "image/x-portable-pixmap", fileExtension: "ppm")

// (Data, WholeImageDecoder.Control) throws -> Bitmap
let decoder = WholeImageDecoder(ppm, signature: "P6\n".utf8) { file, control in
  // "P6\n640 480\n255\n", and three bytes a pixel.
  let parts = file.split(separator: UInt8(ascii: "\n"), maxSplits: 3, omittingEmptySubsequences: false)
  guard parts.count == 4 else { throw ImageError(.truncated, format: ppm, "the header is cut off") }
  let sides = String(decoding: parts[1], as: UTF8.self).split(separator: " ").compactMap { Int($0) }
  guard sides.count == 2 else { throw ImageError(.corrupt, format: ppm, "the header has no size") }

  // The limits are checked here, before the pixels take memory.
  try control.begin(width: sides[0], height: sides[1], hasAlpha: false)
  let (colors, count) = ([UInt8](parts[3]), sides[0] * sides[1])
  guard colors.count >= 3 * count else { throw ImageError(.truncated, format: ppm, "pixels are missing") }
  return Bitmap(width: sides[0], height: sides[1], alpha: .opaque) { pixels in
    for index in 0..<count {
      for component in 0..<3 { pixels[4 * index + component] = colors[3 * index + component] }
      pixels[4 * index + 3] = 255
    }
  }
}

let pipeline = ImagePipeline { $0.decoders.add(decoder) }
// snippet.hide
