import Testing
import VitrineTestSupport
import VitrineTesting

@testable import VitrineImaging

/// Names of processors: equal exactly where the parameters are.
struct IdentifierTests {
  @Test
  func namesAreReadable() {
    let names: [(ImageProcessor, String)] = [
      (.blur(radius: 8), "blur(8px)"), (.blur(radius: 0.5), "blur(0.5px)"),
      (.roundedCorners(radius: .points(16)), "corners(16pt)"),
      (.roundedCorners(CornerRadii(topLeft: 16)), "corners(16px 0px 0px 0px)"), (.circle(), "circle()"),
      (.resize(.pixels(300, 200, .fill)), "resize(300x200,fill)"),
      (.border(width: 2, color: PixelColor(0x0A0B0C), radius: .fraction(0.5)), "border(2px,#0A0B0C,radius 0.5fr)"),
      (.chain([.grayscale(), .blur(radius: 2)]), "chain(grayscale() > blur(2px))"),
      (.rotate(degrees: -90), "rotate(270)"), (.sepia(), "sepia(1)"),
      (.duotone(shadows: .black, highlights: .white), "duotone(#000000,#FFFFFF)"),
      (.colorMatrix([0.5, -1]), "matrix(0.5 -1)"),
    ]
    for (processor, name) in names {
      #expect(processor.identifier == name)
      #expect(processor.description == name)
    }
  }

  /// Numbers that are alike in one way or another.
  static let numbers: [Double] = [
    0, -0.0, 1, -1, 2, 10, 1.0000000000000002, 0.1, 0.30000000000000004, 0.3, 1e-5, 1e15, 9_007_199_254_740_991,
    9_007_199_254_740_992, 1e16, 1e22, 123_456.789, .pi, .leastNonzeroMagnitude, .greatestFiniteMagnitude, .infinity,
    -.infinity, 1 / 3, -0x1p63, 0x1p63, -0x1p53, -9_007_199_254_740_991,
  ]

  @Test
  func equalNumbersHaveEqualTextsAndOthersHaveOthers() {
    for first in Self.numbers {
      for second in Self.numbers {
        #expect((StepName.number(first) == StepName.number(second)) == (first == second))
      }
    }
    var generator = SplitMix64(seed: 1)
    for _ in 0..<2000 {
      let number = Double(bitPattern: generator.next())
      guard !number.isNaN else { continue }
      #expect(Double(StepName.number(number)) == number)
    }
  }

  /// The negative number without a positive counterpart among the integers.
  @Test
  func theSmallestIntegerHasAName() {
    let processors: [ImageProcessor] = [
      .blur(radius: .pixels(-0x1p63)), .brightness(-0x1p63),
      .crop(PixelRegion(x: .min, y: .min, width: .max, height: .max)),
    ]
    #expect(Set(processors.map(\.identifier)).count == processors.count)
  }

  @Test
  func equalParametersMakeEqualNamesAndOthersNever() {
    var generator = SplitMix64(seed: 2)
    var known: [String: String] = [:]
    for _ in 0..<20_000 {
      let parameters = Parameters(using: &generator)
      let name = parameters.processor.identifier
      // The same parameters again make the same processor.
      #expect(parameters.processor.identifier == name)
      let text = parameters.text
      if let other = known[name] { #expect(other == text, "\(name)") }
      known[name] = text
    }
    #expect(known.count > 1000)
    #expect(Set(known.values).count == known.count)
  }

  @Test
  func samplesHaveNamesOfTheirOwn() {
    #expect(Set(ImageProcessor.samples.map(\.identifier)).count == ImageProcessor.samples.count)
  }

  @Test
  func parametersThatDoNotMatterAreNotInTheName() {
    #expect(ImageProcessor.resize(.pixels(9, 9, .fit, anchor: .top)) == .resize(.pixels(9, 9)))
    #expect(ImageProcessor.rotate(degrees: 450) == .rotate(quarterTurns: 1))
    #expect(ImageProcessor.rotate(degrees: 90, background: .white) == .rotate(degrees: 90))
    #expect(ImageProcessor.rotate(degrees: 30, background: .white) != .rotate(degrees: 30))
    #expect(ImageProcessor.blur(radius: -0.0) == .blur(radius: 0))
    #expect(ImageProcessor.chain([.circle()]) == .circle())
    #expect(
      ImageProcessor.chain([.chain([.circle(), .grayscale()]), .flip(.vertical)])
        == .chain([.circle(), .grayscale(), .flip(.vertical)])
    )
    #expect(ImageProcessor.resize(.points(10, 10, scale: 2)) == .resize(.pixels(20)))
  }

