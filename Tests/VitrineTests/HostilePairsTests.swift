import Testing
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime

@testable import Vitrine

/// Texts that are equal as text, and not as bytes, name two things wherever a user's text is compared or looked up.
@Suite
struct HostilePairsTests {
  /// Composed and decomposed, a letter and a sign of a unit, a mark of punctuation, a name of one character.
  private static let pairs = [
    ("caf\u{E9}", "cafe\u{301}"), ("K", "\u{212A}"), ("a;b", "a\u{37E}b"), ("\u{C5}", "\u{212B}"),
    ("\u{AC00}", "\u{1100}\u{1161}"),
  ]

  enum Place: CaseIterable {
    case file, resource, processor, cacheID, partition, header, headers, inline
  }

  private static func request(_ place: Place, _ text: String) -> ImageRequest {
    var request = ImageRequest(url: "http://picture.invalid/a.png")
    switch place {
    case .file: request.source = .file("/tmp/\(text).png")
    case .resource: request.source = .resource(text)
    case .processor: request.processors = [.custom(id: text) { $0 }]
    case .cacheID: request.cacheID = text
    case .partition: request.cachePartition = text
    case .header:
      request.headers = ["X-Name": text]
      request.significantHeaders = ["X-Name"]
    case .headers: request.headers = ["X-Name": text]
    case .inline: request.source = .data(Data(text.utf8), id: text)
    }
    return request
  }

  @Test(arguments: Place.allCases)
  func requestsThatDifferInBytesAreTwo(place: Place) {
    for (one, other) in Self.pairs {
      #expect(one == other, "equal as text")
      let (left, right) = (Self.request(place, one), Self.request(place, other))
      #expect(left != right, "\(place) \(one)")
      #expect(Set([left, right]).count == 2)
      if place != .headers { #expect(left.imageKey != right.imageKey, "\(place) \(one)") }
    }
  }

  @Test
  func processorsEncodingsAndKeysAreComparedAsBytes() {
    for (one, other) in Self.pairs {
      let processors = [ImageProcessor.custom(id: one) { $0 }, .custom(id: other) { $0 }]
      #expect(processors[0] != processors[1] && Set(processors).count == 2)
      let chains = processors.map { ImageProcessor.chain([$0, .blur(radius: 2)]) }
      #expect(chains[0] != chains[1])
      let formats = [one, other].map { ImageFormat(name: $0, mediaType: "image/x", fileExtension: "x") }
      #expect(formats[0] != formats[1] && Set(formats).count == 2)
      #expect(ImageEncoding(formats[0]) != ImageEncoding(formats[1]))
      #expect(CacheKey { $0.append(one) } != CacheKey { $0.append(other) })
    }
  }

  /// What is not in ASCII is escaped; of hosts UTS 46 says which are one.
  @Test
  func addressesAreComparedAsBytes() {
    for (one, other) in Self.pairs {
      for text in ["http://picture.invalid/%", "http://picture.invalid/?%"] {
        let urls = [one, other].map { try? HTTPURL(text.replacing("%", with: $0)) }
        if let left = urls[0], let right = urls[1] { #expect(left != right, "\(left.string) \(right.string)") }
      }
      let fields: [HTTPFields] = [["X": one], ["X": other]]
      #expect(fields[0] != fields[1])
    }
  }
}
