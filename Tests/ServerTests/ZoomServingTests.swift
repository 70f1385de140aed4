import Foundation
import Testing
import Vitrine
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineServing

/// Tiles, parts and descriptions for viewers that zoom.
@Suite(.patient)
struct ZoomServingTests {
  private static let id = "http%3A%2F%2Fimages.invalid%2Fcat.jpg"
  private static let (width, height) = (1500, 1100)

  /// A photograph of three columns and rows of tiles, whose colours say where they are.
  private static let photograph = Result {
    try Bitmap.pixels(width: width, height: height, alpha: .opaque) { x, y in
      SIMD4(UInt8(x * 255 / width), UInt8(y * 255 / height), 96, 255)
    }.encoded(as: ImageEncoding(.jpeg, quality: 95))
  }

  private let loader = FakeLoader()

  init() throws {
    loader.answer(
      TestServer.source,
      with: try Self.photograph.get(),
      headers: ["Cache-Control": "max-age=600", "ETag": "\"1\""],
    )
  }

  private func start(_ change: (inout ThumbnailServer.Configuration) -> Void = { _ in }) throws -> TestServer {
    try TestServer(loader) { configuration in
      configuration.zoomBase = ""
      change(&configuration)
    }
  }

  /// Checks that a picture shows a part of the photograph.
  private func expect(_ body: Data, shows region: PixelRegion, width: Int, height: Int) throws {
    let bitmap = try DecoderRegistry.standard.decode(body).bitmap
    #expect((bitmap.width, bitmap.height) == (width, height))
    for (x, y) in [(0.1, 0.1), (0.9, 0.2), (0.5, 0.5), (0.1, 0.9), (0.9, 0.9)] {
      let pixel = bitmap[Int(x * Double(width)), Int(y * Double(height))]
      let red = (Double(region.x) + x * Double(region.width)) * 255 / Double(Self.width)
      let green = (Double(region.y) + y * Double(region.height)) * 255 / Double(Self.height)
      #expect(abs(Double(pixel.x) - red) < 6 && abs(Double(pixel.y) - green) < 6, "\(region) at \(x), \(y): \(pixel)")
    }
  }

  @Test
  func withoutTheSettingThereAreNoSuchURLs() async throws {
    let server = try TestServer(loader)
    #expect(try await server.get("/iiif/3/\(Self.id)/info.json").response.status >= 400)
    #expect(server.loader.counts.loads == 0)
    await server.server.stop()
  }

