import Foundation
import Testing
import VitrineImaging
import VitrineTestSupport
import VitrineTesting

/// `--do`: operations on the picture, by the table that the server's URLs have.
@Suite(.patient)
struct OperationTests {
  let tool: Tool

  init() throws {
    tool = try Tool()
    try tool.write(try Bitmap.gradient(width: 80, height: 60).encoded(as: .png), to: "a.png")
    try tool.write(
      try Bitmap.solid(SIMD4(255, 255, 255, 255), width: 8, height: 6).encoded(as: .png),
      to: "logo.png",
    )
  }

  @Test
  func operationsAreDoneInTheirOwnOrder() async throws {
    let texts = ["crop:40:30:se|watermark:logo.png:se|blur:1", "wm:logo.png:soea|bl:1.0|c:40:30:soea"]
    for (index, text) in texts.enumerated() {
      let outcome = try await tool.run("thumbnail", "a.png", "-o", "\(index).png", "--do", text)
      #expect(outcome.status == 0, "\(outcome.errors)")
    }
    #expect(try tool.data("0.png") == tool.data("1.png"))
    let made = try tool.image("0.png").bitmap
    #expect(made.size == [40, 30])
    // The blur is done before the watermark.
    #expect(made[39, 29] == SIMD4(255, 255, 255, 255))
    #expect(made[32, 24] == SIMD4(255, 255, 255, 255))
    #expect(made[31, 24].z < 140)
    // The lower right quarter of the gradient.
    #expect(made[2, 2].x > 120)
  }

  @Test
  func theSizeIsTheBoxOfTheOperations() async throws {
    let outcome = try await tool.run(
      "thumbnail",
      "a.png",
      "-o",
      "b.png",
      "--size",
      "40x40",
      "--do",
      "extend:1|background:f00",
    )
    #expect(outcome.status == 0, "\(outcome.errors)")
    let made = try tool.image("b.png").bitmap
    #expect(made.size == [40, 40])
    #expect(made[0, 4] == SIMD4(255, 0, 0, 255))
    #expect(made[20, 6].z > 100)
    let boxed = try await tool.run("thumbnail", "a.png", "-o", "c.png", "--do", "s:40:40|ex:1|bg:ff0000")
    #expect(boxed.status == 0)
    #expect(try tool.data("b.png") == tool.data("c.png"))
  }

  @Test
  func aPictureWithColonsInItsNameIsPercentEncoded() async throws {
    try tool.write(try tool.data("logo.png"), to: "a|b:c%.png")
    let outcome = try await tool.run("thumbnail", "a.png", "-o", "b.png", "--do", "wm:a%7Cb%3Ac%25.png")
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(try tool.image("b.png").bitmap[40, 30] == SIMD4(255, 255, 255, 255))
  }

  @Test
  func allFramesOfAnAnimationAreChanged() async throws {
    try tool.photograph("houses-animated.webp", as: "a.webp")
    let outcome = try await tool.run("thumbnail", "a.webp", "-o", "b.gif", "--animated", "--do", "w:40|rot:90|fl:1")
    #expect(outcome.status == 0, "\(outcome.errors)")
    let info = try DecoderRegistry.standard.info(of: try tool.data("b.gif"))
    #expect(info.width == 40)
    #expect(info.frameCount == 4)
  }

  @Test
  func fetchedImagesAreChangedAndKeptInTheCache() async throws {
    let server = try LoopbackServer()
    server.route("/a.png", Photograph.response(try tool.data("a.png")))
    let arguments = ["fetch", server.url("/a.png"), "--cache-dir", "cache", "--do", "crop:30:20:ce|sharpen:1"]
    let first = try await tool.run(arguments + ["-o", "b.png"])
    #expect(first.status == 0, "\(first.errors)")
    #expect(try tool.image("b.png").bitmap.size == [30, 20])
    let second = try await tool.run(arguments + ["-o", "c.png", "--offline"])
    #expect(second.status == 0, "\(second.errors)")
    #expect(try tool.image("c.png").bitmap.size == [30, 20])
  }

  // MARK: - Failures

  @Test(arguments: [("nothing.png", "No such file or directory"), ("text.png", "not an image")])
  func aWatermarkThatCannotBeUsedIsAnErrorOfProcessing(name: String, reason: String) async throws {
    try tool.write(Data("text".utf8), to: "text.png")
    let outcome = try await tool.run(
      "thumbnail",
      "a.png",
      "logo.png",
      "-o",
      "out/",
      "--json",
      "--do",
      "watermark:\(name)",
    )
    #expect(outcome.status == 1)
    #expect(outcome.errors.hasPrefix("vitrine: 'watermark' cannot use '\(name)': \(reason)"), "\(outcome.errors)")
    #expect(outcome.errors.split(separator: "\n").count == 1)
    #expect(try outcome.json.map { $0["source"] as? String } == ["a.png", "logo.png"])
    #expect(try outcome.json.allSatisfy { $0["stage"] as? String == "process" })
    #expect(try !tool.files().contains("out"))
  }

  @Test
  func aResultThatIsTooLargeIsAnErrorOfProcessing() async throws {
    let outcome = try await tool.run("thumbnail", "a.png", "-o", "b.png", "--json", "--do", "padding:60000")
    #expect(outcome.status == 1)
    #expect(
      outcome.errors.contains("vitrine: a.png: padding(60000px,60000px,60000px,60000px): a result of 120080x120060")
    )
    #expect(try outcome.json.first?["stage"] as? String == "process")
    #expect(try tool.files() == ["a.png", "logo.png"])
  }

  @Test(arguments: [
    ("blur:-1", "'blur' takes as deviation a number from 0 to 1000 with at most six decimal places, not '-1'"),
    ("blur:nan", "'blur' takes as deviation a number from 0 to 1000 with at most six decimal places, not 'nan'"),
    ("crop:10:70000", "'crop' takes as height a number from 0 to 65535"), ("blurr:4", "'blurr' is no operation"),
    ("", "'' is no operation"), ("trim", "'trim' needs values: threshold: 0 to 255"),
    ("watermark:%zz", "'watermark' has a % that encodes nothing"), ("watermark::se", "'watermark' needs a picture"),
    ("resize:fill:4:4", "'resize' and --size exclude each other"),
  ])
  func whatIsNotUnderstoodIsAnErrorOfTheCommandLine(text: String, message: String) async throws {
    for command in [["thumbnail", "a.png", "-o", "b.png"], ["fetch", "http://127.0.0.1:9/a.png", "-o", "b.png"]] {
      let outcome = try await tool.run(command + ["--size", "20", "--do", text])
      #expect(outcome.status == 64)
      #expect(outcome.errors.hasPrefix("vitrine: --do: \(message)"), "\(outcome.errors)")
    }
  }

  @Test
  func aModeWithoutASizeIsAnErrorOfTheCommandLine() async throws {
    let outcome = try await tool.run("thumbnail", "a.png", "-o", "b.png", "--mode", "fill", "--do", "size:20:20")
    #expect(outcome.status == 64)
    #expect(outcome.errors.hasPrefix("vitrine: --do: 'resizing_type' sets the mode if there is no --size"))
  }

  @Test
  func helpListsEveryOperation() async throws {
    for command in ["thumbnail", "fetch"] {
      let help = try await tool.run(command, "--help").output
      for row in ImageOperation.table {
        #expect(help.contains("\n  \(row.syntax.names.joined(separator: ", "))"))
        #expect(help.contains(row.syntax.example(at: .shell)))
      }
    }
  }
}
