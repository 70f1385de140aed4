import Testing
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineImaging

/// What smart crops keep of the subjects of photographs.
struct SmartCropTests {
  /// A photograph of the corpus, and the rectangle that a person has marked in it, in hundredths of its upright sides.
  private static let photographs: [Label] = [
    ("kodak/PhotoCD_PCD0992/02.png", 12, 30, 70, 58), ("kodak/PhotoCD_PCD0992/03.png", 10, 15, 62, 65),
    ("kodak/PhotoCD_PCD0992/04.png", 30, 35, 75, 75), ("kodak/PhotoCD_PCD0992/05.png", 2, 2, 75, 90),
    ("kodak/PhotoCD_PCD0992/06.png", 16, 10, 74, 78), ("kodak/PhotoCD_PCD0992/07.png", 44, 28, 64, 66),
    ("kodak/PhotoCD_PCD0992/09.png", 20, 12, 95, 88), ("kodak/PhotoCD_PCD0992/10.png", 52, 66, 68, 80),
    ("kodak/PhotoCD_PCD0992/11.png", 44, 18, 84, 78), ("kodak/PhotoCD_PCD0992/12.png", 28, 12, 52, 76),
    ("kodak/PhotoCD_PCD0992/14.png", 4, 15, 86, 86), ("kodak/PhotoCD_PCD0992/15.png", 40, 0, 95, 80),
    ("kodak/PhotoCD_PCD0992/16.png", 36, 38, 78, 52), ("kodak/PhotoCD_PCD0992/17.png", 28, 8, 72, 42),
    ("kodak/PhotoCD_PCD0992/18.png", 46, 20, 64, 40), ("kodak/PhotoCD_PCD0992/19.png", 48, 14, 74, 58),
    ("kodak/PhotoCD_PCD0992/20.png", 10, 10, 70, 95), ("kodak/PhotoCD_PCD0992/21.png", 5, 12, 68, 62),
    ("kodak/PhotoCD_PCD0992/22.png", 20, 10, 62, 62), ("kodak/PhotoCD_PCD0992/23.png", 10, 20, 80, 75),
    ("photos/jpg/exif-org/canon-ixus.jpg", 33, 38, 66, 98), ("photos/jpg/exif-org/fujifilm-dx10.jpg", 14, 35, 84, 88),
    ("photos/jpg/exif-org/fujifilm-finepix40i.jpg", 30, 2, 80, 70),
    ("photos/jpg/exif-org/fujifilm-mx1700.jpg", 28, 24, 68, 88),
    ("photos/jpg/exif-org/kodak-dc210.jpg", 40, 38, 92, 75),
    ("photos/jpg/exif-org/kodak-dc240.jpg", 15, 30, 72, 75), ("photos/jpg/exif-org/nikon-e950.jpg", 10, 8, 92, 95),
    ("photos/jpg/exif-org/olympus-d320l.jpg", 30, 8, 80, 86), ("photos/jpg/exif-org/ricoh-rdc5300.jpg", 22, 5, 80, 95),
    ("photos/jpg/exif-org/sanyo-vpcg250.jpg", 18, 12, 52, 62),
    ("photos/jpg/exif-org/sanyo-vpcsx550.jpg", 15, 35, 66, 88),
    ("photos/jpg/exif-org/sony-cybershot.jpg", 10, 13, 30, 100), ("photos/jpg/exif-org/sony-d700.jpg", 10, 10, 48, 98),
    ("photos/jpg/exif-org/sony-powershota5.jpg", 32, 22, 70, 70), ("photos/jpg/hdr/canon_hdr_NO.jpg", 5, 14, 98, 75),
    ("photos/jpg/hdr/iphone_hdr_NO.jpg", 0, 5, 70, 100), ("photos/jpg/tests/28-hex_value.jpg", 30, 0, 72, 50),
    ("photos/jpg/tests/35-empty.jpg", 2, 2, 98, 95), ("photos/jpg/tests/45-gps_ifd.jpg", 20, 38, 65, 95),
    ("photos/jpg/tests/42_IndexError.jpg", 4, 18, 97, 72), ("photos/jpg/orientation/landscape_1.jpg", 36, 42, 56, 100),
  ]

  /// The shapes of the crops: a square, a banner, a tall one, and a quarter of the picture.
  private enum Shape: CaseIterable {
    case square, banner, tall, quarter

    func sides(_ width: Int, _ height: Int) -> (width: Int, height: Int) {
      let ratio: Double? =
        switch self {
        case .square: 1
        case .banner: 2.5
        case .tall: 0.5
        case .quarter: nil
        }
      guard let ratio else { return (width / 2, height / 2) }
      let isWide = Double(width) / Double(height) > ratio
      return isWide ? (Int(Double(height) * ratio), height) : (width, Int(Double(width) / ratio))
    }
  }

  private typealias Label = (path: String, left: Double, top: Double, right: Double, bottom: Double)

  /// Returns the share of a rectangle that a part shows, of what it could show.
  private func kept(_ label: Label, of bitmap: Bitmap, in part: PixelRegion) -> Double {
    let (left, right) = (label.left / 100 * Double(bitmap.width), label.right / 100 * Double(bitmap.width))
    let (top, bottom) = (label.top / 100 * Double(bitmap.height), label.bottom / 100 * Double(bitmap.height))
    let across = min(right, Double(part.x + part.width)) - max(left, Double(part.x))
    let down = min(bottom, Double(part.y + part.height)) - max(top, Double(part.y))
    let most = min(right - left, Double(part.width)) * min(bottom - top, Double(part.height))
    return max(0, across) * max(0, down) / most
  }

