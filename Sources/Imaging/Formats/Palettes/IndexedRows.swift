/// Draws pixels with the colours of a palette, row by row from the top.
struct IndexedRows: ~Copyable {
  /// The index of a pixel that gets no colour.
  static let none = 256

  private let pixels: DrawnPixels
  private let dithering: ImageEncoding.Dithering
  private let transparent: UInt8
  private let width: Int
  private var row = 0
  private let pairs: ColorPairs?

  private let line: OwnedElements<UInt32>
  private let indices: OwnedElements<UInt8>
  /// The errors of this row and the next, with a pixel more at both ends.
  private var errors: OwnedElements<SIMD4<Float>>
  private var following: OwnedElements<SIMD4<Float>>

  /// `transparent` is the index of pixels that get no colour.
  init(
    _ pixels: DrawnPixels,
    _ pairs: ColorPairs?,
    _ dithering: ImageEncoding.Dithering,
    transparent: UInt8,
  ) {
    (self.pixels, self.dithering, self.transparent) = (pixels, dithering, transparent)
    self.pairs = pairs
    width = pixels.area.width
    line = OwnedElements(repeating: 0, count: width)
    indices = OwnedElements(repeating: 0, count: width)
    errors = OwnedElements(repeating: SIMD4(), count: width + 2)
    following = OwnedElements(repeating: SIMD4(), count: width + 2)
  }

  /// Draws the next row: an index of the palette for each pixel, valid until the row after it is drawn.
  mutating func next(_ nearest: inout NearestColors) -> Elements<UInt8> {
    pixels.read(row, into: line.elements)
    switch dithering {
    case .none: drawNearest(&nearest)
    case .diffusion: diffuse(&nearest)
    case .ordered: drawOrdered(&nearest)
    }
    row += 1
    return indices.elements.elements
  }

  @inline(__always)
  private static func components(_ color: UInt32) -> SIMD4<Float> {
    let bytes = SIMD4<UInt32>(repeating: color) &>> SIMD4(0, 8, 16, 24)
    return SIMD4<Float>(SIMD4<Int32>(truncatingIfNeeded: bytes & SIMD4(255, 255, 255, 0)))
  }

  private mutating func drawNearest(_ nearest: inout NearestColors) {
    let (line, indices) = (line.elements, indices.elements)
    var (last, index) = (UInt32(0), transparent)
    for x in 0..<width {
      let color = line[x]
      if color != last {
        index = color == 0 ? transparent : UInt8(truncatingIfNeeded: nearest.index(of: Self.components(color)))
        last = color
      }
      indices[x] = index
    }
  }

  /// Spreads errors as Floyd and Steinberg do ("An adaptive algorithm for spatial greyscale", 1976), every other row from
  /// right to left, which leaves no slanting streaks.
  private mutating func diffuse(_ nearest: inout NearestColors) {
    let isLeftward = row % 2 == 1
    let (line, indices) = (line.elements, indices.elements)
    let (errors, following) = (errors.elements, following.elements)
    let step = isLeftward ? -1 : 1
    var x = isLeftward ? width - 1 : 0
    var carried = SIMD4<Float>()
    // The errors so far for the pixels below this one and below the one before.
    var (below, behind) = (SIMD4<Float>(), SIMD4<Float>())
    for _ in 0..<width {
      // `x` is a column; place `x + 1` of the errors is its own, with one more on both sides.
      let color = line[x]
      if color == 0 {
        indices[x] = transparent
        carried = SIMD4()
        following[x &+ 1 &- step] = behind
        (behind, below) = (below, SIMD4())
      } else {
        let wanted = Self.components(color) + errors[x &+ 1] + carried
        let clamped = PixelMath.clamped(wanted)
        let index = nearest.index(of: clamped)
        indices[x] = UInt8(truncatingIfNeeded: index)
        let error = (clamped - nearest.colors[index]) * (15 / 16)
        carried = error * (7 / 16)
        following[x &+ 1 &- step] = behind + error * (3 / 16)
        behind = below + error * (5 / 16)
        below = error * (1 / 16)
      }
      x &+= step
    }
    following[x &+ 1 &- step] = behind
    following[x &+ 1] = below
    swap(&self.errors, &self.following)
  }

  private mutating func drawOrdered(_ nearest: inout NearestColors) {
    guard let pairs else { return }
    let y = pixels.area.y + row
    let (line, indices) = (line.elements, indices.elements)
    for x in 0..<width {
      let color = line[x]
      guard color != 0 else {
        indices[x] = transparent
        continue
      }
      let wanted = Self.components(color)
      let index = nearest.index(of: wanted)
      let threshold = ColorPairs.threshold(pixels.area.x &+ x, y)
      indices[x] = UInt8(truncatingIfNeeded: pairs.index(of: wanted, nearest: index, threshold))
    }
  }
}

extension PixelMath {
  /// Clamps components to 0 to 255.
  @inline(__always)
  static func clamped(_ pixel: SIMD4<Float>) -> SIMD4<Float> {
    let atLeast = pixel.replacing(with: 0, where: pixel .< 0)
    return atLeast.replacing(with: 255, where: atLeast .> 255)
  }
}