  /// Parameters that are written differently and mean the same.
  static let equal: [(ImageProcessor, ImageProcessor)] = [
    (.resize(.pixels(9, 9, .fit, anchor: .top)), .resize(.pixels(9, 9))),
    (.resize(.points(10, 10, scale: 2)), .resize(.pixels(20))),
    (.resize(width: 20, anchor: .top), .resize(width: 20)),
    (.rotate(degrees: 450), .rotate(quarterTurns: 1)), (.rotate(quarterTurns: 5), .rotate(quarterTurns: -3)),
    (.rotate(degrees: 90, background: .white), .rotate(degrees: 90)), (.rotate(degrees: 390), .rotate(degrees: 30)),
    (.blur(radius: -0.0), .blur(radius: 0)), (.roundedCorners(CornerRadii(5)), .roundedCorners(radius: 5)),
    (.crop(PixelRegion(x: 1, y: 2, width: 9, height: 8)), .crop(x: 1, y: 2, width: 9, height: 8)),
    (.chain([.chain([.circle()]), .grayscale()]), .chain([.circle(), .grayscale()])),
    (
      .duotone(shadows: .clear, highlights: .white.opacity(0.5)),
      .duotone(shadows: .black, highlights: .white),
    ),
  ]

  @Test
  func equalNamesHaveEqualResults() throws {
    for (one, other) in Self.equal {
      #expect(one == other)
      for bitmap in [ProcessorTests.picture, ProcessorTests.soft] {
        let (first, second) = (try one.process(bitmap), try other.process(bitmap))
        #expect(first.size == second.size && first.pixels == second.pixels, "\(one)")
      }
    }
  }

  /// Parameters of which one differs.
  static let different: [(ImageProcessor, ImageProcessor)] = [
    (.blur(radius: 2), .blur(radius: 2.5)), (.blur(radius: 9), .blur(radius: .fraction(0.2))),
    (.resize(.pixels(20, 20, .fill)), .resize(.pixels(20, 20, .fill, anchor: .left))),
    (.resize(.pixels(20, 20, .fill)), .resize(.pixels(20, 20, .exact))),
    (.resize(.pixels(20)), .resize(.pixels(20), filter: .box)),
    (.resize(.pixels(20)), .resize(.pixels(20), usesLinearLight: true)),
    (.resize(.pixels(90)), .resize(.pixels(90, 90, enlarges: true))),
    (.crop(x: 3, y: 4, width: 9, height: 9), .crop(x: 4, y: 4, width: 9, height: 9)),
    (.crop(width: 9, height: 9), .crop(width: 9, height: 9, anchor: .topLeft)),
    (.crop(aspectRatio: 1), .crop(aspectRatio: 1, anchor: .left)),
    (.roundedCorners(CornerRadii(topLeft: 9)), .roundedCorners(CornerRadii(topRight: 9))),
    (.border(width: 2, color: .black), .border(width: 2, color: .white)),
    (.border(width: 2, color: .black), .border(width: 2, color: .black, radius: 9)),
    (.overlay(mark, at: .top), .overlay(mark, at: .bottom)), (.overlay(mark), .overlay(mark, .multiply)),
    (.overlay(mark), .overlay(mark, opacity: 0.5)), (.overlay(mark), .overlay(mark, offset: (3, 0))),
    (.overlay(mark), .overlay(mark, width: 20)), (.tint(PixelColor(0x804020)), .tint(PixelColor(0x204080))),
    (.contrast(1.3), .saturation(1.3)), (.brightness(0.2), .brightness(0.3)), (.exposure(1), .exposure(-1)),
    (.flip(.horizontal), .flip(.vertical)), (.rotate(quarterTurns: 1), .rotate(quarterTurns: 3)),
    (.rotate(degrees: 30), .rotate(degrees: 30, background: .white)),
    (.sharpen(amount: 1), .sharpen(amount: 0.5)), (.sharpen(amount: 1, radius: 1), .sharpen(amount: 1, radius: 3)),
    (.chain([.circle(), .rotate(degrees: 45)]), .chain([.rotate(degrees: 45), .circle()])),
    (.sepia(), .sepia(0.5)),
    (.duotone(shadows: .black, highlights: .white), .duotone(shadows: .white, highlights: .black)),
    (.duotone(shadows: .black, highlights: .white), .duotone(shadows: .black, highlights: .white, amount: 0.5)),
    (
      .colorMatrix([0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0]),
      .colorMatrix([0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, -0.5]),
    ),
  ]

  @Test
  func differentResultsHaveDifferentNames() throws {
    for (one, other) in Self.different {
      #expect(one != other)
      let (first, second) = (try one.process(ProcessorTests.picture), try other.process(ProcessorTests.picture))
      // The parameter matters.
      #expect(first.size != second.size || first.pixels != second.pixels, "\(one) and \(other)")
    }
  }

  private static let mark = ImageProcessor.mark

