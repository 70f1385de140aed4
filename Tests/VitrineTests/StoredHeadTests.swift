import Testing
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTesting

@testable import Vitrine
import VitrineCaching

/// The heads of finished and encoded images, of this version, of earlier ones, and of others.
@Suite
struct StoredHeadTests {
  private let validity = Validity(
    expires: nil,
    confirmed: Date(timeIntervalSince1970: 50),
    usableOnErrorUntil: Date(timeIntervalSince1970: 60),
    usableOnServerErrorUntil: Date(timeIntervalSince1970: 70),
    usableWhileRevalidatingUntil: Date(timeIntervalSince1970: 80),
    variation: ["accept": "image/webp, */*;q=0.5", "x": ""],
    isKept: true,
    modified: Date(timeIntervalSince1970: 40),
  )

  private var finished: Data {
    let info = ImageInfo(format: .jpeg, storedWidth: 40, storedHeight: 30, orientation: .right)
    let container = ImageContainer(Bitmap.testPattern(width: 4, height: 3), info: info)
    let parameters = DecodeParameters(frame: 2, quality: .best, isWhole: true)
    let id = ContentID(low: 1, high: 2)
    return FinishedImage.Header(of: LoadedImage(container, id, validity, status: 203, byteCount: 9, parameters)).encoded
  }

  private var encoded: Data {
    let image = EncodedImage(Data([1]), format: .png, width: 4, height: 3, status: 203)
    return EncodedImage.Header(EncodedImage.Header(of: image), validity).encoded
  }

  /// Returns the head of a finished image as an earlier version wrote it: with that many dates, and without subjects.
  private func finished(ofVersion version: UInt8) throws -> Data {
    var words = finished.prefix(8 * (15 + Int(version)))
    words[0] = version
    var text = String(decoding: finished.dropFirst(8 * 20), as: UTF8.self)
    // The line of the subjects is empty.
    text.replaceSubrange(try #require(text.firstRange(of: "\n\n")), with: "\n")
    return words + Data(text.utf8)
  }

  @Test
  func anEncodedImagesHeadIsReadAsItWasWritten() throws {
    let head = try #require(EncodedImage.Header(encoded: encoded))
    #expect(head.format == .png && head.width == 4 && head.height == 3 && head.status == 203)
    let expires = Date(timeIntervalSince1970: 100)
    var expected = validity
    expected.expires = expires
    #expect(head.validity(until: expires) == expected)
    #expect(head.encoded == encoded)
  }

  @Test
  func aFinishedImagesHeadHasItsLayout() {
    let numbers: [UInt8] = [6, 0, 4, 3, 0, 40, 30]
    for (index, number) in numbers.enumerated() where index != 4 {
      #expect(Data(finished.dropFirst(8 * index).prefix(8)) == Data([number, 0, 0, 0, 0, 0, 0, 0]))
    }
    let dates = [50, 60, 80, 70, 40].map { Double($0).bitPattern }
    for (index, date) in dates.enumerated() {
      var reader = HeadReader([UInt8](finished), from: 8 * (15 + index))
      #expect(reader.uint64() == date)
    }
    let text = "jpeg\nimage/jpeg\njpg\nsRGB\nrgb\n2 best "
    #expect(String(decoding: finished.dropFirst(8 * 20), as: UTF8.self).hasPrefix(text))
  }

  @Test(arguments: [3, 4, 5] as [UInt8])
  func aFinishedImagesHeadOfAnEarlierVersionIsRead(version: UInt8) throws {
    let head = try #require(FinishedImage.Header(encoded: try finished(ofVersion: version)))
    #expect(head.info.storedWidth == 40 && head.status == 203 && head.byteCount == 9)
    var expected = validity
    if version < 4 { expected.usableOnServerErrorUntil = nil }
    // Earlier versions did not store privacy, so it is assumed.
    if version < 5 { (expected.modified, expected.isPrivate) = (nil, true) }
    #expect(head.validity(until: nil) == expected)
  }

  @Test
  func headsOfOtherVersionsAndOfOthersAreNotRead() throws {
    for version in [0, 1, 2, 7, 255] as [UInt8] {
      var other = finished
      other[0] = version
      #expect(FinishedImage.Header(encoded: other) == nil)
    }
    let text = Data("encoded 2\npng\nimage/png\npng\n4 3\n203\n- - - - -\npublic".utf8)
    let response = HTTPResponse(status: 200, headers: ["ETag": "\"a\""], url: try HTTPURL("https://a.invalid/"))
    let stored = StoredResponse(response, requested: .now, received: .now).encoded
    for head in [finished, text, stored, Data(), Data(count: 500), Data(count: HeadReader.limit + 1)] {
      #expect(EncodedImage.Header(encoded: head) == nil)
    }
    for head in [encoded, text, stored, Data(), Data(count: 500), Data(count: HeadReader.limit + 1)] {
      #expect(FinishedImage.Header(encoded: head) == nil)
    }
  }

  @Test
  func aTruncatedHeadIsNotRead() {
    // A head that ends within the fields of `Vary` is shorter, and not damaged: caches check the bytes.
    let (numbers, words) = (8 * 20, 8 * 10)
    for count in 0..<numbers { #expect(FinishedImage.Header(encoded: finished.prefix(count)) == nil) }
    for count in 0..<words { #expect(EncodedImage.Header(encoded: encoded.prefix(count)) == nil) }
  }
}
