import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// What can be seen of an image while it arrives.
struct PreviewTests {
  static let progressive = ["lighthouse-progressive.jpg", "red-barn-progressive.jpg"]

  @Test(arguments: progressive, [nil, TargetSize.pixels(60, 60), .pixels(300, 300)])
  func aProgressiveFileGetsBetterWithItsScans(name: String, size: TargetSize?) throws {
    let file = try Photograph.data(name)
    let whole = try decode(file, size).bitmap

    let feeding = try Feeding.of(file, pieces: 100, DecodeOptions(size: size))

    let previews = feeding.previews
    #expect((1...3).contains(previews.count))
    #expect(previews.allSatisfy { $0.detail == .whole && $0.bitmap.size == whole.size && $0.bitmap.alpha == .opaque })
    #expect(try #require(previews.first).byteCount < file.count / 3)
    let quality = previews.map { $0.bitmap.psnr(against: whole) }
    #expect(quality == quality.sorted())
    #expect(quality.allSatisfy { $0 > 18 && $0 < .infinity })
  }

  @Test
  func oneThatIsNotSubsampledHasOnePreviewAtAnEighth() throws {
    var file = JPEGFile(width: 640, height: 480, sampling: [(1, 1), (1, 1), (1, 1)], scans: JPEGFile.usualScans)
    let options = DecodeOptions(size: .pixels(40, 30))
    #expect(try Feeding.of(file.data, pieces: 100, options, policy: .eager).previews.count == 1)

    file.sampling[0] = (2, 2)
    #expect(try Feeding.of(file.data, pieces: 100, options, policy: .eager).previews.count == 2)
  }

  @Test(arguments: [JPEGFile.usualScans, JPEGFile.unusualScans], [nil, TargetSize.pixels(30, 30)])
  func anyOrderOfScansHasPreviewsOnceAllComponentsAreThere(scans: [JPEGFile.Scan], size: TargetSize?) throws {
    let file = JPEGFile(width: 400, height: 320, sampling: [(2, 1), (1, 1), (1, 1)], scans: scans).data

    let feeding = try Feeding.of(file, pieces: 64, DecodeOptions(size: size), policy: .eager)

    #expect((1...3).contains(feeding.previews.count))
    #expect(feeding.previews.allSatisfy { $0.detail == .whole })
    #expect(feeding.previews.map(\.byteCount) == feeding.previews.map(\.byteCount).sorted())
    #expect(try feeding.decoder.image().bitmap.pixels == decode(file, size).bitmap.pixels)
  }

  @Test(arguments: ["white-lighthouse-adam7.png"] + (Shape.isApple ? [] : ["spinnakers-interlaced.gif"]))
  func anInterlacedFileIsSeenWholeBeforeItIs(name: String) throws {
    let file = try Photograph.data(name)
    let whole = try decode(file).bitmap

    let feeding = try Feeding.of(file, pieces: 100)

    #expect((1...3).contains(feeding.previews.count))
    #expect(feeding.previews.allSatisfy { $0.detail == .whole && !$0.bitmap.hasTransparency })
    #expect(feeding.previews.allSatisfy { $0.bitmap.size == whole.size && $0.byteCount <= file.count * 2 / 3 })
    let quality = feeding.previews.map { $0.bitmap.psnr(against: whole) }
    #expect(quality == quality.sorted())
    #expect(quality.allSatisfy { $0 > 15 && $0 < .infinity })
  }

  static let rows = [
    "macaws-444.jpg", "aeroplane-rgb.png", "rafting-still.gif", "harbour-pier-lossless.webp", "motocross-lossy.webp",
  ]

  @Test(arguments: rows)
  func rowsAreShownOnlyIfAskedFor(name: String) throws {
    #expect(try Feeding.of(Photograph.data(name), pieces: 500).previews.isEmpty)
  }

  /// On Apple's platforms only JPEG has previews by rows.
  static let counted = Shape.isApple ? Array(rows.prefix(1)) : rows

