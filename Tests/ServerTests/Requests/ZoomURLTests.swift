import Testing
import VitrineImaging
import VitrineRuntime

@testable import VitrineServingRequests

/// URLs of viewers that zoom, after the examples of the IIIF Image API 3.0.
struct ZoomURLTests {
  private static let cat = "http://example.com/images/cat.jpg"
  private static let id = "http%3A%2F%2Fexample.com%2Fimages%2Fcat.jpg"

  private func zoom(
    _ path: String,
    _ change: (inout ThumbnailURLs.Configuration) throws -> Void = { _ in },
  ) throws -> ZoomRequest? {
    try ThumbnailURLs(changing: change).zoomRequest(path: path)
  }

  private func refusal(_ path: String) throws -> Int? {
    let urls = try ThumbnailURLs()
    do throws(RequestError) {
      _ = try urls.zoomRequest(path: path)
      return nil
    } catch {
      return error.status
    }
  }

  /// Returns the part of a picture of 300 x 200 pixels, the size of the result and the canonical form.
  private func part(_ end: String, width: Int = 300, height: Int = 200) throws -> ZoomRequest.Pixels {
    guard case .image(let part, .jpeg)? = try zoom("/iiif/3/\(Self.id)/\(end)/0/default.jpg")?.kind else {
      throw RequestError(404, "\(end)")
    }
    return try part.pixels(ofWidth: width, height: height)
  }

  @Test
  func theThreeKindsOfPathsAreRead() throws {
    let base = try #require(try zoom("/iiif/3/\(Self.id)"))
    #expect(base.kind == .base && base.identifier == Self.id && base.source == .url(Self.cat))
    #expect(try zoom("/iiif/3/\(Self.id)/")?.kind == .base)
    #expect(try zoom("/iiif/3/\(Self.id)/info.json")?.kind == .info)
    #expect(try zoom("/dzi/\(Self.id).dzi")?.kind == .descriptor)
    #expect(try zoom("/dzi/\(Self.id)_files/11/3_2.png")?.kind == .tile(level: 11, column: 3, row: 2, .png))
    #expect(try zoom("/_/w:30/plain/\(Self.cat)") == nil)
    #expect(try zoom("/iiif/2/\(Self.id)/info.json") == nil)
    #expect(try zoom("/images/iiif/3/\(Self.id)/info.json") { $0.pathPrefix = "/images" }?.kind == .info)
  }

  /// Section 4.1, as far as level 1 has it.
  @Test(arguments: [
    ("full/max", [0, 0, 300, 200, 300, 200], "full/max"),
    ("square/max", [50, 0, 200, 200, 200, 200], "50,0,200,200/max"),
    ("125,15,120,140/max", [125, 15, 120, 140, 120, 140], "125,15,120,140/max"),
    ("125,15,200,200/max", [125, 15, 175, 185, 175, 185], "125,15,175,185/max"),
    ("0,0,300,200/max", [0, 0, 300, 200, 300, 200], "full/max"),
    ("full/150,", [0, 0, 300, 200, 150, 100], "full/150,100"),
    ("full/,150", [0, 0, 300, 200, 225, 150], "full/225,150"),
    ("full/225,100", [0, 0, 300, 200, 225, 100], "full/225,100"),
    ("full/300,200", [0, 0, 300, 200, 300, 200], "full/max"),
    ("full/1,", [0, 0, 300, 200, 1, 1], "full/1,1"),
  ])
  func regionsAndSizesAreThoseOfTheSpecification(end: String, numbers: [Int], canonical: String) throws {
    let part = try part(end)
    let region = part.region
    #expect([region.x, region.y, region.width, region.height, part.width, part.height] == numbers)
    #expect(part.canonical == canonical)
  }

  @Test
  func aLargePictureHasAMaximum() throws {
    let part = try part("full/max", width: 20_000, height: 10_000)
    #expect(part.width * part.height <= ZoomRequest.maxArea && part.width > 4000 && part.canonical == "full/max")
    #expect(throws: RequestError.self) { try self.part("full/8000,", width: 20_000, height: 10_000) }
  }

  @Test(arguments: ["full/301,", "full/,201", "300,0,10,10/max", "0,200,10,10/max", "10,10,10,10/11,"])
  func whatIsOutsideOrEnlargedIsRefused(end: String) throws {
    #expect(throws: RequestError.self) { try part(end) }
  }