  /// The mean of what crops keep, by their way.
  @Test(.needsCorpus)
  func attentionKeepsMoreThanEdgesAndThanTheMiddle() throws {
    var (sums, count) = (["attention": 0.0, "edges": 0, "entropy": 0, "center": 0], 0.0)
    for label in Self.photographs {
      // As many pixels as a search looks at, several times over.
      let options = DecodeOptions(size: .pixels(384, 384))
      let bitmap = try DecoderRegistry.standard.decode(Corpus.data(label.path), options).bitmap
      for shape in Shape.allCases {
        let (width, height) = shape.sides(bitmap.width, bitmap.height)
        for interest in ImageProcessor.Interest.allCases {
          let part = try bitmap.part(width: width, height: height, interest, ProcessingContext())
          sums[interest.rawValue, default: 0] += kept(label, of: bitmap, in: part)
        }
        let middle = try bitmap.part(width: width, height: height, Anchor.center)
        sums["center", default: 0] += kept(label, of: bitmap, in: middle)
        count += 1
      }
    }
    let means = sums.mapValues { $0 / count }
    let attention = try #require(means["attention"])
    #expect(attention > 0.9, "\(means)")
    #expect(means.allSatisfy { $0.key == "attention" || $0.value < attention - 0.01 }, "\(means)")
  }

  // MARK: Subjects

  /// Noise on the left, and a subject that looks like nothing on the right.
  private static func picture(_ subject: SubjectRegion) -> ImageContainer {
    var generator = SplitMix64(seed: 7)
    let bitmap = Bitmap.pixels(width: 240, height: 120, alpha: .opaque) { x, _ in
      let level = x < 100 ? UInt8.random(in: 0...255, using: &generator) : 128
      return SIMD4(level, level, level, 255)
    }
    var image = ImageContainer(bitmap)
    image.subjects = [subject]
    return image
  }

  @Test(arguments: SubjectRegion.Kind.allCases, [0.05, 0.45, 0.8])
  func aSubjectIsKeptWhateverElseThereIsToSee(kind: SubjectRegion.Kind, x: Double) throws {
    let image = Self.picture(SubjectRegion(kind, x: x, y: 0.6, width: 0.1, height: 0.2))
    for step in [.smartCrop(aspectRatio: 1), .smartCrop(width: 60, height: 50)] as [ImageProcessor] {
      let left = try #require(try step.process(image).subjects.first)
      #expect(left.width * Double(try step.process(image).bitmap.width) > 0.99 * 24, "\(step): \(left)")
    }
  }

  @Test
  func otherMeasuresIgnoreSubjects() throws {
    let image = Self.picture(SubjectRegion(.face, x: 0.8, y: 0.6, width: 0.1, height: 0.2))
    for interest in [ImageProcessor.Interest.edges, .entropy] {
      #expect(try ImageProcessor.smartCrop(aspectRatio: 1, by: interest).process(image).subjects == [])
    }
  }

  @Test
  func ofFacesThatDoNotFitTheLargerOnesAreKept() throws {
    var image = Self.picture(SubjectRegion(.face, x: 0.1, y: 0.3, width: 0.05, height: 0.1))
    image.subjects += [SubjectRegion(.face, x: 0.7, y: 0.3, width: 0.15, height: 0.4)]
    let result = try ImageProcessor.smartCrop(aspectRatio: 1).process(image)
    #expect(result.subjects.count == 1)
    #expect(abs(try #require(result.subjects.first).height - 0.4) < 1e-9)
  }

  @Test
  func aFaceLargerThanThePartIsInItsMiddle() throws {
    let image = Self.picture(SubjectRegion(.face, x: 0.55, y: 0.1, width: 0.4, height: 0.8))
    let result = try ImageProcessor.smartCrop(width: 40, height: 40).process(image)
    let face = try #require(result.subjects.first)
    #expect(face.width == 1 && face.height == 1)
  }

  /// The server's gravity and the tool's `--do`.
  @Test(arguments: ["crop:100:100:smart", "resize:fill:100:100|gravity:smart"])
  func operationsKeepThem(text: String) throws {
    let image = Self.picture(SubjectRegion(.face, x: 0.8, y: 0.6, width: 0.1, height: 0.2))
    let plan = try ImageOperations(text).plan()
    let result = try ImageProcessor.chain(plan.processors).process(image)
    #expect(result.bitmap.size == [100, 100])
    #expect(result.subjects.map(\.kind) == [.face])
  }

  @Test
  func skinIsPreferredToOtherColors() throws {
    let picture = Bitmap.pixels(width: 200, height: 60, alpha: .opaque) { x, y in
      let isSpot = (20..<50).contains(x) || (150..<180).contains(x)
      guard isSpot, (15..<45).contains(y) else { return SIMD4(120, 120, 120, 255) }
      return x < 100 ? SIMD4(214, 160, 124, 255) : SIMD4(130, 178, 210, 255)
    }
    let result = try ImageProcessor.smartCrop(width: 60, height: 60).process(picture)
    #expect(result.pixels.contains { $0.x == 214 })
  }
}