  @Test
  func chainsOfOddNamesAreToldApart() {
    func chain(_ ids: String...) -> ImageProcessor { .chain(ids.map { id in .custom(id: id) { $0 } }) }
    let chains = [
      chain("a", "b"), chain("a) > custom(b"), chain("a) \\> custom(b"), chain("a)", "> custom(b"), chain("a\\", "b"),
      chain("b", "a"), .chain([]), chain("", ""),
    ]
    #expect(Set(chains).count == chains.count)
  }

  @Test
  func overlaysAreToldApartByTheirPixels() {
    let (mark, other) = (ImageProcessor.mark, Bitmap.solid(SIMD4(1, 2, 3, 255), width: 8, height: 6))
    let pixels = mark.pixels
    let copy = Bitmap.pixels(width: 8, height: 6, alpha: .straight) { x, y in pixels[y * 8 + x] }
    #expect(ImageProcessor.overlay(mark) == .overlay(copy))
    #expect(ImageProcessor.overlay(mark) != .overlay(other))
    #expect(ImageProcessor.overlay(other) != .overlay(other.converted(to: .displayP3)))
    #expect(ImageProcessor.overlay(mark, at: .top) != .overlay(mark))
  }

  @Test
  func onlyPointsDependOnTheScale() {
    #expect(ImageProcessor.blur(radius: .points(4)).identifier(atScale: 2) == "blur(4pt)@2x")
    #expect(ImageProcessor.blur(radius: .points(4)).identifier(atScale: 1) == "blur(4pt)")
    #expect(ImageProcessor.blur(radius: 4).identifier(atScale: 2) == "blur(4px)")
    #expect(ImageProcessor.chain([.circle(), .blur(radius: .points(4))]).identifier(atScale: 3).hasSuffix("@3x"))
    #expect(ImageProcessor.roundedCorners(CornerRadii(bottomLeft: .points(1))).identifier(atScale: 3).hasSuffix("@3x"))
  }
}

/// Random parameters from few values, so that many are equal.
private struct Parameters {
  let kind: Int
  let numbers: [Double]
  let units: [Int]
  let choice: Int

  init(using generator: inout SplitMix64) {
    kind = Int.random(in: 0..<10, using: &generator)
    numbers = (0..<4).map { _ in [0, 0.5, 1, 2, 10, 0.1][Int.random(in: 0..<6, using: &generator)] }
    units = (0..<4).map { _ in Int.random(in: 0..<3, using: &generator) }
    choice = Int.random(in: 0..<3, using: &generator)
  }

  private func length(_ index: Int) -> Length {
    switch units[index] {
    case 0: .pixels(numbers[index])
    case 1: .points(numbers[index])
    default: .fraction(numbers[index])
    }
  }

  private var anchor: Anchor { Anchor(x: numbers[2], y: numbers[3]) }
  private var color: PixelColor { [.black, .white, PixelColor.black.opacity(0.5)][choice] }

  var processor: ImageProcessor {
    switch kind {
    case 0: .blur(radius: length(0))
    case 1:
      .roundedCorners(
        CornerRadii(topLeft: length(0), topRight: length(1), bottomRight: length(2), bottomLeft: length(3))
      )
    case 2: .border(width: length(0), color: color, radius: length(1))
    case 3: .crop(width: length(0), height: length(1), anchor: anchor)
    case 4: .crop(x: length(0), y: length(1), width: length(2), height: length(3))
    case 5: .resize(width: length(0), height: length(1), [.fit, .exact, .fill][choice])
    case 6: .sharpen(amount: numbers[0], radius: length(1), threshold: numbers[2])
    case 7: .tint(color)
    case 8: [.contrast(numbers[0]), .saturation(numbers[0]), .brightness(numbers[0])][choice]
    default:
      .overlay(
        ImageProcessor.mark,
        [.normal, .multiply, .screen][choice],
        at: anchor,
        offset: (length(0), length(1)),
      )
    }
  }

  /// The parameters that the processor uses.
  var text: String {
    let lengths = (0..<4).map { "\(units[$0]) \(numbers[$0])" }
    let place = "\(anchor.x) \(anchor.y)"
    let used: [String] =
      switch kind {
      case 0: [lengths[0]]
      case 1, 4: lengths
      case 2: [lengths[0], lengths[1], "\(choice)"]
      case 3: [lengths[0], lengths[1], place]
      case 5: [lengths[0], lengths[1], "\(choice)"]
      case 6: ["\(numbers[0])", lengths[1], "\(numbers[2])"]
      case 7: ["\(choice)"]
      case 8: ["\(numbers[0])", "\(choice)"]
      default: [lengths[0], lengths[1], place, "\(choice)"]
      }
    return "\(kind): \(used.joined(separator: ", "))"
  }
}
