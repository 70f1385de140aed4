import Testing
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineImaging

struct TargetSizeTests {
  static let sizes = [1, 2, 3, 7, 50, 99, 100, 101, 640, 1003, 4000, 65_535]

  static func plan(_ size: TargetSize?, _ width: Int, _ height: Int) throws -> [Int] {
    let plan = try SamplingPlan(size, width: width, height: height)
    return [plan.width, plan.height]
  }

  @Test
  func noSizeMeansTheImagesOwn() throws {
    #expect(try Self.plan(nil, 640, 480) == [640, 480])
  }

  @Test(arguments: [
    (TargetSize.pixels(100, 100), [100, 75]),
    (.pixels(100, 30), [40, 30]),
    (.pixels(100, 100, .fill), [100, 100]),
    (.pixels(100, 100, .exact), [100, 100]),
    (.pixels(100, 30, .exact), [100, 30]),
    (.pixels(width: 320), [320, 240]),
    (.pixels(height: 120), [160, 120]),
    (.points(50, 50, scale: 2), [100, 75]),
    (.pixels(0.3, 0.3), [1, 1]),
  ])
  func anImageIsShrunkToItsBox(size: TargetSize, expected: [Int]) throws {
    #expect(try Self.plan(size, 640, 480) == expected)
  }

  @Test(arguments: [
    (TargetSize.pixels(1000, 1000), [640, 480]),
    (.pixels(width: 1000), [640, 480]),
    (.pixels(height: 1000), [640, 480]),
    (.pixels(1000, 1000, .exact), [640, 480]),
    (.pixels(1000, 100, .exact), [640, 100]),
    (.pixels(1000, 1000, .fill), [640, 480]),
    (.pixels(1000, 100, .fill), [640, 100]),
  ])
  func nothingIsEnlargedUnlessTold(size: TargetSize, expected: [Int]) throws {
    #expect(try Self.plan(size, 640, 480) == expected)
  }

  @Test(arguments: [
    (TargetSize.pixels(1280, 1280, enlarges: true), [1280, 960]),
    (.pixels(width: 1280, enlarges: true), [1280, 960]),
    (.pixels(height: 960, enlarges: true), [1280, 960]),
    (.pixels(1000, 900, .exact, enlarges: true), [1000, 900]),
    (.pixels(1000, 900, .fill, enlarges: true), [1000, 900]),
  ])
  func anImageIsEnlargedWhenTold(size: TargetSize, expected: [Int]) throws {
    #expect(try Self.plan(size, 640, 480) == expected)
  }

  @Test(arguments: TargetSize.Mode.allCases, [true, false])
  func thinImagesKeepAtLeastOnePixel(mode: TargetSize.Mode, isWide: Bool) throws {
    for length in Self.sizes {
      let (width, height) = isWide ? (length, 1) : (1, length)

      let plan = try SamplingPlan(.pixels(10, 10, mode), width: width, height: height)

      #expect(plan.width >= 1 && plan.height >= 1)
      #expect(plan.width <= 10 && plan.height <= 10)
      #expect(plan.crop.width > 0 && plan.crop.height > 0)
    }
  }

  @Test(arguments: sizes, sizes)
  func fittingKeepsTheAspectWithinHalfAPixel(width: Int, height: Int) throws {
    for box in [(33.0, 33.0), (100, 20), (17, 301)] {
      let plan = try SamplingPlan(.pixels(box.0, box.1), width: width, height: height)
      let scale = min(box.0 / Double(width), box.1 / Double(height), 1)

      // One pixel is the least there can be.
      #expect(abs(Double(plan.width) - max(1, Double(width) * scale)) <= 0.5)
      #expect(abs(Double(plan.height) - max(1, Double(height) * scale)) <= 0.5)
      #expect(Double(plan.width) <= box.0 && Double(plan.height) <= box.1)
    }
  }

  @Test(arguments: sizes, sizes)
  func fillingCropsAroundTheMiddleAndWithinTheImage(width: Int, height: Int) throws {
    for box in [(33.0, 33.0), (100, 20), (17, 301)] {
      let crop = try SamplingPlan(.pixels(box.0, box.1, .fill), width: width, height: height).crop

      #expect(crop.x >= 0 && crop.y >= 0)
      #expect(abs(crop.x * 2 + crop.width - Double(width)) < 1e-6)
      #expect(abs(crop.y * 2 + crop.height - Double(height)) < 1e-6)
    }
  }

  @Test(arguments: [400, 640, 1003], [400, 640, 1003])
  func fillingKeepsTheAspect(width: Int, height: Int) throws {
    let plan = try SamplingPlan(.pixels(96, 41, .fill), width: width, height: height)

    let across = Double(plan.width) / plan.crop.width
    let down = Double(plan.height) / plan.crop.height
    #expect(abs(across / down - 1) < 0.001)
  }

  @Test(arguments: [0, -1, -.infinity, .infinity, .nan, 1e9] as [Double])
  func anImpossibleLengthIsAnError(length: Double) throws {
    let file = try Bitmap.testPattern(width: 4, height: 3).encoded(as: .png)
    let sizes: [TargetSize] = [
      .pixels(length, 10), .pixels(10, length), .pixels(length, length, .fill), .pixels(length, 10, .exact),
      .pixels(width: length), .pixels(height: length), .points(length, 10, scale: 2), .points(10, 10, scale: length),
    ]

    for size in sizes {
      #expect(failure { try decode(file, size) }?.code == .invalidSize)
    }
  }

  @Test(arguments: TargetSize.Mode.allCases)
  func theDecodedSizeIsThePlannedOne(mode: TargetSize.Mode) throws {
    let file = try Bitmap.testPattern(width: 61, height: 43).encoded(as: .jpeg)
    let size = TargetSize.pixels(20, 17, mode)

    let bitmap = try decode(file, size).bitmap

    #expect(bitmap.size == (try Self.plan(size, 61, 43)))
  }
}

/// Lengths that are whole numbers, in literals and in variables.
struct WholePixelTests {
  private let width = 300
  private let height = 200

  @Test
  func sizesOfWholeNumbersAreThoseOfOthers() {
    #expect(TargetSize.pixels(width, height, .fill) == .pixels(300.0, 200.0, .fill))
    #expect(TargetSize.pixels(width) == .pixels(300.0))
    #expect(TargetSize.pixels(width: width, enlarges: true) == .pixels(width: 300.0, enlarges: true))
    #expect(TargetSize.pixels(height: height) == .pixels(height: 200.0))
    #expect(TargetSize.pixels(Int.max).width == Double(Int.max))
    #expect(TargetSize.pixels(width / 2, height * 2) == .pixels(150, 400))
  }

  @Test
  func literalsAreNotAmbiguous() {
    let sizes: [TargetSize] = [
      .pixels(300, 200), .pixels(300, 200.5), .pixels(3e2, 200), .pixels(-1), .pixels(width: 9),
    ]
    let lengths: [Length] = [.pixels(8), .pixels(8.5), .pixels(-8), .pixels(width), 8]
    #expect(sizes.map(\.width) == [300, 300, 300, -1, 9])
    #expect(lengths.map(\.description) == ["8px", "8.5px", "-8px", "300px", "8px"])
    #expect([1.5, 2].map(Length.pixels) == [1.5, 2])
  }
}
