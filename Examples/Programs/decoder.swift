// decoder FILE.ppm OUT.png: reads a format that Vitrine does not know. Limits and errors are as everywhere.
import Foundation
import VitrineImaging

let ppm = ImageFormat(name: "ppm", mediaType: "image/x-portable-pixmap", fileExtension: "ppm")

let decoder = WholeImageDecoder(ppm, signature: "P6\n".utf8) { file, control in
  let parts = file.split(separator: 10, maxSplits: 3, omittingEmptySubsequences: false)
  let sides = parts.dropFirst().first.map {
    String(decoding: $0, as: UTF8.self).split(separator: " ").compactMap { Int($0) }
  }
  guard parts.count == 4, let sides, sides.count == 2 else { throw ImageError(.corrupt, format: ppm, "no header") }
  try control.begin(width: sides[0], height: sides[1], hasAlpha: false)
  let colors = [UInt8](parts[3])
  guard colors.count >= 3 * sides[0] * sides[1] else {
    throw ImageError(.truncated, format: ppm, "pixels are missing")
  }
  return Bitmap(width: sides[0], height: sides[1], alpha: .opaque) { pixels in
    for index in pixels.indices { pixels[index] = index % 4 == 3 ? 255 : colors[index / 4 * 3 + index % 4] }
  }
}

@main
enum Decoder {
  static func main() throws {
    var decoders = DecoderRegistry.standard
    decoders.add(decoder)
    let image = try decoders.decode(Data(contentsOf: URL(filePath: CommandLine.arguments[1])))
    try image.bitmap.encoded(as: .png).write(to: URL(filePath: CommandLine.arguments[2]))
    print(image.info.format, image.info.width, image.info.height)
  }
}