  @Test(arguments: counted)
  func theRowsOfAPreviewAreThoseOfTheImage(name: String) throws {
    let file = try Photograph.data(name)
    let whole = try decode(file).bitmap

    let feeding = try Feeding.of(file, pieces: 500, policy: .eager)

    #expect((1...3).contains(feeding.previews.count))
    var last = 0.0
    for preview in feeding.previews {
      guard case .rows(let share) = preview.detail else {
        Issue.record("\(preview.detail)")
        continue
      }
      #expect(share > last && share < 1)
      last = share
      let count = Int((share * Double(whole.height)).rounded())
      #expect(preview.bitmap.alpha == .straight)
      #expect(preview.bitmap.rows(0..<count).largestDifference(from: whole.rows(0..<count)) == 0)
      #expect(preview.bitmap.rows(count..<whole.height).pixels.allSatisfy { $0.w == 0 })
    }
  }

  @Test(arguments: counted)
  func rowsAreShownInThumbnailsToo(name: String) throws {
    let file = try Photograph.data(name)
    let size = TargetSize.pixels(64, 64)
    let whole = try decode(file, size).bitmap

    let feeding = try Feeding.of(file, pieces: 500, DecodeOptions(size: size), policy: .eager)

    #expect(!feeding.previews.isEmpty)
    #expect(
      feeding.previews.allSatisfy { $0.bitmap.size == whole.size && $0.bitmap[0, 0].isWithin(2, of: whole[0, 0]) }
    )
  }

  @Test
  func theFirstFrameOfAnAnimationIsShownOnceItIsWhole() throws {
    let file = try Photograph.data("boats-animated.gif")
    let first = try decode(file).bitmap

    let feeding = try Feeding.of(file, pieces: 500)

    let preview = try #require(feeding.previews.first)
    #expect(feeding.previews.count == 1)
    #expect(preview.detail == .whole)
    #expect(preview.bitmap.largestDifference(from: first) == 0)
    #expect(preview.byteCount < file.count / 2)
  }

  @Test
  func otherFramesHaveNoPreviews() throws {
    var options = DecodeOptions()
    options.frame = 1

    #expect(
      try Feeding.of(Photograph.data("boats-animated.gif"), pieces: 500, options, policy: .eager).previews.isEmpty
    )
  }

  @Test
  func previewsAreUpright() throws {
    let file = try Photograph.data("lighthouse-progressive.jpg").withEXIF(.right)
    let whole = try decode(file, .pixels(50, 50)).bitmap

    let feeding = try Feeding.of(file, pieces: 500, DecodeOptions(size: .pixels(50, 50)))

    let preview = try #require(feeding.previews.last)
    #expect(preview.bitmap.size == whole.size)
    #expect(preview.bitmap.psnr(against: whole) > 25)
  }

  @Test(.enabled(if: !Shape.isApple))
  func whatIsTurnedByItsLastChunkHasNoPreviews() throws {
    let picture = try Bitmap.busy(width: 200, height: 160, alpha: false).encoded(as: .webp)
    #expect(try !Feeding.of(picture, pieces: 50, policy: .eager).previews.isEmpty)

    let turned = try Feeding.of(picture.withTrailingEXIF(.right, width: 200, height: 160), pieces: 50, policy: .eager)

    #expect(turned.previews.isEmpty)
    #expect(try turned.decoder.image().bitmap.size == [160, 200])
  }

  @Test
  func whatWasShownIsNotShownAgain() throws {
    let file = try Photograph.data("lighthouse-progressive.jpg")
    var decoder = IncrementalDecoder()
    #expect(try decoder.preview() == nil)

    #expect(try decoder.append(file.prefix(file.count / 2)) == .previewReady)
    #expect(try decoder.preview() != nil)

    #expect(try decoder.preview() == nil)
    #expect(try decoder.append(Data()) == .needsMore)
  }

  @Test
  func thePolicyBoundsHowManyAndHowOften() throws {
    let file = try Photograph.data("lighthouse-progressive.jpg")
    #expect(try Feeding.of(file, pieces: 100, policy: .none).previews.isEmpty)

    var one = PreviewPolicy.eager
    one.limit = 1
    #expect(try Feeding.of(file, pieces: 100, policy: one).previews.count == 1)

    var rare = PreviewPolicy.eager
    rare.interval = file.count / 2
    #expect(try Feeding.of(file, pieces: 100, policy: rare).previews.count == 1)
    rare.interval = file.count + 1
    #expect(try Feeding.of(file, pieces: 100, policy: rare).previews.isEmpty)
  }

  @Test
  func noneIsMadeWhenTheImageIsAboutToCome() throws {
    let file = try Photograph.data("lighthouse-progressive.jpg")
    var decoder = IncrementalDecoder()
    decoder.expectedByteCount = file.count

    #expect(try decoder.append(file) == .needsMore)
    #expect(try decoder.preview() == nil)
  }

  @Test
  func aCancelledPreviewSaysSo() throws {
    var options = DecodeOptions()
    options.isCancelled = { true }
    var decoder = IncrementalDecoder(options: options)

    try decoder.append(Photograph.data("lighthouse-progressive.jpg"))

    #expect(failure { try decoder.preview() }?.code == .cancelled)
  }

  @Test(arguments: progressive + rows)
  func damageInWhatCameShowsNothingWrong(name: String) throws {
    let file = try Photograph.data(name)
    var generator = SplitMix64(seed: 60)
    for _ in 0..<10 {
      var damaged = file
      for _ in 0..<40 {
        damaged = damaged.replacing(
          .random(in: 1000..<file.count, using: &generator),
          with: .random(in: 0...255, using: &generator),
        )
      }
      let feeding = try? Feeding.of(damaged, pieces: 3000, DecodeOptions(size: .pixels(80, 80)), policy: .eager)
      let sizes = Set((feeding?.previews ?? []).map { max($0.bitmap.width, $0.bitmap.height) })
      #expect(sizes.isSubset(of: [80]))
    }
  }

  @Test(.needsCorpus)
  func realProgressiveFilesHavePreviewsThatLookLikeThem() throws {
    let names = ["formats", "photos"].flatMap { Corpus.files(in: $0, ending: ".jpg") }
    var count = 0
    for name in names {
      let file = try Corpus.data(name)
      let feeding = try? Feeding.of(file, pieces: 4096, DecodeOptions(size: .pixels(200, 200)))
      guard let feeding, let whole = try? feeding.decoder.image().bitmap else { continue }
      count += feeding.previews.count
      for preview in feeding.previews {
        #expect(preview.bitmap.size == whole.size && preview.bitmap.psnr(against: whole) > 15, "\(name)")
      }
    }
    #expect(count > 0)
  }
}

extension Data {
  /// This still lossy or lossless WebP file in the extended form, with EXIF behind the picture.
  fileprivate func withTrailingEXIF(_ orientation: Orientation, width: Int, height: Int) -> Data {
    func little24(_ value: Int) -> [UInt8] { Array([UInt8].little32(value).prefix(3)) }
    func chunk(_ type: String, _ body: [UInt8]) -> [UInt8] {
      .text(type) + .little32(body.count) + body + (body.count % 2 == 0 ? [] : [0])
    }
    let flags: [UInt8] = [0x08, 0, 0, 0]
    let header = chunk("VP8X", flags + little24(width - 1) + little24(height - 1))
    let exif = chunk("EXIF", TIFFBlock.orientation(orientation.rawValue, littleEndian: true))
    let body = [UInt8].text("WEBP") + header + Array(dropFirst(12)) + exif
    return Data([UInt8].text("RIFF") + .little32(body.count) + body)
  }
}
