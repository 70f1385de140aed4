import Foundation
import Testing
import VitrineImaging

struct UsageTests {
  let tool: Tool

  init() throws { tool = try Tool() }

  @Test(arguments: [
    [], ["paint"], ["info"], ["info", "--size", "3", "a.jpg"], ["thumbnail", "a.jpg"], ["thumbnail", "-o", "b.jpg"],
    ["thumbnail", "a.jpg", "-o"], ["thumbnail", "a.jpg", "-o", "b.jpg", "--size", "0"],
    ["thumbnail", "a.jpg", "-o", "b.jpg", "--size", "-3"], ["thumbnail", "a.jpg", "-o", "b.jpg", "--size", "x"],
    ["thumbnail", "a.jpg", "-o", "b.jpg", "--size", "3x4x5"], ["thumbnail", "a.jpg", "-o", "b.jpg", "--mode", "cover"],
    ["thumbnail", "a.jpg", "-o", "b.jpg", "--quality", "101"], ["thumbnail", "a.jpg", "-o", "b.jpg", "--quality", "q"],
    ["thumbnail", "a.jpg", "-o", "b.jpg", "--format", "tiff"], ["thumbnail", "a.jpg", "-o", "b.bmp"],
    ["thumbnail", "a.jpg", "-o", "b.png", "--progressive"],
    ["thumbnail", "a.jpg", "-o", "b.webp", "--subsampling", "444"],
    ["thumbnail", "a.jpg", "-o", "b.jpg", "--subsampling", "411"], ["thumbnail", "a.jpg", "-o", "b.jpg", "--lossless"],
    ["thumbnail", "a.jpg", "-o", "b.jpg", "--metadata", "gps"],
    ["thumbnail", "a.jpg", "-o", "b.jpg", "--metadata", ""],
    ["thumbnail", "a.jpg", "-o", "b.gif", "--animated", "--frame", "1"],
    ["fetch", "http://x/a", "-o", "b", "--metadata", "strip"], ["fetch", "http://x/a", "-o", "b", "--lossless"],
    ["thumbnail", "a.jpg", "-o", "b.jpg", "--frame", "-1"], ["thumbnail", "a.jpg", "-o", "b.jpg", "--jobs", "0"],
    ["thumbnail", "a.jpg", "-o", "b.jpg", "--time-limit", "-1"], ["fetch", "http://x/a", "--time-limit", "soon"],
    ["thumbnail", "a.jpg", "-o", "b.jpg", "--json=yes"], ["thumbnail", "a.jpg", "-o", "b.jpg", "--sharpen"],
    ["fetch"], ["fetch", "http://x/a", "-o", ""], ["fetch", "http://x/a", "--header", "X"],
    ["fetch", "http://x/a", "--header", "X Y: z"], ["fetch", "http://x/a", "--header", "X: a\r\nY: b"],
    ["fetch", "http://x/a", "--size-limit", "1T"], ["fetch", "http://x/a", "--size-limit", "-1"],
    ["fetch", "http://x/a", "--size-limit", "99999999999G"], ["fetch", "http://x/a", "--size-limit", "K"],
    ["fetch", "http://x/a", "--offline", "--reload"], ["fetch", "http://x/a", "--offline", "--no-cache"],
    ["fetch", "http://x/a", "--no-cache", "--cache-dir", "c"], ["fetch", "http://x/a", "--cache-dir", ""],
    ["fetch", "http://x/a", "-o", "b.bmp", "--size", "5"], ["fetch", "http://x/a", "--trace", ""],
    ["cache"], ["cache", "melt"], ["cache", "stats", "list"], ["cache", "trim", "--size-limit", "lots"],
    ["completions"], ["completions", "ksh"], ["completions", "zsh", "fish"], ["man", "paint"],
    ["help", "info", "fetch"],
  ])
  func whatIsNotUnderstoodEndsWith64AndAMessage(arguments: [String]) async throws {
    try tool.write(try Bitmap.gradient(width: 4, height: 4).encoded(as: .jpeg), to: "a.jpg")

    let outcome = try await tool.run(arguments)

    #expect(outcome.status == 64)
    #expect(outcome.output.isEmpty)
    #expect(outcome.errors.hasPrefix("vitrine: ") && outcome.errors.hasSuffix("\nTry 'vitrine --help'.\n"))
    #expect(try tool.files() == ["a.jpg"])
  }

  @Test(arguments: [["--help"], ["help"], ["thumbnail", "-h"]])
  func helpGoesToStandardOutput(arguments: [String]) async throws {
    let outcome = try await tool.run(arguments)
    #expect(outcome.status == 0)
    #expect(outcome.output.contains("vitrine thumbnail SOURCE... -o OUT"))
    #expect(outcome.errors.isEmpty)
  }

  @Test
  func withAHandfulOfFilesItEndsWithAnErrorAndNotInALibrary() async throws {
    try tool.write(try Bitmap.gradient(width: 4, height: 4).encoded(as: .jpeg), to: "a.jpg")
    for arguments in ["info a.jpg", "thumbnail a.jpg -o b.png", "fetch http://127.0.0.1:9/a.jpg"] {
      let outcome = try await tool.shell("ulimit -n 8; \"$vitrine\" \(arguments)")
      #expect(outcome.status == 1)
      #expect(outcome.errors.contains("only 8 files may be open at a time"), "\(outcome.errors)")
    }
  }

  @Test
  func optionsTakeTheirValueAfterASpaceOrAnEqualsSign() async throws {
    try tool.write(try Bitmap.gradient(width: 40, height: 40).encoded(as: .jpeg), to: "-a.jpg")
    let outcome = try await tool.run("thumbnail", "--size=10", "-o=b.png", "--", "-a.jpg")
    #expect(outcome.status == 0)
    #expect(try tool.image("b.png").bitmap.width == 10)
  }
}