  @Test
  func theDescriptionIsThatOfLevel1() async throws {
    let server = try start()
    await #expect(throws: HTTPError.self, "it leads elsewhere") { try await server.get("/iiif/3/\(Self.id)") }
    let base = "http://127.0.0.1:\(server.server.port)/iiif/3/\(Self.id)"
    let (response, body) = try await server.get("/iiif/3/\(Self.id)/info.json")
    #expect(response.status == 200)
    #expect(
      response.headers["Content-Type"] == #"application/ld+json;profile="http://iiif.io/api/image/3/context.json""#
    )
    #expect(response.headers["Access-Control-Allow-Origin"] == "*")
    #expect(response.headers["Link"] == #"<http://iiif.io/api/image/3/level1.json>;rel="profile""#)
    #expect(response.headers["Cache-Control"]?.hasPrefix("public, max-age=") == true)
    let json = try #require(try JSONSerialization.jsonObject(with: body) as? [String: Any])
    #expect(json["@context"] as? String == "http://iiif.io/api/image/3/context.json")
    #expect(json["id"] as? String == base)
    #expect(json["type"] as? String == "ImageService3" && json["profile"] as? String == "level1")
    #expect(json["protocol"] as? String == "http://iiif.io/api/image")
    #expect(json["width"] as? Int == Self.width && json["height"] as? Int == Self.height)
    let tiles = try #require((json["tiles"] as? [[String: Any]])?.first)
    #expect(tiles["width"] as? Int == 512 && tiles["scaleFactors"] as? [Int] == [1, 2, 4])
    let sizes = try #require(json["sizes"] as? [[String: Int]])
    #expect(sizes.map { $0["width"] } == [375, 750, 1500])
    await server.server.stop()
  }

  /// The requests of a viewer for all tiles of all scale factors.
  @Test
  func everyTileOfTheDescriptionShowsItsPart() async throws {
    let server = try start()
    var count = 0
    for scale in [1, 2, 4] {
      for y in stride(from: 0, to: Self.height, by: 512 * scale) {
        for x in stride(from: 0, to: Self.width, by: 512 * scale) {
          let region = PixelRegion(
            x: x,
            y: y,
            width: min(512 * scale, Self.width - x),
            height: min(512 * scale, Self.height - y),
          )
          let (width, height) = ((region.width + scale - 1) / scale, (region.height + scale - 1) / scale)
          let path = "\(x),\(y),\(region.width),\(region.height)/\(width),\(height)/0/default.jpg"
          let (response, body) = try await server.get("/iiif/3/\(Self.id)/\(path)")
          #expect(response.status == 200 && response.headers["Content-Type"] == "image/jpeg", "\(path)")
          try expect(body, shows: region, width: width, height: height)
          count += 1
        }
      }
    }
    #expect(count == 9 + 4 + 1)
    // All of the picture is a thumbnail as any other, and this server has no cache for the source.
    #expect(server.loader.counts.loads == 2)
    await server.server.stop()
  }

  @Test(arguments: [
    ("full/max", PixelRegion(x: 0, y: 0, width: 1500, height: 1100), 1500, 1100),
    ("full/300,", PixelRegion(x: 0, y: 0, width: 1500, height: 1100), 300, 220),
    ("square/110,", PixelRegion(x: 200, y: 0, width: 1100, height: 1100), 110, 110),
    ("333,444,555,321/max", PixelRegion(x: 333, y: 444, width: 555, height: 321), 555, 321),
    ("333,444,555,321/200,100", PixelRegion(x: 333, y: 444, width: 555, height: 321), 200, 100),
    ("1400,1000,900,900/,50", PixelRegion(x: 1400, y: 1000, width: 100, height: 100), 50, 50),
  ])
  func anyPartHasAnySize(path: String, region: PixelRegion, width: Int, height: Int) async throws {
    let server = try start()
    let (response, body) = try await server.get("/iiif/3/\(Self.id)/\(path)/0/default.png")
    #expect(response.status == 200 && response.headers["Content-Type"] == "image/png")
    try expect(body, shows: region, width: width, height: height)
    await server.server.stop()
  }

  @Test
  func anAnswerNamesItsCanonicalURL() async throws {
    let server = try start { $0.zoomBase = "https://images.example.org" }
    let (response, _) = try await server.get("/iiif/3/\(Self.id)/0,0,9999,9999/150,/0/default.jpg")
    let canonical = "https://images.example.org/iiif/3/\(Self.id)/full/150,110/0/default.jpg"
    #expect(
      response.headers.filter { $0.name.lowercased() == "link" }.map(\.value).last
        == #"<\#(canonical)>;rel="canonical""#
    )
    await server.server.stop()
  }

  @Test
  func deepZoomHasEveryLevel() async throws {
    let server = try start()
    let (response, body) = try await server.get("/dzi/\(Self.id).dzi")
    #expect(response.status == 200 && response.headers["Content-Type"] == "application/xml")
    #expect(String(decoding: body, as: UTF8.self).contains(#"<Size Width="1500" Height="1100"/>"#))
    // Level 11 has the picture's own size: 2^11 is the first power of two that is not below 1500.
    for level in 0...11 {
      let scale = 1 << (11 - level)
      let (width, height) = ((Self.width + scale - 1) / scale, (Self.height + scale - 1) / scale)
      let (columns, rows) = ((width - 1) / 512 + 1, (height - 1) / 512 + 1)
      let (last, body) = try await server.get("/dzi/\(Self.id)_files/\(level)/\(columns - 1)_\(rows - 1).jpg")
      #expect(last.status == 200, "\(level)")
      let info = try DecoderRegistry.standard.info(of: body)
      #expect((info.width, info.height) == (width - 512 * (columns - 1), height - 512 * (rows - 1)), "\(level)")
      #expect(try await server.get("/dzi/\(Self.id)_files/\(level)/\(columns)_0.jpg").response.status == 404)
    }
    #expect(try await server.get("/dzi/\(Self.id)_files/12/0_0.jpg").response.status == 404)
    #expect(server.loader.counts.loads == 1)
    await server.server.stop()
  }

  @Test
  func aKnownTileIsNotSentAgain() async throws {
    let server = try start()
    for path in ["/iiif/3/\(Self.id)/0,0,512,512/512,512/0/default.jpg", "/dzi/\(Self.id)_files/11/1_1.jpg"] {
      let tag = try #require(try await server.get(path).response.headers["ETag"])
      let (again, body) = try await server.get(path, ["If-None-Match": tag])
      #expect(again.status == 304 && body.isEmpty)
      #expect(try await server.get(path).response.headers["Server-Timing"] == "memory")
    }
    await server.server.stop()
  }

  @Test
  func errorsHaveTheirStatusAndAllOriginsMayReadThem() async throws {
    let server = try start()
    server.loader.answer("http://images.invalid/none.jpg", FakeResponse(status: 404))
    let cases = [
      ("\(Self.id)/full/1501,/0/default.jpg", 400), ("\(Self.id)/1500,0,5,5/max/0/default.jpg", 400),
      ("\(Self.id)/full/max/90/default.jpg", 501), ("http%3A%2F%2Fimages.invalid%2Fnone.jpg/info.json", 404),
      ("http%3A%2F%2F10.0.0.1%2Fa.jpg/info.json", 403),
    ]
    for (path, status) in cases {
      let (response, _) = try await server.get("/iiif/3/\(path)")
      #expect(response.status == status, "\(path)")
      #expect(response.headers["Access-Control-Allow-Origin"] == "*")
    }
    await server.server.stop()
  }

  @Test
  func aPurgedPictureIsFetchedAnew() async throws {
    let server = try start { $0.purgeToken = "token" }
    let path = "/iiif/3/\(Self.id)/0,0,512,512/512,512/0/default.jpg"
    #expect(try await server.get(path).response.status == 200)
    let purge = try await server.get(path, ["Authorization": "Bearer token"], method: HTTPMethod("PURGE"))
    #expect(purge.response.status == 200)
    #expect(try await server.get(path).response.status == 200)
    #expect(server.loader.counts.loads == 2)
    await server.server.stop()
  }

  @Test
  func aHostThatIsNoneIsRefused() async throws {
    let server = try start()
    let (response, _) = try await server.get("/iiif/3/\(Self.id)/info.json", ["Host": "a\"b"])
    #expect(response.status == 400)
    await server.server.stop()
  }
}
