import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// The JPEG decoder of our own against libjpeg's 1/8.
struct EighthTests {
  static let full = [(1, 1), (1, 1), (1, 1)].map { (columns: $0.0, rows: $0.1) }
  static let quarter = [(2, 2), (1, 1), (1, 1)].map { (columns: $0.0, rows: $0.1) }
  static let grey = [(columns: 1, rows: 1)]

  static let sizes = [
    (61, 43), (1, 1), (1, 97), (97, 1), (8, 8), (9, 17), (16, 16), (17, 16), (64, 33), (123, 75), (300, 20),
  ]

  static let restarts = [0, 1, 3, 50]

  static func files(_ scans: [JPEGFile.Scan]) -> [JPEGFile] {
    [full, quarter, grey].flatMap { sampling in
      sizes.flatMap { size in
        restarts.map { interval in
          var file = JPEGFile(
            width: size.0,
            height: size.1,
            sampling: sampling,
            restartInterval: interval,
            scans: scans,
          )
          file.seed = UInt64(size.0 * 1000 + size.1)
          return file
        }
      }
    }
  }

  static func expectEqual(_ file: Data, _ comment: String) throws {
    let own = try EighthDecoding.picture(file)
    let system = try EighthDecoding.picture(file, EighthDecoding.system)

    #expect(own.isOwn, "\(comment)")
    #expect(!system.isOwn)
    #expect(own.damage == nil)
    #expect(own.bitmap.size == system.bitmap.size)
    #expect(own.bitmap.largestDifference(from: system.bitmap) == 0, "\(comment)")
  }

  @Test
  func aBaselineFileGivesTheBitsOfLibjpeg() throws {
    for file in Self.files([]) { try Self.expectEqual(file.data, file.description) }
  }

  @Test(arguments: [JPEGFile.usualScans, JPEGFile.unusualScans])
  func aProgressiveFileGivesTheBitsOfLibjpeg(scans: [JPEGFile.Scan]) throws {
    for file in Self.files(scans) { try Self.expectEqual(file.data, file.description) }
  }

  @Test(arguments: [
    "baseline-420", "baseline-444", "progressive-420", "restart-420", "grey", "grey-progressive", "rgb",
  ])
  func aFixtureGivesTheBitsOfLibjpeg(name: String) throws {
    try Self.expectEqual(Fixture.data("\(name).jpg"), name)
  }

  @Test
  func whatTheComponentsAreIsToldAsLibjpegTellsIt() throws {
    let adobe = { (transform: UInt8) in
      JPEGFile.segment(0xEE, .text("Adobe") + [0, 100, 0, 0, 0, 0, transform])
    }
    let jfif = JPEGFile.segment(0xE0, .text("JFIF\0") + [1, 1, 0, 0, 1, 0, 1, 0, 0])
    var file = JPEGFile(width: 40, height: 24, sampling: Self.full)
    for head in [[], jfif, adobe(0), adobe(1), jfif + adobe(0), adobe(0) + jfif] {
      for identifiers in [[1, 2, 3], [82, 71, 66], [0, 1, 2], [7, 9, 200]] as [[UInt8]] {
        (file.head, file.identifiers) = (head, identifiers)
        try Self.expectEqual(file.data, "\(head.count) \(identifiers)")
      }
    }
  }

  @Test(arguments: ["baseline-422", "baseline-440", "baseline-411"])
  func chromaThatLibjpegRepeatsIsCloserToTheWholePicture(name: String) throws {
    let file = try Fixture.data("\(name).jpg")
    let whole = try Bitmap(decoding: file)
    let means = Bitmap.pixels(width: 7, height: 5, alpha: .opaque) { x, y in
      var sum = SIMD4<UInt32>(repeating: 32)
      for index in 0..<64 { sum &+= SIMD4(truncatingIfNeeded: whole[x * 8 + index % 8, y * 8 + index / 8]) }
      return SIMD4(truncatingIfNeeded: sum / 64)
    }
    func quality(_ picture: Bitmap) -> Double {
      means.psnr(against: Bitmap.pixels(width: 7, height: 5, alpha: .opaque) { picture[$0, $1] })
    }

    let own = try EighthDecoding.picture(file)

    #expect(own.isOwn)
    #expect(quality(own.bitmap) > quality(try EighthDecoding.picture(file, EighthDecoding.system).bitmap))
  }

