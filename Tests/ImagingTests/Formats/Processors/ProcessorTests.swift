import Synchronization
import Testing
import VitrineTestSupport
import VitrineTesting

@testable import VitrineImaging

/// What all processors have in common.
struct ProcessorTests {
  static let picture = Bitmap.testPattern(width: 48, height: 36)

  static let soft = Bitmap.pixels(width: 48, height: 36, alpha: .straight) { x, y in
    SIMD4(UInt8(x * 5), UInt8(y * 7), 90, UInt8((x * 5 + y) % 256))
  }

  // MARK: Nothing to do

  static let neutral: [ImageProcessor] = [
    .blur(radius: 0), .blur(radius: .points(0)), .sharpen(amount: 0), .sharpen(radius: 0), .brightness(0), .contrast(1),
    .saturation(1), .exposure(0), .roundedCorners(radius: 0), .border(width: 0, color: .black),
    .border(width: 5, color: .clear), .tint(.clear), .background(.clear), .rotate(degrees: 0), .rotate(degrees: 720),
    .rotate(quarterTurns: -4), .overlay(.mark, opacity: 0), .overlay(.mark, at: .topLeft, offset: (1000, 0)),
    .overlay(.mark, offset: (0, -1e9)), .crop(width: .fraction(1), height: 1000),
    .crop(x: 0, y: 0, width: 48, height: 36),
    .smartCrop(width: 48, height: 36), .resize(.pixels(1000)), .resize(width: .fraction(1)), .chain([]),
    .chain([.blur(radius: 0), .contrast(1)]), .sepia(0),
    .duotone(shadows: .black, highlights: .white, amount: 0),
    .colorMatrix([1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, -0.0]),
  ]

  @Test(arguments: neutral)
  func aParameterThatChangesNothingCopiesNothing(processor: ImageProcessor) throws {
    for bitmap in [Self.picture, Self.soft] {
      #expect(try processor.process(bitmap).address == bitmap.address)
    }
  }

  @Test
  func anImageThatIsNotChangedKeepsAllItHas() throws {
    var image = ImageContainer(Self.picture)
    image.userInfo["a"] = 1
    #expect(try ImageProcessor.blur(radius: 0).process(image).userInfo["a"] as? Int == 1)
    #expect(try ImageProcessor.blur(radius: 2).process(image).userInfo["a"] as? Int == 1)
  }

  // MARK: Impossible parameters

  static let odd: [Double] = [-1, -1e300, .nan, .infinity, -.infinity, 1e300, -0x1p63]

  @Test(arguments: odd)
  func anImpossibleParameterIsAnErrorThatNamesTheStep(value: Double) {
    let length = Length.pixels(value)
    let processors: [ImageProcessor] = [
      .blur(radius: length), .sharpen(amount: value), .sharpen(radius: length), .sharpen(threshold: value),
      .contrast(value), .saturation(value), .exposure(value * 17), .brightness(value * 2),
      .roundedCorners(radius: length), .roundedCorners(CornerRadii(bottomLeft: .points(value))),
      .border(width: length, color: .black), .border(width: 1, color: .black, radius: length),
      .overlay(.mark, opacity: value), .overlay(.mark, width: length), .crop(width: length.impossible, height: 5),
      .crop(x: length, y: 0, width: 5, height: 5), .crop(aspectRatio: value == 1e300 ? 0 : value),
      .smartCrop(aspectRatio: value == 1e300 ? 0 : value), .smartCrop(width: 5, height: length.impossible),
      .resize(width: length), .resize(.pixels(value)), .sepia(value),
      .duotone(shadows: .black, highlights: .white, amount: value), .colorMatrix([value * 1e7]),
      .colorMatrix([Double](repeating: value * 1e7, count: 20)),
    ]
    for processor in processors {
      let error = failure { try processor.process(Self.picture) }
      #expect([.invalidSize, .processingFailed].contains(error?.code), "\(processor)")
      #expect(error?.detail.hasPrefix("\(processor.identifier): ") == true)
    }
  }

  @Test(arguments: [Double.nan, .infinity, -.infinity])
  func anUndefinedAngleOrOffsetIsAnError(value: Double) {
    let processors: [ImageProcessor] = [
      .rotate(degrees: value), .overlay(.mark, offset: (.pixels(value), 0)),
      .overlay(.mark, offset: (0, .fraction(value))),
    ]
    for processor in processors {
      #expect(failure { try processor.process(Self.picture) }?.detail.hasPrefix(processor.identifier) == true)
    }
  }

