#if os(Linux)
import Foundation
import Testing
import VitrineImaging
import VitrineTestSupport

/// The formats that another process decodes.
struct ExternalCodecTests {
  @Test(arguments: [
    ("lossy-420.avif", "avif"), ("lossy.heic", "heic"), ("lossy.jxl", "jxl"), ("lzw.tiff", "tiff"),
  ])
  func headersAreRead(name: String, format: String) async throws {
    let outcome = try await Tool().run("info", "--json", Fixture.url(name).path)

    let line = try #require(try outcome.json.first)
    #expect(outcome.status == 0)
    #expect(line["format"] as? String == format)
    #expect(line["width"] as? Int == 61)
    #expect(line["height"] as? Int == 43)
  }

  @Test(arguments: [
    ("lossy-420.avif", [30, 21]), ("lossy.heic", [30, 21]), ("alpha.jxl", [30, 21]), ("lzw.tiff", [30, 21]),
    ("orientation-6.avif", [30, 20]), ("orientation-5.tiff", [30, 20]),
  ])
  func thumbnailsAreThoseOfTheLibrary(name: String, size: [Int]) async throws {
    let tool = try Tool()

    let outcome = try await tool.run("thumbnail", Fixture.url(name).path, "--size", "30", "-o", "out.png")

    #expect(outcome.status == 0)
    #expect(outcome.errors.isEmpty)
    let bitmap = try Bitmap(decoding: Data(contentsOf: tool.folder.appending(path: "out.png")))
    #expect([bitmap.width, bitmap.height] == size)
  }

  @Test
  func aDrawingFillsTheSizeAskedFor() async throws {
    let tool = try Tool()
    let drawing = ##"<svg xmlns="http://www.w3.org/2000/svg" width="6" height="4"><rect width="6" height="4"/></svg>"##

    let outcome = try await tool.run("thumbnail", "-", "--size", "300", "-o", "out.png", input: Data(drawing.utf8))

    #expect(outcome.status == 0)
    let bitmap = try Bitmap(decoding: Data(contentsOf: tool.folder.appending(path: "out.png")))
    #expect(bitmap.width == 300 && bitmap.height == 200)
    #expect(bitmap[150, 100] == SIMD4<UInt8>(0, 0, 0, 255))
  }

  @Test
  func aLargeScanIsNotReadAsAWhole() async throws {
    let tool = try Tool()
    try LargeScan.write(to: tool.folder.appending(path: "scan.tif").path)

    let facts = try #require(try await tool.run("info", "--json", "scan.tif").json.first)
    #expect(facts["width"] as? Int == LargeScan.width && facts["height"] as? Int == LargeScan.height)
    #expect(facts["bytes"] as? Int ?? 0 > 32 << 20)
    // A descriptor that a shell has opened is read from where it is.
    let piped = try await tool.shell("cat scan.tif | \"$vitrine\" info /dev/stdin")
    #expect(piped.status == 0 && piped.output.contains("/dev/stdin: tiff 8192x4096"), "\(piped.errors)")

    let outcome = try await tool.run("thumbnail", "scan.tif", "--size", "100", "-o", "out.png")
    #expect(outcome.status == 0, "\(outcome.errors)")
    let bitmap = try Bitmap(decoding: Data(contentsOf: tool.folder.appending(path: "out.png")))
    #expect(bitmap.width == 100 && bitmap.height == 50)
  }

  /// On both threads of a machine with two cores, where each would hold one for ever.
  @Test
  func drawingsThatNeverEndAreStoppedAndTheOthersAreServed() async throws {
    let tool = try Tool()
    let noise = ##"""
      <svg xmlns="http://www.w3.org/2000/svg" width="3000" height="3000">
      <filter id="f" x="0" y="0" width="1" height="1"><feTurbulence baseFrequency=".5" numOctaves="2000000000"/></filter>
      <rect width="3000" height="3000" filter="url(#f)"/></svg>
      """##
    for name in ["a.svg", "b.svg"] { try tool.write(Data(noise.utf8), to: name) }
    try tool.write(try Bitmap.gradient(width: 40, height: 40).encoded(as: .jpeg), to: "c.jpg")

    let sources = ["a.svg", "b.svg", Fixture.url("lossy-420.avif").path, "c.jpg"]
    let outcome = try await tool.run(
      ["thumbnail"] + sources + ["--size", "300", "--jobs", "2", "--time-limit", "1", "-o", "out/"]
    )

    #expect(outcome.status == 1)
    for name in ["a.svg", "b.svg"] {
      #expect(
        outcome.errors.contains("\(name): decoding took longer than the limit of 1.0 seconds"),
        "\(outcome.errors)",
      )
    }
    #expect(try tool.files("out") == ["c.jpg", "lossy-420.jpg"])
  }

  @Test
  func pagesAreFrames() async throws {
    let tool = try Tool()

    let outcome = try await tool.run(
      "thumbnail",
      Fixture.url("pages.tiff").path,
      "--frame",
      "1",
      "--json",
      "-o",
      "out.png",
    )

    let line = try #require(try outcome.json.first)
    #expect(line["width"] as? Int == 30 && line["height"] as? Int == 20)
  }

  @Test
  func manyImagesShareAFewProcesses() async throws {
    let tool = try Tool()
    let names = (1...8).flatMap { number in
      [".avif", ".heic", ".jxl", ".tiff"].map { Fixture.url("orientation-\(number)\($0)").path }
    }

    let outcome = try await tool.run(["thumbnail", "--jobs", "4", "--json", "-o", "out/"] + names)

    let lines = try outcome.json
    #expect(outcome.status == 0)
    #expect(lines.count == names.count)
    #expect(lines.allSatisfy { $0["width"] as? Int == 48 && $0["height"] as? Int == 32 })
  }

  @Test
  func whatACodecPrintsAboutDamageIsNotShown() async throws {
    let tool = try Tool()
    var file = try Fixture.data("lossless.jxl")
    for index in 300..<400 { file[index] ^= 0x5A }

    let outcome = try await tool.run("thumbnail", "-", "-o", "out.png", input: file)

    #expect(outcome.status == 1)
    #expect(outcome.errors.split(separator: "\n").count == 1)
    #expect(outcome.errors.hasPrefix("vitrine: -: "))
  }
}
#endif
