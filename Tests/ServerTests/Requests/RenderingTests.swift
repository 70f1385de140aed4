import Testing
import Vitrine
import VitrineImaging
import VitrineRuntime
import VitrineServingRequests
import VitrineTestSupport
import VitrineTesting

/// What the options make of an image.
@Suite
struct RenderingTests {
  /// An opaque picture whose pixels say where they are: red is the column, green the row.
  private static func picture(_ width: Int, _ height: Int) -> Bitmap {
    let pixels = (0..<width * height).flatMap { place -> [UInt8] in
      [UInt8(place % width * 255 / max(1, width - 1)), UInt8(place / width * 255 / max(1, height - 1)), 128, 255]
    }
    return unsafe Bitmap(width: width, height: height, alpha: .opaque) { memory in
      // Four bytes a pixel on both sides.
      unsafe pixels.withUnsafeBytes { unsafe memory.copyMemory(from: $0) }
    }
  }

  /// Makes a thumbnail as a pipeline does: decodes at the size, then processes.
  private func thumbnail(_ bitmap: Bitmap, _ text: String, watermark: Bitmap? = nil) throws -> Bitmap {
    let path = "/_/\(text)/plain/http://example.com/"
    let options = try ThumbnailURLs().request(path: path).options
    let request = try options.imageRequest(for: .data(Data(), id: text), watermark: watermark)
    var result = try request.size.map { try bitmap.resized(to: $0) } ?? bitmap
    for step in request.processors { result = try step.process(result) }
    return result
  }

  @Test(arguments: [
    // Width and height of the picture, the options, width and height of the thumbnail.
    (400, 200, "rs:fit:100:100", 100, 50),
    (400, 200, "rs:fill:100:100", 100, 100),
    (400, 200, "rs:force:100:100", 100, 100),
    (400, 200, "w:100", 100, 50),
    (400, 200, "h:100", 200, 100),
    (400, 200, "w:0", 400, 200),
    (400, 200, "rs:auto:100:50", 100, 50),
    (400, 200, "rs:auto:50:100", 50, 25),
    (200, 400, "rs:auto:50:60", 50, 60),
    (400, 200, "w:800", 400, 200),
    (400, 200, "w:800/el:1", 800, 400),
    (400, 200, "w:100/dpr:2", 200, 100),
    (400, 200, "w:100/z:1.5", 150, 75),
    (400, 200, "w:1/h:1/z:0.01", 1, 1),
    (400, 200, "rs:fill:100:100/z:1:0.5", 100, 50),
    (400, 200, "rs:fill:300:300", 300, 200),
    (400, 200, "rs:fill-down:300:300", 200, 200),
    (400, 200, "rs:fill-down:300:300/g:noea", 200, 200),
    (400, 200, "rs:fill-down:300:300/g:sm", 200, 200),
    (400, 200, "rs:fill-down:300:300/g:fp:0.1:0.5", 200, 200),
    (400, 200, "rs:fill:100:100/g:sm", 100, 100),
    (400, 200, "rs:fill:100:100/g:fp:0.9:0.1", 100, 100),
    (400, 200, "rs:fill:100:100/g:we:10:0", 100, 100),
    (400, 200, "w:100/mh:100", 100, 100),
    (400, 200, "mw:800", 800, 400),
    (400, 200, "w:100/rot:90", 100, 200),
    (400, 200, "rs:fill:100:50/rot:90", 100, 50),
    (400, 200, "rs:fill:100:50/rot:270/g:no", 100, 50),
    (400, 200, "c:100:50", 100, 50),
    (400, 200, "c:0.5:0", 200, 200),
    (400, 200, "c:1000:1000", 400, 200),
    (400, 200, "c:100:100/w:50", 50, 50),
    (400, 200, "c:100:100:sm/rs:fill:20:40:1", 20, 40),
    (400, 200, "rs:fit:100:100/ex:1", 100, 100),
    (400, 200, "rs:fit:800:800/ex:1:so", 800, 800),
    (400, 200, "rs:fit:800:800/exar:1", 400, 400),
    (400, 200, "w:100/pd:10:20", 140, 70),
    (400, 200, "w:50/pd:10/dpr:2", 140, 90),
    (1, 400, "w:100/h:10", 1, 10),
    (400, 1, "h:1/w:3", 3, 1),
    (1, 1, "rs:fill:100:100:1/g:sm", 100, 100),
    (400, 200, "mrd:100", 100, 50),
    (400, 200, "w:400/h:400/ex:1:fp:0.5:0/mrd:100", 100, 100),
  ])
  func theSizeIsThatOfTheOptions(width: Int, height: Int, options: String, newWidth: Int, newHeight: Int) throws {
    let result = try thumbnail(Self.picture(width, height), options)
    #expect(result.width == newWidth)
    #expect(result.height == newHeight)
  }