  static let impossible: [(Double, String)] = [
    (2e9, "at most 1000000000px"), (-2, "at least 0"), (.infinity, "finite"), (.nan, "finite"),
  ]

  @Test(arguments: impossible)
  func anImpossibleLengthIsToldWhatItBreaks(value: Double, rule: String) {
    let error = failure { try ImageProcessor.blur(radius: .pixels(value)).process(Self.picture) }
    #expect(error?.detail.hasSuffix(" is not \(rule)") == true, "\(error?.detail ?? "")")
  }

  @Test(arguments: [0, -3, .nan, .infinity] as [Double])
  func lengthsInPointsFollowTheScaleAlsoIfThatIsImpossible(scale: Double) {
    let context = ProcessingContext(scale: scale)
    let error = failure { try ImageProcessor.resize(width: .points(10)).process(Self.picture, context) }
    #expect(error?.code == .invalidSize)
  }

  @Test
  func hugeRadiiAreNotAnError() throws {
    let mean = try ImageProcessor.blur(radius: 1e9).process(Self.picture)
    #expect(mean[0, 0].isWithin(1, of: mean[47, 35]))
    #expect(try ImageProcessor.roundedCorners(radius: 1e9).process(Self.picture).size == [48, 36])
    #expect(
      try ImageProcessor.border(width: 1e9, color: .black).process(Self.picture)[20, 20] == SIMD4(0, 0, 0, 255)
    )
  }

  // MARK: Limits and cancellation

  static let enlarging: [ImageProcessor] = [
    .resize(.pixels(100_000, 10, .exact, enlarges: true)), .resize(width: .fraction(3), enlarges: true),
    .rotate(degrees: 45), .rotate(quarterTurns: 1), .overlay(.mark, width: .fraction(20)),
  ]

  @Test(arguments: enlarging)
  func aResultThatWouldBeTooLargeIsAnError(processor: ImageProcessor) throws {
    var context = ProcessingContext()
    context.limits.outputByteCount = 48 * 36 * 4
    context.limits.side = 47
    let wide = try Self.picture.cropped(width: 47, height: 36)

    let error = failure { try processor.process(processor == .rotate(quarterTurns: 1) ? Self.picture : wide, context) }

    #expect(error?.code == .overLimit)
    #expect(error?.limit == .side || error?.limit == .outputByteCount)
    #expect(error?.detail.hasPrefix("\(processor.identifier): ") == true)
  }

  /// Those that make new pixels row by row.
  static let rowWise = ImageProcessor.samples.filter { !$0.identifier.hasPrefix("crop(") }

  @Test(arguments: rowWise)
  func aProcessorThatIsCancelledStops(processor: ImageProcessor) throws {
    let large = Self.soft.enlarged(to: 400, 300)
    let asked = Mutex(0)
    // What each of them asks is counted first.
    _ = try processor.process(
      large,
      ProcessingContext(isCancelled: {
        asked.withLock {
          $0 += 1; return false
        }
      }),
    )
    let total = asked.withLock { $0 }
    #expect(total >= 2)

    for stop in Set([1, 2, total / 2, total]).filter({ $0 > 0 }) {
      asked.withLock { $0 = 0 }
      let context = ProcessingContext(isCancelled: {
        asked.withLock {
          $0 += 1; return $0 >= stop
        }
      })
      let error = failure { try processor.process(large, context) }
      #expect(error?.isCancellation == true)
      #expect(asked.withLock { $0 } == stop)
    }
  }

  @Test
  func aCancellationNamesItsStep() {
    let cancelled = ProcessingContext(isCancelled: { true })
    let custom = ImageProcessor.customInContext(id: "mine") { bitmap, context in
      try context.checkCancellation()
      return bitmap
    }
    for step in [.blur(radius: 2), .smartCrop(width: 9, height: 9), custom] as [ImageProcessor] {
      for processor in [step, .chain([step, .circle()])] {
        let error = failure { try processor.process(Self.picture, cancelled) }
        #expect(error?.isCancellation == true)
        #expect(error?.detail == "\(step.identifier): cancelled")
      }
    }
  }

  // MARK: Several and custom ones

  struct Refused: Error, Equatable {}

  @Test
  func theFirstFailureStopsTheRestAndNamesTheStep() {
    let ran = Mutex<[String]>([])
    let chain = ImageProcessor.chain([
      .custom(id: "a") { bitmap in
        ran.withLock { $0.append("a") }; return bitmap
      },
      .blur(radius: -1),
      .custom(id: "b") { bitmap in
        ran.withLock { $0.append("b") }; return bitmap
      },
    ])

    let error = failure { try chain.process(Self.picture) }

    #expect(error?.detail.hasPrefix("blur(-1px): ") == true)
    #expect(ran.withLock { $0 } == ["a"])
  }

  @Test
  func whatACustomStepThrowsIsTheCause() {
    let step = ImageProcessor.custom(id: "mine") { _ in throw Refused() }
    let error = failure { try ImageProcessor.chain([.grayscale(), step]).process(Self.picture) }

    #expect(error?.code == .processingFailed)
    #expect(error?.detail == "custom(mine): Refused()")
    #expect(error?.cause as? Refused == Refused())
  }

  @Test
  func stepsAreAppliedInOrder() throws {
    let steps: [ImageProcessor] = [.brightness(0.5), .contrast(2)]
    let together = try ImageProcessor.chain(steps).process(Self.picture)
    let apart = try steps[1].process(steps[0].process(Self.picture))
    let reversed = try ImageProcessor.chain(steps.reversed()).process(Self.picture)

    #expect(together.pixels == apart.pixels)
    #expect(together.pixels != reversed.pixels)
  }

  @Test
  func aCustomStepKnowsItsContext() throws {
    let step = ImageProcessor.customInContext(id: "scale") { bitmap, context in
      try bitmap.cropped(width: Int(10 * context.scale), height: 10)
    }
    #expect(try step.process(Self.picture, ProcessingContext(scale: 2)).width == 20)
  }

  // MARK: Units

  @Test
  func lengthsReachTheProcessorInTheirUnits() throws {
    let context = ProcessingContext(scale: 2)
    func size(_ processor: ImageProcessor) throws -> [Int] { try processor.process(Self.picture, context).size }

    #expect(try size(.crop(width: 10, height: 8)) == [10, 8])
    #expect(try size(.crop(width: .points(10), height: .points(8))) == [20, 16])
    #expect(try size(.crop(width: .fraction(0.5), height: .fraction(0.25))) == [24, 9])
    #expect(try size(.resize(width: .points(12), height: .points(12))) == [24, 18])
    #expect(try size(.resize(height: .fraction(0.5))) == [24, 18])
    let (points, pixels) = (
      ImageProcessor.roundedCorners(radius: .points(4)), ImageProcessor.roundedCorners(radius: 8),
    )
    #expect(try points.process(Self.picture, context).pixels == pixels.process(Self.picture).pixels)
    let fraction = ImageProcessor.roundedCorners(radius: .fraction(0.5))
    #expect(
      try fraction.process(Self.picture).pixels
        == ImageProcessor.roundedCorners(radius: 18).process(Self.picture).pixels
    )
  }

  @Test
  func partsThatTouchStillTouchWhenTheyAreRounded() throws {
    let picture = try Self.picture.cropped(width: 47, height: 35)
    let left = try ImageProcessor.crop(x: 0, y: 0, width: .fraction(0.5), height: .fraction(1)).process(picture)
    let right = try ImageProcessor.crop(x: .fraction(0.5), y: 0, width: .fraction(0.5), height: .fraction(1)).process(
      picture
    )
    #expect(left.width + right.width == 47)
  }
}

extension Length {
  /// A crop larger than the image is no error, so a huge length becomes a negative one.
  fileprivate var impossible: Length { self == .pixels(1e300) ? .pixels(-5) : self }
}

extension Bitmap {
  /// A picture to lay over others.
  fileprivate static var mark: Bitmap { ImageProcessor.mark }

  fileprivate func enlarged(to width: Int, _ height: Int) -> Bitmap {
    .pixels(width: width, height: height, alpha: alpha) { x, y in
      self[x * self.width / width, y * self.height / height]
    }
  }
}
