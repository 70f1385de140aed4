import CoreGraphics
import Foundation
import ImageIO
import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// The calls to ImageIO while something is decoded.
final class Calls: Sendable {
  private let all = Lock<[_ImageIO.Call]>([])

  var list: [_ImageIO.Call] { all.withLock { $0 } }

  /// The whole files that were passed on.
  var files: [Data] {
    list.compactMap { call in
      if case .create(let data, _) = call { data } else { nil }
    }
  }

  func during<Value>(_ body: () throws -> Value) rethrows -> Value {
    try _ImageIO.$observer.withValue({ call in self.all.withLock { $0.append(call) } }) { try body() }
  }
}

/// What ImageIO is asked for.
struct OptionsTests {
  private static func names(_ options: [String: Any]) -> [String: String] { options.mapValues { "\($0)" } }

  private static let photograph: Data = JPEGFile(width: 1200, height: 800, sampling: [(2, 2), (1, 1), (1, 1)]).data

  @Test
  func aThumbnailIsMadeWithTheOptionsOfTheArticles() throws {
    let calls = Calls()

    let image = try calls.during { try decode(Self.photograph, .pixels(400, 400)) }

    #expect(image.bitmap.size == [400, 267])
    var seen: [[String: String]] = []
    for call in calls.list {
      switch call {
      case .create(_, let options), .thumbnail(_, let options): seen.append(Self.names(options))
      default: Issue.record("\(call)")
      }
    }
    #expect(
      seen == [
        ["kCGImageSourceShouldCache": "false"],
        [
          "kCGImageSourceCreateThumbnailFromImageAlways": "true",
          "kCGImageSourceCreateThumbnailWithTransform": "true",
          "kCGImageSourceShouldCacheImmediately": "true",
          // 4/3 of the longer side of what is shown, which the resampler makes exact.
          "kCGImageSourceThumbnailMaxPixelSize": "534",
        ],
      ]
    )
  }

  @Test
  func aWholeImageIsDecodedNowAndNotCached() throws {
    let calls = Calls()

    _ = try calls.during { try decode(Self.photograph) }

    guard case .image(0, let options) = calls.list.last else {
      Issue.record("\(calls.list)")
      return
    }
    #expect(
      Self.names(options) == ["kCGImageSourceShouldCache": "false", "kCGImageSourceShouldCacheImmediately": "true"]
    )
  }

  @Test
  func anEighthIsDecodedWithoutImageIO() throws {
    let calls = Calls()

    let image = try calls.during { try decode(Self.photograph, .pixels(100, 100)) }

    #expect(image.bitmap.size == [100, 67])
    #expect(calls.list.isEmpty)
  }

  @Test(arguments: [1, 3, 6, 8])
  func aThumbnailIsTurnedOnceByWhoeverDoes(orientation: Int) throws {
    let turned = try #require(Orientation(rawValue: orientation))
    let picture = Bitmap.pixels(width: 300, height: 200, alpha: .opaque) { x, y in
      SIMD4(x < 150 ? 230 : 20, y < 100 ? 220 : 10, 60, 255)
    }
    let file = try picture.encoded(as: ImageEncoding(.jpeg, quality: 95)).withEXIF(turned)
    let calls = Calls()

    let image = try calls.during { try decode(file, .pixels(150, 150)) }

    #expect(image.info.orientation == turned)
    #expect(calls.list.contains { if case .thumbnail = $0 { true } else { false } })
    let whole = try decode(file).bitmap
    #expect([image.bitmap.width > image.bitmap.height] == [whole.width > whole.height])
    let (width, height) = (image.bitmap.width, image.bitmap.height)
    for (x, y) in [(0.2, 0.2), (0.8, 0.2), (0.2, 0.8), (0.8, 0.8)] {
      let own = image.bitmap[Int(Double(width) * x), Int(Double(height) * y)]
      let other = whole[Int(Double(whole.width) * x), Int(Double(whole.height) * y)]
      #expect((0..<3).allSatisfy { abs(Int(own[$0]) - Int(other[$0])) < 12 }, "\(own) \(other)")
    }
  }
}
