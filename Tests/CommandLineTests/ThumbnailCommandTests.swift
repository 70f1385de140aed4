import Foundation
import Testing
import VitrineHTTP
import VitrineImaging
import VitrineTestSupport
import VitrineTesting

struct ThumbnailCommandTests {
  let tool: Tool

  init() throws { tool = try Tool() }

  @Test
  func aPhotographBecomesAnUprightThumbnail() async throws {
    try tool.photograph("waterfall-cliff-orientation-6.jpg", as: "a.jpg")

    let outcome = try await tool.run("thumbnail", "a.jpg", "-o", "b.jpg", "--size", "300x300", "--json")

    #expect(outcome.status == 0)
    #expect(outcome.errors.isEmpty)
    let made = try tool.image("b.jpg")
    #expect(made.info.orientation == .up)
    #expect(made.bitmap.size == [300, 200])
    let json = try #require(try outcome.json.first)
    #expect(Set(json.keys) == ["source", "output", "width", "height", "milliseconds", "damage", "error", "stage"])
    #expect(json["output"] as? String == "b.jpg")
    #expect(json["width"] as? Int == 300)
    #expect(json["height"] as? Int == 200)
  }

  @Test(arguments: [
    ("400", "fit", 400, 200), ("400x", "fit", 400, 200), ("x100", "fit", 200, 100), ("100x100", "fit", 100, 50),
    ("100x100", "fill", 100, 100), ("120x90", "exact", 120, 90), ("5000x5000", "fit", 800, 400),
    ("500x500", "fill", 500, 400), ("900x50", "exact", 800, 50),
  ])
  func sizesAndModesGiveTheirSizesAndEnlargeNothing(size: String, mode: String, width: Int, height: Int) async throws {
    try tool.write(try Bitmap.gradient(width: 800, height: 400).encoded(as: .jpeg), to: "a.jpg")
    let outcome = try await tool.run("thumbnail", "a.jpg", "-o", "b.png", "--size", size, "--mode", mode)
    #expect(outcome.status == 0)
    let made = try tool.image("b.png").bitmap
    #expect(made.size == [width, height])
  }

  @Test
  func withoutASizeItIsAsLargeAsTheSource() async throws {
    try tool.photograph("hibiscus-window-alpha.png", as: "a.png")
    #expect(try await tool.run("thumbnail", "a.png", "-o", "b.png").status == 0)
    #expect(try tool.image("b.png").bitmap.psnr(against: tool.image("a.png").bitmap) == .infinity)
  }

  @Test
  func theFormatFollowsTheOptionThenTheNameThenTransparency() async throws {
    let clear = try Bitmap.gradient(width: 8, height: 8, alpha: 100).encoded(as: .png)
    try tool.write(clear, to: "clear.png")
    try tool.write(try Bitmap.gradient(width: 8, height: 8).encoded(as: .png), to: "solid.png")

    _ = try await tool.run("thumbnail", "clear.png", "solid.png", "-o", "both/")
    _ = try await tool.run("thumbnail", "solid.png", "-o", "named.WEBP")
    _ = try await tool.run("thumbnail", "solid.png", "-o", "told.jpg", "--format", "png")
    _ = try await tool.run("thumbnail", "clear.png", "-o", "bare")

    #expect(try tool.files("both") == ["clear.png", "solid.jpg"])
    #expect(try tool.image("named.WEBP").info.format == .webp)
    #expect(try tool.image("told.jpg").info.format == .png)
    #expect(try tool.image("bare").info.format == .png)
  }

