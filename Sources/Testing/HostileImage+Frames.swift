import VitrineImaging

// MARK: - Canvases of animations

extension HostileImage {
  /// An animated WebP of one pixel at a corner of 10,000 x 10,000, in 90 bytes.
  package static let canvas = HostileImage("animated-10000x10000.webp", webp(10_000, frames: 1), nil)

  static let lateWebP = HostileImage("late-frame-10000x10000.webp", webp(10_000, frames: 2), .memoryByteCount)
  static let lateGIF = HostileImage("late-frame-10000x10000.gif", gif(10_000), .memoryByteCount)
  static let latePNG = HostileImage("late-frame-10000x10000.png", png(10_000), .memoryByteCount)

  /// Animations of a canvas of which a first frame needs nothing: large beside any limit, and quick to read.
  package static let canvases = [
    HostileImage("animated-3000x3000.webp", webp(3000, frames: 1), nil),
    HostileImage("late-frame-3000x3000.webp", webp(3000, frames: 2), .memoryByteCount),
    HostileImage("late-frame-3000x3000.gif", gif(3000), .memoryByteCount),
    HostileImage("late-frame-3000x3000.png", png(3000), .memoryByteCount),
  ]

  private static func webp(_ side: Int, frames: Int) -> [UInt8] {
    // A lossless pixel: size 1x1, no transforms, five codes of one symbol each.
    var bits = BitWriter([0x2F])
    bits.write(0, 14 + 14 + 1 + 3)
    bits.write(0, 3)
    for _ in 0..<5 { bits.write(0b0001, 4) }
    func chunk(_ type: String, _ body: [UInt8]) -> [UInt8] {
      text(type) + little(body.count, 4) + body + (body.count % 2 == 1 ? [0] : [])
    }
    let size = little(side - 1, 3)
    let frame = chunk("ANMF", little(0, 12) + little(100, 3) + [0] + chunk("VP8L", bits.bytes))
    let body =
      text("WEBP") + chunk("VP8X", [2, 0, 0, 0] + size + size) + chunk("ANIM", little(0, 6))
      + [[UInt8]](repeating: frame, count: frames).joined()
    return text("RIFF") + little(body.count, 4) + body
  }

  private static func gif(_ side: Int) -> [UInt8] {
    let frame: [UInt8] = [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 0x01, 0]
    let header = text("GIF89a") + little(side, 2) + little(side, 2) + [0x80, 0, 0, 0, 0, 0, 255, 255, 255]
    return header + frame + frame + [0x3B]
  }

  /// The first frame is the whole picture, and the second one a pixel of it.
  private static func png(_ side: Int) -> [UInt8] {
    func control(_ number: Int, _ width: Int, _ height: Int) -> [UInt8] {
      big(number, 4) + big(width, 4) + big(height, 4) + big(0, 8) + [0, 1, 0, 10, 0, 0]
    }
    let chunks = [
      ("acTL", big(2, 4) + big(0, 4)), ("fcTL", control(0, side, side)), ("IDAT", PNG.zeros(count: 3_000_000)),
      ("fcTL", control(1, 1, 1)), ("fdAT", big(2, 4) + PNG.zeros(count: 4)),
    ]
    return PNG.file(side, side, chunks)
  }
}
