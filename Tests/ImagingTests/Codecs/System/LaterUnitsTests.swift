import Foundation
import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// The second half of a baseline file, decoded by another thread.
@Suite(.patient)
struct LaterUnitsTests {
  /// A decoder whose second thread is late where processors are busy.
  private static let hasty = JPEGDecoder(ownDecoderMinimum: 0, secondThreadMinimum: 0)
  /// A decoder that waits for its second thread.
  private static let decoder = JPEGDecoder(ownDecoderMinimum: 0, secondThreadMinimum: 0, awaitsSecondThread: true)

  /// A part of a photograph: codes that are read from anywhere are soon the right ones.
  private static func photograph(_ width: Int, _ height: Int) throws -> Bitmap {
    var options = DecodeOptions()
    options.region = PixelRegion(x: 300, y: 200, width: width, height: height)
    return try DecoderRegistry.standard.decode(Photograph.data("waterfall-cliff-large.jpg"), options).bitmap
  }

  /// Expects the pixels of one thread, and returns whether the halves have met.
  private static func expectSame(_ file: Data, _ comment: String) throws -> Bool {
    let alone = try EighthDecoding.picture(file, decoder)
    #expect(alone.isOwn && !alone.hasJoined, "\(comment)")

    let picture = try EighthDecoding.picture(file, decoder, threadCount: 2)

    #expect(picture.isOwn, "\(comment)")
    #expect(picture.bitmap.size == alone.bitmap.size)
    #expect(picture.bitmap.largestDifference(from: alone.bitmap) == 0, "\(comment)")
    return picture.hasJoined
  }

  // From some places codes do not become the right ones before a small file ends.
  @Test(arguments: [ImageEncoding.Subsampling.yuv420, .yuv422, .yuv444])
  func halvesThatMeetGiveTheSamePixels(subsampling: ImageEncoding.Subsampling) throws {
    var joined = 0
    for quality in [60, 85, 98] {
      for (width, height) in [(500, 333), (1200, 90), (64, 900), (1100, 700)] {
        let encoding = ImageEncoding.jpeg(quality: quality, subsampling: subsampling)
        let file = try Self.photograph(width, height).encoded(as: encoding)
        if try Self.expectSame(file, "\(width)x\(height) \(subsampling) \(quality)") { joined += 1 }
      }
    }
    #expect(joined >= 4)
  }

  @Test
  func aGreyFileHasTheSamePixels() throws {
    for (width, height) in [(501, 333), (800, 60)] {
      let file = JPEGFile(width: width, height: height, sampling: EighthTests.grey)
      _ = try Self.expectSame(file.data, file.description)
    }
  }

  @Test
  func restartMarkersAreWhereTheHalvesMeet() throws {
    for sampling in [EighthTests.full, EighthTests.quarter, EighthTests.grey] {
      for interval in [1, 3, 17, 100] {
        let file = JPEGFile(width: 400, height: 300, sampling: sampling, restartInterval: interval)
        #expect(try Self.expectSame(file.data, file.description), "\(file)")
      }
    }
  }

  @Test
  func withOneTableForAllComponentsNothingShowsWhichIsWhich() throws {
    let file = JPEGFile(width: 400, height: 300, sampling: EighthTests.full).data

    let picture = try EighthDecoding.picture(file, Self.decoder, threadCount: 2)

    #expect(!picture.hasJoined && picture.isOwn)
    #expect(try picture.bitmap.largestDifference(from: EighthDecoding.picture(file).bitmap) == 0)
  }

  @Test
  func aShortFileIsDecodedAtOnePlace() throws {
    let file = try Self.photograph(500, 333).encoded(as: ImageEncoding.jpeg(quality: 75))
    #expect(file.count < 256 << 10)

    for _ in 0..<20 {
      #expect(try !EighthDecoding.picture(file, EighthDecoding.own, threadCount: 2).hasJoined)
    }
  }

  @Test(arguments: [0, 7])
  func damageIsWhatOneThreadMakesOfIt(restartInterval: Int) throws {
    var file = try Self.photograph(300, 210).encoded(as: ImageEncoding.jpeg(quality: 80))
    if restartInterval > 0 {
      file = JPEGFile(width: 300, height: 210, sampling: EighthTests.quarter, restartInterval: restartInterval).data
    }
    let data = try #require(file.firstRange(of: Data([0xFF, 0xDA]))).upperBound
    var generator = SplitMix64(seed: 11)

    for round in 0..<400 {
      var spoiled = file
      switch round % 4 {
      case 0:
        spoiled[.random(in: data..<file.count, using: &generator)] ^= 1 << UInt8.random(in: 0...7, using: &generator)
      case 1:
        for _ in 0..<4 {
          spoiled[.random(in: data..<file.count, using: &generator)] = .random(in: 0...255, using: &generator)
        }
      case 2:
        let start = Int.random(in: data..<file.count - 20, using: &generator)
        spoiled.removeSubrange(start..<start + .random(in: 1...20, using: &generator))
      default: spoiled = spoiled.prefix(.random(in: data..<file.count, using: &generator))
      }
      let alone = Result { () throws(ImageError) in try EighthDecoding.picture(spoiled, Self.decoder) }
      let both = Result { () throws(ImageError) in
        try EighthDecoding.picture(spoiled, round % 8 < 4 ? Self.decoder : Self.hasty, threadCount: 2)
      }
      switch (alone, both) {
      case (.success(let alone), .success(let both)):
        #expect(both.bitmap.largestDifference(from: alone.bitmap) == 0, "round \(round)")
        #expect(both.damage == alone.damage && both.isOwn == alone.isOwn, "round \(round)")
      case (.failure(let alone), .failure(let both)): #expect(both == alone, "round \(round)")
      default: Issue.record("round \(round): \(alone), \(both)")
      }
    }
  }

  @Test
  func rowsThatNobodyReadsFurtherEndTheThread() throws {
    let file = try Self.photograph(800, 600).encoded(as: ImageEncoding.jpeg(quality: 95))
    for rows in [0, 1, 20, 60] {
      for _ in 0..<20 { #expect(try EighthDecoding.rows(rows, of: file, Self.hasty, threadCount: 2) >= rows) }
    }
  }
}
