// processor: a processor of one's own, and its tests.
import VitrineImaging

extension ImageProcessor {
  /// Adds red, and takes away as much blue.
  static func warmth(_ amount: Int) -> ImageProcessor {
    .custom(id: "warmth \(amount)") { bitmap in
      bitmap.map { SIMD4(UInt8(clamping: Int($0.x) + amount), $0.y, UInt8(clamping: Int($0.z) - amount), $0.w) }
    }
  }
}

@main
enum Processor {
  static func main() throws {
    let gray = try Bitmap(width: 4, height: 3, color: PixelColor(0x808080))
    let warm = try ImageProcessor.warmth(20).process(gray)
    precondition(warm[3, 2] == [0x94, 0x80, 0x6C, 0xFF])
    let white = try Bitmap(width: 1, height: 1, color: .white)
    let hot = try ImageProcessor.warmth(300).process(white)
    precondition(hot[0, 0] == [255, 255, 0, 255])
    precondition(ImageProcessor.warmth(1) != .warmth(2), "results are cached apart")
    print("passed")
  }
}