  static let halved = [(columns: 2, rows: 1), (1, 1), (1, 1)]
  static let layouts = [
    halved, [(1, 2), (1, 1), (1, 1)], [(4, 1), (1, 1), (1, 1)], [(1, 4), (1, 1), (1, 1)], [(2, 2), (2, 1), (1, 2)],
    [(1, 1), (2, 2), (1, 1)], [(4, 2), (1, 1), (1, 1)], [(3, 1), (1, 1), (1, 1)],
  ]

  @Test(arguments: layouts.indices)
  func progressiveAndBaselineFilesOfOnePictureAreEqual(layout: Int) throws {
    for size in Self.sizes {
      var file = JPEGFile(width: size.0, height: size.1, sampling: Self.layouts[layout], restartInterval: 2)
      let baseline = try EighthDecoding.picture(file.data)
      file.scans = JPEGFile.usualScans

      let progressive = try EighthDecoding.picture(file.data)

      // Thirds are left to libjpeg.
      #expect(baseline.isOwn == (layout < 7), "\(file)")
      #expect(progressive.isOwn == baseline.isOwn)
      #expect(progressive.bitmap.largestDifference(from: baseline.bitmap) == 0, "\(file)")
    }
  }

  @Test(arguments: [[], JPEGFile.usualScans])
  func everyPrefixIsWhatLibjpegMakesOfIt(scans: [JPEGFile.Scan]) throws {
    let file = JPEGFile(width: 83, height: 61, sampling: Self.quarter, restartInterval: 7, scans: scans).data

    for count in stride(from: 2, to: file.count, by: 3) {
      Self.expectSameResult(file.prefix(count), "\(count) bytes")
    }
  }

  @Test(arguments: [[], JPEGFile.usualScans])
  func damageIsWhatLibjpegMakesOfIt(scans: [JPEGFile.Scan]) throws {
    let file = JPEGFile(width: 83, height: 61, sampling: Self.quarter, restartInterval: 7, scans: scans).data
    let data = try #require(file.firstRange(of: Data([0xFF, 0xDA]))).upperBound
    var generator = SplitMix64(seed: 5)

    for round in 0..<600 {
      var spoiled = file
      // One bit in the header or the data, a few bytes, or a part left out.
      switch round % 4 {
      case 0: spoiled[.random(in: 2..<data, using: &generator)] ^= 1 << UInt8.random(in: 0...7, using: &generator)
      case 1:
        spoiled[.random(in: data..<file.count, using: &generator)] ^= 1 << UInt8.random(in: 0...7, using: &generator)
      case 2:
        for _ in 0..<4 {
          spoiled[.random(in: data..<file.count, using: &generator)] = .random(in: 0...255, using: &generator)
        }
      default:
        let start = Int.random(in: data..<file.count - 20, using: &generator)
        spoiled.removeSubrange(start..<start + .random(in: 1...20, using: &generator))
      }
      Self.expectHarmless(spoiled)
    }
  }

  /// Where the decoder of our own sees damage, its result is libjpeg's; where libjpeg sees none, so it is as well.
  static func expectSameResult(_ file: Data, _ comment: String) {
    let own = Result { () throws(ImageError) in try EighthDecoding.picture(file) }
    let system = Result { () throws(ImageError) in try EighthDecoding.picture(file, EighthDecoding.system) }
    switch (own, system) {
    case (.success(let own), .success(let system)):
      #expect(own.bitmap.largestDifference(from: system.bitmap) == 0, "\(comment)")
      #expect(own.damage == system.damage, "\(comment)")
    case (.failure(let own), .failure(let system)): #expect(own.code == system.code, "\(comment)")
    default: Issue.record("\(comment): \(own), \(system)")
    }
  }

  static func expectHarmless(_ file: Data) {
    // A spoiled size may be large, and this is a debug build.
    guard let header = try? info(file), header.width * header.height < 40_000 else { return }
    guard let own = try? EighthDecoding.picture(file) else { return }
    #expect(own.bitmap.size == [(header.width + 7) / 8, (header.height + 7) / 8])
  }