  @Test(arguments: [
    // What is left of a wide picture, by the level of red in its middle.
    ("rs:fill:40:80/g:we", 32), ("rs:fill:40:80/g:ea", 224), ("rs:fill:40:80", 128),
    ("rs:fill:40:80/g:we:40:0", 96), ("rs:fill:40:80/g:ea:40:0", 160), ("rs:fill:40:80/g:ce:-40:0", 64),
    ("rs:fill:40:80/g:we:0.25:0", 96), ("rs:fill:40:80/g:fp:0.75:0.5", 192), ("rs:fill:40:80/g:fp:1:0.5", 224),
    ("rs:fill:40:80/g:we/fl:1", 223), ("rs:fill:40:80/g:fp:0:0/fl:1:1", 223),
    ("c:80:0:ea/w:20", 196), ("c:0.5:0:we/rs:fill:20:80/g:we", 16),
  ])
  func theGravitySaysWhatStays(options: String, red: Int) throws {
    let result = try thumbnail(Self.picture(160, 80), options)
    let middle = Int(result[result.width / 2, result.height / 2].x)
    #expect(abs(middle - red) <= 4, "\(middle)")
  }

  @Test
  func aRotationComesBeforeTheCrop() throws {
    // Turned to the right, the left edge is the top.
    let result = try thumbnail(Self.picture(160, 80), "rot:90/rs:fill:80:40/g:no")
    #expect(result[40, 1].x < 8)
    #expect(result[40, 38].x > 55 && result[40, 38].x < 72)
    #expect(result[0, 20].y > 247)
  }

  @Test
  func aCanvasHasTheColorOfTheBackground() throws {
    let red = try thumbnail(Self.picture(40, 20), "w:40/h:40/ex:1:nowe/pd:5/bg:ff0000")
    #expect(red[0, 0] == SIMD4(255, 0, 0, 255))
    #expect(red[20, 40] == SIMD4(255, 0, 0, 255))
    #expect(red[5, 5] == SIMD4(0, 0, 128, 255))
    #expect(red.alpha == .opaque)
    let clear = try thumbnail(Self.picture(40, 20), "w:40/h:40/ex:1:so:0:3")
    #expect(clear[0, 0] == SIMD4(0, 0, 0, 0))
    #expect(clear[0, 39].w == 0)
    #expect(clear[0, 36].w == 255)
  }

  @Test
  func edgesAreTrimmedBeforeTheSizeIsKnown() throws {
    let framed = try ImageProcessor.padding(top: 3, right: 5, bottom: 7, left: 9, color: .white)
      .process(Self.picture(40, 20))
    let result = try thumbnail(framed, "t:5")
    #expect((result.width, result.height) == (40, 20))
    #expect(result[0, 0] == SIMD4(0, 0, 128, 255))
    let equal = try thumbnail(framed, "t:5:ffffff:1:1")
    #expect((equal.width, equal.height) == (44, 24))
  }

  @Test
  func theWatermarkIsTheServers() throws {
    let mark = try ImageProcessor.brightness(1).process(Self.picture(10, 10))
    // It is fitted into a fifth of both sides.
    let result = try thumbnail(Self.picture(100, 100), "wm:1:soea:10:5:0.2", watermark: mark)
    #expect(result[89, 94] == SIMD4(255, 255, 255, 255))
    #expect(result[90, 94].y < 250)
    #expect(result[71, 80].x == 255)
    #expect(try thumbnail(Self.picture(200, 50), "wm:1:nowe:0:0:0.2", watermark: mark)[11, 5].x < 20)
    #expect(throws: RequestError.self) { try thumbnail(Self.picture(4, 4), "wm:1") }
  }