  @Test
  func namesInAFolderAreGivenOnceInTheOrderOfTheArguments() async throws {
    let image = try Bitmap.gradient(width: 4, height: 4).encoded(as: .jpeg)
    for name in ["x/a.jpg", "y/a.jpeg", "z/a.b.jpg", "z/.hidden", "a-2.jpg"] { try tool.write(image, to: name) }

    let outcome = try await tool.run(
      "thumbnail",
      "x/a.jpg",
      "y/a.jpeg",
      "z/a.b.jpg",
      "z/.hidden",
      "a-2.jpg",
      "-",
      "-o",
      "out",
      "--json",
      input: image,
    )

    let outputs = try outcome.json.map { $0["output"] as? String }
    #expect(
      outputs == ["out/a.jpg", "out/a-2.jpg", "out/a.b.jpg", "out/.hidden.jpg", "out/a-2-2.jpg", "out/image.jpg"]
    )
    #expect(try tool.files("out").count == 6)
  }

  @Test
  func aRepeatedArgumentIsWrittenOnceAndReportedEachTime() async throws {
    try tool.write(try Bitmap.gradient(width: 4, height: 4).encoded(as: .jpeg), to: "a.jpg")
    let outcome = try await tool.run("thumbnail", "a.jpg", "a.jpg", "-o", "one.jpg", "--json")
    #expect(try outcome.json.map { $0["output"] as? String } == ["one.jpg", "one.jpg"])
    #expect(try tool.files() == ["a.jpg", "one.jpg"])
  }

  @Test
  func oneBadFileIsNamedAndTheOthersAreDone() async throws {
    try tool.photograph("macaws-444.jpg", as: "good.jpg")
    let whole = try tool.data("good.jpg")
    try tool.write(whole.prefix(whole.count / 2), to: "cut.jpg")
    try tool.write(Data(), to: "empty.jpg")

    let outcome = try await tool.run(
      "thumbnail",
      "cut.jpg",
      "empty.jpg",
      "good.jpg",
      "-o",
      "out/",
      "--size",
      "90",
      "--json",
    )

    #expect(outcome.status == 1)
    #expect(try tool.files("out") == ["good.jpg"])
    let lines = outcome.errors.split(separator: "\n")
    #expect(lines.count == 2)
    #expect(lines.first?.hasPrefix("vitrine: cut.jpg: truncated: ") == true)
    #expect(lines.last == "vitrine: empty.jpg: not an image: it is empty")
    let json = try outcome.json
    #expect(json.map { $0["stage"] as? String } == ["decode", "decode", nil])
  }

  @Test
  func aDamagedImageFailsUnlessItIsToBeShown() async throws {
    let whole = try Bitmap.noise(width: 400, height: 300, seed: 1).encoded(as: .jpeg)
    try tool.write(whole.prefix(whole.count / 2), to: "cut.jpg")
    try tool.write(whole, to: "whole.jpg")
    for arguments in [[], ["--damaged", "error"]] {
      #expect(try await tool.run(["thumbnail", "cut.jpg", "-o", "out.png"] + arguments).status == 1)
      #expect(try tool.files() == ["cut.jpg", "whole.jpg"])
    }

    let outcome = try await tool.run(
      "thumbnail",
      "cut.jpg",
      "whole.jpg",
      "-o",
      "out/",
      "--size",
      "200",
      "--damaged",
      "show",
      "--json",
    )

    #expect(outcome.status == 0)
    #expect(outcome.errors.hasPrefix("vitrine: cut.jpg: damaged, shown in part: truncated: the file ends at row "))
    #expect(outcome.errors.split(separator: "\n").count == 1, "\(outcome.errors)")
    let json = try outcome.json
    #expect((json.first?["damage"] as? String)?.hasPrefix("truncated: ") == true)
    #expect(json.first?["error"] is NSNull && json.last?["damage"] is NSNull)
    // It has no transparency of its own, so it stays a JPEG, and what is missing is white.
    #expect(try tool.files("out") == ["cut.jpg", "whole.jpg"])
    let (cut, shown) = (try tool.image("out/cut.jpg").bitmap, try tool.image("out/whole.jpg").bitmap)
    #expect(cut.size == shown.size)
    #expect(cut[100, 10].isWithin(12, of: shown[100, 10]))
    #expect(cut[100, 149].isWithin(3, of: SIMD4(255, 255, 255, 255)))
  }

  @Test
  func aWordThatDamagedDoesNotTakeIsAnErrorOfUsage() async throws {
    let outcome = try await tool.run("thumbnail", "a.jpg", "-o", "b.jpg", "--damaged", "hide")
    #expect(outcome.status == 64)
    #expect(outcome.errors.contains("--damaged takes one of error, show, not 'hide'"), "\(outcome.errors)")
  }

  @Test
  func aFrameOfAnAnimationCanBeChosen() async throws {
    try tool.photograph("houses-animated.webp", as: "a.webp")
    #expect(try await tool.run("thumbnail", "a.webp", "-o", "0.png").status == 0)
    #expect(try await tool.run("thumbnail", "a.webp", "-o", "3.png", "--frame", "3").status == 0)
    #expect(try tool.image("0.png").bitmap.psnr(against: tool.image("3.png").bitmap) < 20)

    let beyond = try await tool.run("thumbnail", "a.webp", "-o", "4.png", "--frame", "4")
    #expect(beyond.status == 1)
    #expect(beyond.errors == "vitrine: a.webp: no frame 4: there are 4 frames, counted from 0\n")
  }

  @Test
  func anExistingFileIsReplacedWholeAndNothingElseIsLeft() async throws {
    try tool.write(Data(repeating: 7, count: 100_000), to: "out.png")
    try tool.write(try Bitmap.gradient(width: 9, height: 9).encoded(as: .png), to: "a.png")
    #expect(try await tool.run("thumbnail", "a.png", "-o", "out.png").status == 0)
    #expect(try tool.image("out.png").bitmap.width == 9)
    #expect(try tool.files() == ["a.png", "out.png"])
  }

  @Test
  func anOriginalInTheOutputFolderIsNotReplaced() async throws {
    let original = try Bitmap.gradient(width: 99, height: 99).encoded(as: .jpeg)
    try tool.write(original, to: "a.jpg")
    let outcome = try await tool.run("thumbnail", "a.jpg", "-o", ".", "--size", "10")
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("is one of the sources and is not replaced"))
    #expect(try tool.data("a.jpg") == original)
  }

  @Test
  func aFolderThatCannotBeMadeIsAnErrorOfWriting() async throws {
    try tool.write(try Bitmap.gradient(width: 9, height: 9).encoded(as: .jpeg), to: "a.jpg")
    let outcome = try await tool.run("thumbnail", "a.jpg", "-o", "a.jpg/thumbs/", "--json")
    #expect(outcome.status == 1)
    #expect(try outcome.json.first?["stage"] as? String == "write")
  }

  @Test
  func whatIsNoRegularFileIsWrittenToAndNotReplaced() async throws {
    try tool.write(try Bitmap.gradient(width: 9, height: 9).encoded(as: .jpeg), to: "a.jpg")
    #expect(try await tool.run("thumbnail", "a.jpg", "-o", "/dev/null", "--format", "jpeg").status == 0)
    var info = stat()
    #expect(unsafe stat("/dev/null", &info) == 0 && info.st_mode & S_IFMT == S_IFCHR)
  }

  @Test
  func aLowerQualityMakesASmallerFile() async throws {
    try tool.photograph("macaws-444.jpg", as: "a.jpg")
    for quality in ["20", "90"] {
      #expect(try await tool.run("thumbnail", "a.jpg", "-o", "\(quality).jpg", "--quality", quality).status == 0)
    }
    #expect(try tool.data("20.jpg").count * 2 < tool.data("90.jpg").count)
  }

  @Test(.patient)
  func ofAnAddressNoMoreIsFetchedThanAFastThumbnailTakes() async throws {
    let server = try LoopbackServer()
    let gate = server.makeGate()
    let file = try Photograph.data("lighthouse-progressive.jpg").withJPEGComments(ofBytes: 1 << 20, beforeScans: [2])
    server.route("/a.jpg") { exchange in
      exchange.sendHead(200, ["ETag": "\"1\"", "Content-Length": "\(file.count)"])
      exchange.send(file.prefix(32 << 10))
      // Whoever wants the rest waits for ever.
      gate.wait()
    }

    let outcome = try await tool.run(
      "thumbnail",
      server.url("/a.jpg"),
      "-o",
      "a.png",
      "--size",
      "48",
      "--quality-mode",
      "fast",
    )

    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(try tool.image("a.png").bitmap.size == [48, 32])
  }
}