  @Test
  func aPreviewComesWithTheFirstScanOfAllComponents() throws {
    let file = JPEGFile(width: 83, height: 61, sampling: Self.quarter, scans: JPEGFile.usualScans).data
    let whole = try EighthDecoding.picture(file).bitmap

    var shown: [Int: Bitmap] = [:]
    for count in Array(stride(from: 0, to: file.count, by: 5)) + [file.count] {
      guard let preview = try EighthDecoding.preview(file.prefix(count)) else {
        #expect(shown.isEmpty)
        continue
      }
      #expect(preview.picture.isOwn)
      #expect((preview.picture.damage?.code == .truncated) == (count < file.count))
      shown[preview.scans] = preview.picture.bitmap
    }
    let last = try #require(try EighthDecoding.preview(file))

    #expect(shown.keys.sorted() == Array(1...10))
    #expect(last.scans == 10 && last.picture.damage == nil)
    #expect(last.picture.bitmap.largestDifference(from: whole) == 0)
    // Chroma's detail comes with the third and fourth scan, the last bit of the means with the seventh.
    let quality = [1, 4, 7].compactMap { shown[$0]?.psnr(against: whole) }
    #expect(quality[0] < quality[1] && quality[1] < quality[2])
    #expect(shown[10].map { $0.largestDifference(from: whole) } == 0)
  }

  @Test
  func aBaselineFileHasNoPreview() throws {
    let file = JPEGFile(width: 83, height: 61, sampling: Self.quarter).data

    #expect(try EighthDecoding.preview(file) == nil)
  }

  @Test
  func aFileOfVeryManyScansIsLeftToLibjpeg() throws {
    var file = JPEGFile(width: 16, height: 16, sampling: Self.grey, scans: [JPEGFile.Scan(component: 0)])
    file.scans += (1...63).map { JPEGFile.Scan(component: 0, first: $0, last: $0, low: 1) }
    file.scans += (1...63).map { JPEGFile.Scan(component: 0, first: $0, last: $0, high: 1) }

    let own = try EighthDecoding.picture(file.data)

    #expect(!own.isOwn)
    #expect(own.bitmap.size == [2, 2])
  }

  @Test
  func aScanThatComesTwiceIsLeftToLibjpeg() throws {
    var file = JPEGFile(width: 16, height: 16, sampling: Self.grey, scans: [JPEGFile.Scan(component: 0)])
    file.scans += [JPEGFile.Scan(component: 0, first: 1, last: 63), JPEGFile.Scan(component: 0, first: 1, last: 63)]

    #expect(try !EighthDecoding.picture(file.data).isOwn)
  }

  @Test
  func decodingAProgressiveFileEndsWhenAskedTo() throws {
    let file = JPEGFile(width: 400, height: 400, sampling: Self.quarter, scans: JPEGFile.usualScans).data
    let asked = Lock(0)

    let error = failure {
      try decode(file, .pixels(20, 20)) { options in
        options.isCancelled = {
          asked.withLock { count in
            count += 1
            return count > 60
          }
        }
      }
    }

    // Before the first row: 26 rows of blocks, twice in DC scans and 25 in each of four AC scans, come first.
    #expect(error?.code == .cancelled)
    #expect(asked.withLock { $0 } == 61)
  }

  @Test
  func smallFilesAreLeftToLibjpeg() throws {
    let small = JPEGFile(width: 300, height: 300, sampling: Self.full).data
    let large = JPEGFile(width: 400, height: 300, sampling: Self.full).data

    #expect(try !EighthDecoding.picture(small, JPEGDecoder()).isOwn)
    #expect(try EighthDecoding.picture(large, JPEGDecoder()).isOwn)
  }

  @Test(.needsCorpus)
  func aCorpusFileGivesTheBitsOfLibjpeg() throws {
    var (equal, others) = (0, 0)
    for path in Corpus.files(in: "", ending: ".jpg") + Corpus.files(in: "", ending: ".jpeg") {
      let file = try Corpus.data(path)
      guard let system = try? EighthDecoding.picture(file, EighthDecoding.system) else {
        #expect((try? EighthDecoding.picture(file)) == nil, "\(path)")
        continue
      }
      let own = try EighthDecoding.picture(file)
      #expect(own.bitmap.size == system.bitmap.size, "\(path)")
      #expect(own.damage == system.damage)
      if own.bitmap.largestDifference(from: system.bitmap) == 0 {
        equal += 1
      } else {
        others += 1
        // Chroma that libjpeg repeats.
        #expect(own.bitmap.psnr(against: system.bitmap) > 25, "\(path)")
      }
    }
    #expect(equal > others)
  }
}