  @Test
  func eachPipelineStartsFromTheResultOfTheOneBefore() throws {
    let picture = Self.picture(80, 40)
    for (first, second) in [
      ("w:40", "rs:fill:10:20/g:we"), ("c:20:20:ea", "rot:90/pd:2"),
      ("rs:fill:30:30/pd:5/bg:ffffff", "w:20/h:20/dpr:0.5"),
      ("rot:90", "w:10"), ("ex:1/s:100:100", "t:5"), ("w:20", "dpr:2/w:30/el:1/pd:1"),
    ] {
      let one = try thumbnail(try thumbnail(picture, first), "-/\(second)")
      let both = try thumbnail(picture, "\(first)/-/\(second)")
      #expect((one.width, one.height) == (both.width, both.height), "\(first) \(second)")
      #expect(one.content == both.content, "\(first) \(second)")
      let alone = try thumbnail(try thumbnail(picture, first), second)
      #expect((alone.width, alone.height) == (both.width, both.height), "\(first) \(second)")
    }
    // An image is turned once.
    let container = ImageContainer(
      picture,
      info: ImageInfo(format: .jpeg, storedWidth: 40, storedHeight: 80, orientation: .right),
    )
    for (text, size) in [("ar:0", [40, 80]), ("ar:0/-/ar:0", [40, 80]), ("w:80/-/ar:0/pd:1", [82, 42])] {
      let options = try ThumbnailURLs().request(path: "/_/\(text)/plain/http://example.com/").options
      var result = container
      for step in try options.imageRequest(for: .data(Data(), id: text)).processors {
        result = try step.process(result)
      }
      #expect(result.bitmap.size == size, "\(text)")
    }
    let marked = try thumbnail(picture, "w:40/wm:1:nowe/-/wm:1:soea", watermark: Self.picture(2, 2))
    #expect((marked[0, 0].x, marked[39, 19].x) == (0, 255) && marked[38, 18].x == 0)
    #expect(throws: RequestError.self) { try thumbnail(picture, "w:4/-/wm:1") }
  }

  @Test
  func framesPagesAndColorsReachTheDecoder() throws {
    func request(_ text: String) throws -> ImageRequest {
      try ThumbnailURLs().request(path: "/_/\(text)/plain/http://example.com/").options
        .imageRequest(for: .url("http://example.com/"))
    }
    #expect(try request("w:1").animates)
    #expect(try !request("da:1").animates)
    #expect(try !request("pg:2").animates)
    #expect(try request("pg:2").frame == 2)
    #expect(try request("w:1").colorSpace == .sRGB)
    #expect(try request("scp:0").colorSpace == .displayP3)
    // Where nothing depends on the original, the decoder makes the thumbnail.
    let size = try #require(try request("rs:fill:300:200/g:nowe").size)
    #expect(size.width == 300 && size.height == 200 && size.mode == .fill)
    #expect(try request("rs:fill:300:200/g:nowe").processors.isEmpty)
    #expect(try request("rs:fill:300:200/g:sm").size == nil)
  }

  @Test
  func otherOptionsHaveOtherKeys() throws {
    var numbers = SplitMix64(seed: 3)
    var requests: [ImageRequest: ThumbnailOptions] = [:]
    for _ in 0..<300 {
      var options = ThumbnailOptions.random(&numbers)
      options.operations[.watermark] = nil
      let request = try options.imageRequest(for: .url("http://example.com/"))
      guard let known = requests.updateValue(options, forKey: request) else { continue }
      // Options may differ and say the same, but not for a crop or a filter.
      for operation in [ImageOperation.crop, .blur, .trim, .padding, .roundedCorners, .brightness, .rotate] {
        #expect(known.operations[operation] == options.operations[operation])
      }
    }
  }

  /// The whole way, from the URL to the bytes of a file.
  @Test
  func aPipelineMakesTheThumbnailOfAURL() async throws {
    let source = try Self.picture(300, 200).encoded(as: .png())
    let pipeline = ImagePipeline.testing()
    let path = "/_/rs:fill:100:100/g:fp:0.9:0.5/rot:180/bl:1/pd:5/bg:ffffff/kcr:0/plain/http://example.com/@webp"
    let request = try ThumbnailURLs().request(path: path)
    let answer = Negotiation.choose(request, headers: [:])
    let image = try await pipeline.encoded(
      for: try answer.options.imageRequest(for: .data(source, id: "picture")),
      as: answer.encoding,
    )
    #expect(image.format == .webp)
    #expect((image.width, image.height) == (110, 110))
  }
}
