// animation IN.gif SHEET.png OUT.webp: all frames beside one another, and the same animation as WebP.
import Foundation
import VitrineImaging

@main
enum Animation {
  static func main() throws {
    let (file, paths) = (try Data(contentsOf: URL(filePath: CommandLine.arguments[1])), CommandLine.arguments)
    var frames = try FrameSource(file)
    var bitmaps: [Bitmap] = []
    while let frame = try frames.next() { bitmaps.append(frame.bitmap) }
    var sheet = try Bitmap(width: bitmaps[0].width * bitmaps.count, height: bitmaps[0].height)
    for (index, frame) in bitmaps.enumerated() { sheet.draw(frame, at: (x: index * frame.width, y: 0)) }
    try sheet.encoded(as: .png).write(to: URL(filePath: paths[2]))
    var options = DecodeOptions()
    options.animates = true
    let moving = try DecoderRegistry.standard.decode(file, options)
    try EncoderRegistry.standard.encode(moving, as: .webp(quality: 80)).data.write(to: URL(filePath: paths[3]))
    print("\(bitmaps.count) frames")
  }
}