  @Test(arguments: [
    ("full/max/0/default", 400), ("full/max/0/nice.jpg", 400), ("full/max/0/default.exe", 400),
    ("full/max/x/default.jpg", 400),
    ("full/max/361/default.jpg", 400), ("all/max/0/default.jpg", 400), ("0,0,0,5/max/0/default.jpg", 400),
    ("0,0,5/max/0/default.jpg", 400), ("0,0,-5,5/max/0/default.jpg", 400), ("full/0,/0/default.jpg", 400),
    ("full/,/0/default.jpg", 400), ("full/big/0/default.jpg", 400), ("full/10,10,10/0/default.jpg", 400),
    ("full/9999999999,/0/default.jpg", 400), ("pct:0,0,10,10/max/0/default.jpg", 501),
    ("full/pct:50/0/default.jpg", 501),
    ("full/!20,20/0/default.jpg", 501), ("full/^max/0/default.jpg", 501), ("full/max/90/default.jpg", 501),
    ("full/max/!0/default.jpg", 501), ("full/max/22.5/default.jpg", 501), ("full/max/0/gray.jpg", 501),
    ("full/max/0/default.tif", 501), ("full/max", 404), ("full/max/0/default.jpg/more", 404), ("info.xml", 404),
  ])
  func everythingElseHasItsStatus(end: String, status: Int) throws {
    #expect(try refusal("/iiif/3/\(Self.id)/\(end)") == status)
  }

  @Test(arguments: [
    ("\(id)_files/0/0_0.exe", 400), ("\(id)_files/0/0.jpg", 400), ("\(id)_files/x/0_0.jpg", 400),
    ("\(id)_files/0/0_-1.jpg", 400), ("\(id)_files/0/0_0_0.jpg", 400), ("\(id).xml", 404), (id, 404), (".dzi", 404),
    ("\(id)_files/0", 404), ("%zz.dzi", 400), ("http%3A%2F%2F127.0.0.1%2Fa.jpg.dzi", 403),
  ])
  func deepZoomHasItsStatus(end: String, status: Int) throws {
    #expect(try refusal("/dzi/\(end)") == status)
  }

  @Test
  func sourcesFollowTheRulesOfAllOthers() throws {
    let rules = { (configuration: inout ThumbnailURLs.Configuration) in
      configuration.sources.prefixes = [try SourcePrefix("http://example.com/images/")]
    }
    #expect(try zoom("/iiif/3/\(Self.id)/info.json", rules)?.source == .url(Self.cat))
    for other in [
      "http%3A%2F%2Fexample.com%2Fother.jpg", "http%3A%2F%2Fexample.org%2Fimages%2Fcat.jpg", "local%3A%2F%2F%2Fa.jpg",
    ] {
      #expect(throws: RequestError.self, "\(other)") { try zoom("/iiif/3/\(other)/info.json", rules) }
    }
    #expect(try zoom("/dzi/cat.jpg.dzi") { $0.sources.base = "http://example.com/images/" }?.source == .url(Self.cat))
  }

  @Test
  func aSignatureIsThatOfTheSource() throws {
    let key = try documentedKey()
    let signature = key.signature(of: "/zoom/\(Self.cat)")
    let signed = "/iiif/3/\(signature)%2C\(Self.id)/full/max/0/default.jpg"
    #expect(try zoom(signed) { $0.keys = [key] }?.source == .url(Self.cat))
    #expect(try zoom("/dzi/\(signature),\(Self.id)_files/1/0_0.jpg") { $0.keys = [key] }?.source == .url(Self.cat))
    for path in [
      signed.replacing("cat", with: "dog"), "/iiif/3/\(Self.id)/info.json", "/iiif/3/x%2C\(Self.id)/info.json",
    ] {
      #expect(throws: RequestError(403, "the signature is missing or wrong")) { try zoom(path) { $0.keys = [key] } }
    }
    #expect(throws: RequestError.self) { try zoom(signed) { $0.keys = [try otherKey("a")] } }
    // As `vitrine sign` does it.
    for path in ["/iiif/3/\(Self.id)/full/max/0/default.jpg", "/dzi/\(Self.id).dzi", "/dzi/\(Self.id)_files/1/0_0.jpg"]
    {
      #expect(try zoom(key.signing(path)) { $0.keys = [key] }?.source == .url(Self.cat), "\(path)")
    }
    // Where keys are not needed, a source without a signature is one.
    let unsigned = try zoom("/iiif/3/\(Self.id)/info.json") { ($0.keys, $0.allowsUnsigned) = ([key], true) }
    #expect(unsigned?.source == .url(Self.cat))
  }

  @Test
  func lengthsAndCharactersAreChecked() throws {
    #expect(try refusal("/iiif/3/\(String(repeating: "a", count: 9000))/info.json") == 414)
    #expect(try refusal("/iiif/3/ä/info.json") == 400)
  }
}
