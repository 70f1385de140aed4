import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineImaging

/// The pictures of Fixtures/processing; make.py there says how they were made.
enum Golden {
  static func bitmap(_ name: String) throws -> Bitmap {
    try Bitmap(decoding: Fixture.data("processing/\(name).png"))
  }
}

extension ImageProcessor {
  /// One processor of each kind whose parameters change something, by what it does.
  static let samples: [ImageProcessor] = [
    .resize(.pixels(20, 15, .fill)), .resize(width: .fraction(0.5)), .crop(x: 3, y: 4, width: 20, height: 10),
    .crop(width: .fraction(0.5), height: 9), .crop(aspectRatio: 1), .smartCrop(width: 20, height: 20),
    .smartCrop(aspectRatio: 1, by: .entropy), .circle(), .roundedCorners(radius: 6),
    .roundedCorners(CornerRadii(topLeft: 9)), .border(width: 2, color: .black),
    .border(width: 2, color: .black, radius: 9), .blur(radius: 1.5), .blur(radius: 9), .tint(PixelColor(0x804020)),
    .sepia(), .duotone(shadows: PixelColor(0x102060), highlights: PixelColor(0xFFE0B0)),
    .colorMatrix([0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0]),
    .grayscale(), .brightness(0.2), .contrast(1.3), .saturation(0.4), .exposure(-1), .overlay(mark, at: .topLeft),
    .overlay(mark, .multiply, width: .fraction(0.5), opacity: 0.5), .background(.white), .flip(.horizontal),
    .flip(.vertical), .rotate(quarterTurns: 1), .rotate(degrees: 33), .sharpen(),
    .watermark(mark, WatermarkLayout(.once(.topLeft)), opacity: 1),
    .watermark(mark, WatermarkLayout(.tiles, x: 3, y: 2), opacity: 0.5), .chain([.grayscale(), .blur(radius: 2)]),
  ]

  /// A small picture to lay over others.
  static let mark = Bitmap.pixels(width: 8, height: 6, alpha: .straight) { x, y in
    SIMD4(UInt8(x * 30), UInt8(y * 40), 200, UInt8(x * 36))
  }
}

extension Bitmap {
  /// The address of the pixels, to tell whether they were copied.
  var address: Int {
    unsafe withUnsafeBytes { bytes in unsafe bytes.baseAddress.map { Int(bitPattern: $0) } ?? 0 }
  }
}
