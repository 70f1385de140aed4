import Foundation

@testable import VitrineImaging

/// Chains of processors with parameters of any bit pattern, on small pictures.
@Sendable
func processing(_ data: Data) {
  var input = Parameters(data)
  let (width, height) = (Int(input.byte()) + 1, Int(input.byte()) % 64 + 1)
  let kind = input.byte()
  let alpha: Bitmap.Alpha = [.opaque, .straight, .premultiplied][Int(kind) % 3]
  let picture = Bitmap(width: width, height: height, alpha: alpha) { pixels in
    for index in pixels.indices {
      pixels[index] = alpha == .opaque && index % 4 == 3 ? 255 : UInt8(truncatingIfNeeded: index &* 37)
    }
    // Colours of premultiplied pixels are at most their coverage.
    if alpha == .premultiplied {
      for index in pixels.indices { pixels[index] = min(pixels[index], pixels[index | 3]) }
    }
  }
  var steps: [ImageProcessor] = []
  while !input.isEmpty, steps.count < 4 { steps.append(input.step()) }
  var context = ProcessingContext(scale: input.number())
  context.limits.outputByteCount = 1 << 20
  context.limits.side = 2000
  let chain = ImageProcessor.chain(steps)
  do throws(ImageError) {
    let (result, again) = (try chain.process(picture, context), try chain.process(picture, context))
    precondition(result.byteCount <= 1 << 20 || result.byteCount <= picture.byteCount, "over the limit")
    precondition(
      result.withUnsafeBytes { first in again.withUnsafeBytes { first.elementsEqual($0) } },
      "another result",
    )
    if result.alpha == .opaque {
      precondition((0..<result.width).allSatisfy { result[$0, result.height / 2].w == 255 }, "not opaque")
    }
  } catch {
    precondition(steps.contains { error.detail.hasPrefix($0.identifier) }, "a failure without a step")
  }
}

/// Takes parameters from bytes; there are zeros at the end.
private struct Parameters {
  private var rest: ArraySlice<UInt8>

  init(_ data: Data) { rest = Array(data.prefix(400))[...] }

  var isEmpty: Bool { rest.isEmpty }

  mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

  /// Any number, but mostly one that makes sense.
  mutating func number() -> Double {
    switch byte() % 4 {
    case 0: Double(byte()) / 16
    case 1: Double(Int8(bitPattern: byte()))
    case 2: Double(byte()) / 255
    default: Double(bitPattern: (0..<8).reduce(0) { bits, _ in bits << 8 | UInt64(byte()) })
    }
  }

  private mutating func length() -> Length {
    switch byte() % 3 {
    case 0: .pixels(number())
    case 1: .points(number())
    default: .fraction(number())
    }
  }

  private mutating func color() -> PixelColor { PixelColor(red: byte(), green: byte(), blue: byte(), alpha: byte()) }
  private mutating func anchor() -> Anchor { Anchor(x: number(), y: number()) }
  private mutating func choice<Value>(_ values: [Value]) -> Value { values[Int(byte()) % values.count] }

  private mutating func radii() -> CornerRadii {
    CornerRadii(topLeft: length(), topRight: length(), bottomRight: length(), bottomLeft: length())
  }

  private static let mark = Bitmap(width: 5, height: 3, alpha: .straight) { pixels in
    for index in pixels.indices { pixels[index] = UInt8(index * 4) }
  }

  mutating func step() -> ImageProcessor {
    switch byte() % 25 {
    case 0: .blur(radius: length())
    case 1: .sharpen(amount: number(), radius: length(), threshold: number())
    case 2: .roundedCorners(radii())
    case 3: .border(width: length(), color: color(), radii: radii())
    case 4: .circle(anchor: anchor())
    case 5:
      .resize(
        width: length(),
        height: length(),
        choice(TargetSize.Mode.allCases),
        anchor: anchor(),
        enlarges: byte() % 2 == 0,
      )
    case 6:
      .resize(
        .pixels(number(), number(), choice(TargetSize.Mode.allCases)),
        filter: choice(ResamplingFilter.allCases),
      )
    case 7: .crop(x: length(), y: length(), width: length(), height: length())
    case 8: .crop(width: length(), height: length(), anchor: anchor())
    case 9: .crop(aspectRatio: number(), anchor: anchor())
    case 10: .smartCrop(width: length(), height: length(), by: choice(ImageProcessor.Interest.allCases))
    case 11: .smartCrop(aspectRatio: number(), by: choice(ImageProcessor.Interest.allCases))
    case 12: .tint(color())
    case 13: .grayscale()
    case 14: .brightness(number())
    case 15: .contrast(number())
    case 16: .saturation(number())
    case 17: .exposure(number())
    case 18:
      .overlay(
        Self.mark,
        choice(ImageProcessor.BlendMode.allCases),
        at: anchor(),
        offset: (length(), length()),
        width: byte() % 2 == 0 ? length() : nil,
        opacity: number(),
      )
    case 19: .background(color())
    case 20: .flip(choice(ImageProcessor.FlipAxis.allCases))
    case 21: .sepia(number())
    case 22: .duotone(shadows: color(), highlights: color(), amount: number())
    case 23: .colorMatrix((0..<20).map { _ in number() })
    default: .rotate(degrees: number(), background: color())
    }
  }
}
