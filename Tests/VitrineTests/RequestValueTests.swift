import Testing
import Vitrine
import VitrineRuntime

/// Requests as values: equal, hashed, described, written as text.
struct RequestValueTests {
  private static let text = "https://example.org/a.jpg"
  private let request = ImageRequest(url: text)

  private static let changes: [@Sendable (inout ImageRequest) -> Void] = [
    { $0.source = .url("https://example.org/b.jpg") },
    { $0.size = .pixels(300) },
    { $0.processors = [.custom(id: "a") { $0 }] },
    { $0.priority = .high },
    { $0.quality = .best },
    { $0.frame = 1 },
    { $0.filter = .box },
    { $0.usesLinearLight = true },
    { $0.colorSpace = .displayP3 },
    { $0.userInfo["a"] = 1 },
    { $0.previews = .none },
    { $0.cachePolicy = .reload },
    { $0.allowsExpensiveNetworkAccess = false },
    { $0.continuesDownload = true },
    { $0.storagePolicy = .original },
    { $0.cacheAccess = .memory },
    { $0.headers = ["Accept-Language": "de"] },
    { $0.significantHeaders = ["Accept-Language"] },
    { $0.cachePartition = "ann" },
    { $0.cacheID = "a" },
  ]

  @Test
  func twoMadeAlikeAreEqualAndEveryValueTellsThemApart() {
    #expect(request == ImageRequest(url: Self.text))
    for (index, change) in Self.changes.enumerated() {
      var (one, other) = (request, ImageRequest(url: Self.text))
      change(&one)
      #expect(one != other, "change \(index)")
      change(&other)
      #expect(one == other, "change \(index)")
      #expect(one.hashValue == other.hashValue, "change \(index)")
    }
  }

  @Test
  func everyValueThatIsNotItsDefaultIsDescribed() {
    #expect(request.description == Self.text)
    for (index, change) in Self.changes.enumerated() {
      var one = request
      change(&one)
      let isUnseen = one.userInfo.isEmpty && one.previews == PreviewPolicy() && one.significantHeaders.isEmpty
      if isUnseen { #expect(one.description != request.description, "change \(index)") }
    }
    var one = request
    one.size = .pixels(300, 200, .fill)
    one.priority = .high
    one.headers = ["Authorization": "Bearer secret"]
    #expect(one.description == "\(Self.text); 300x200 fill; priority high; headers Authorization")
  }

  @Test
  func closuresAreEqualByTheirIdentifiers() {
    let sources: [ImageSource] = [
      .closure(id: "a") { Data() }, .closure(id: "b") { Data() }, .data(Data(), id: "a"), .file("/a"),
      .resource("a"), .first(of: [.file("/a"), .url(Self.text)]), .url { _ in "https://example.org/sized" },
    ]
    for (index, source) in sources.enumerated() {
      for (place, other) in sources.enumerated() {
        #expect((ImageRequest(source) == ImageRequest(other)) == (index == place), "\(index), \(place)")
      }
    }
    #expect(ImageRequest(.closure(id: "a") { Data([1]) }) == ImageRequest(sources[0]))
    #expect(ImageRequest(sources[6]) == ImageRequest(.url { _ in "https://example.org/sized" }))
    #expect(ImageRequest(sources[6]) == ImageRequest(url: "https://example.org/sized"))
  }

  @Test
  func whatAProgramAttachesIsEqualAsEquatableElseAsTheSameObject() {
    final class Object: Sendable {}
    struct Opaque: Sendable {}
    func with(_ value: any Sendable) -> ImageRequest {
      var one = request
      one.userInfo["value"] = value
      return one
    }
    let object = Object()
    #expect(with(1) == with(1))
    #expect(with(1) != with(2))
    #expect(with(1) != with("1"))
    #expect(with(object) == with(object))
    #expect(with(object) != with(Object()))
    #expect(with(Opaque()) != with(Opaque()))
  }

  @Test
  func textIsARequest() {
    let written: ImageRequest = "https://example.org/a.jpg"
    #expect(written == request)
    #expect(written.url == URL(string: Self.text))
    #expect(Set([written, request]).count == 1)
    #expect(ImageRequest(.file("/a")).url == nil)
  }

  @Test
  func aSideAloneIsASquare() {
    #expect(TargetSize.pixels(300) == .pixels(300, 300))
    #expect(
      TargetSize.pixels(300, .fill, anchor: .top, enlarges: true).description
        == "300x300 fill anchored at 0.5, 0.0 enlarging"
    )
    #expect(TargetSize.pixels(width: 40).description == "40x fit")
  }
}
