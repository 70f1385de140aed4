import Foundation
import Testing
import VitrineImaging
import VitrineTestSupport

struct ThumbnailerCommandTests {
  let tool: Tool

  init() throws { tool = try Tool() }

  @Test
  func aPhotographBecomesAnUprightPNGOfTheSizeOfItsLongestSide() async throws {
    try tool.photograph("waterfall-cliff-orientation-6.jpg", as: "a.jpg")

    let outcome = try await tool.run("thumbnailer", "--size", "128", "--", "a.jpg", "out")

    #expect(outcome.status == 0)
    #expect(outcome.errors.isEmpty && outcome.output.isEmpty)
    let made = try tool.image("out")
    #expect(made.info.format == .png)
    #expect(made.bitmap.size == [128, 85])
    #expect(try tool.files() == ["a.jpg", "out"])
  }

  @Test
  func nothingIsEnlarged() async throws {
    try tool.write(try Bitmap.gradient(width: 30, height: 20).encoded(as: .png), to: "a.png")

    #expect(try await tool.run("thumbnailer", "a.png", "out.png").status == 0)

    #expect(try tool.image("out.png").bitmap.size == [30, 20])
  }

  @Test(arguments: ["file://", "file://localhost", "FILE://", "file:"])
  func aLocalURIIsAFile(start: String) async throws {
    let name = "100% of é #1?.qoi"
    try tool.write(try Bitmap.gradient(width: 30, height: 20).encoded(as: .qoi), to: name)
    let encoded = "100%25%20of%20%C3%A9%20%231%3F.qoi"

    let outcome = try await tool.run("thumbnailer", "\(start)\(tool.folder.path)/\(encoded)", "out.png")

    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(try tool.image("out.png").bitmap.size == [30, 20])
  }

  @Test(arguments: ["a:b.png", "file.png", "file:b.png"])
  func anOrdinaryNameWithAColonIsAPath(name: String) async throws {
    try tool.write(try Bitmap.gradient(width: 30, height: 20).encoded(as: .png), to: name)
    #expect(try await tool.run("thumbnailer", name, "out.png").status == 0)
  }

  @Test(arguments: [
    ("sftp://host.invalid/a.png", "only local files"), ("https://host.invalid/a.png", "only local files"),
    ("file://host.invalid/a.png", "another machine"), ("file:///a%00b.png", "no path"), ("file://", "no path"),
    ("none.png", "No such file"), (".", "it is a folder"), ("fifo", "FIFO"), ("text.png", "not an image"),
  ])
  func whatIsNoLocalPictureEndsWith1AndOneLineAndNoOutput(name: String, reason: String) async throws {
    try tool.write(Data("Dear diary".utf8), to: "text.png")

    let outcome = try await tool.shell("mkfifo fifo; exec \"$vitrine\" thumbnailer '\(name)' out.png")

    #expect(outcome.status == 1)
    #expect(outcome.errors.contains(reason), "\(outcome.errors)")
    #expect(outcome.errors.hasPrefix("vitrine: ") && outcome.errors.split(separator: "\n").count == 1)
    #expect(try tool.files() == ["fifo", "text.png"])
  }

  @Test(arguments: [
    [], ["a.png"], ["a.png", "b.png", "c.png"], ["a.png", ""], ["--size", "0", "a.png", "b.png"],
    ["--size", "5000", "a.png", "b.png"], ["--time-limit", "0", "a.png", "b.png"],
  ])
  func aCommandLineThatIsNotUnderstoodEndsWith64(arguments: [String]) async throws {
    let outcome = try await tool.run(["thumbnailer"] + arguments)
    #expect(outcome.status == 64)
    #expect(try tool.files() == [])
  }

  /// Tumbler creates the output and reads from the descriptor that it got, so a renamed file would never be seen.
  @Test
  func anOutputThatExistsStaysTheSameFileAndLosesItsContents() async throws {
    try tool.write(try Bitmap.gradient(width: 30, height: 20).encoded(as: .png), to: "a.png")
    try tool.write(Data(repeating: 7, count: 100_000), to: "out.png")

    let outcome = try await tool.shell("exec 3<out.png; \"$vitrine\" thumbnailer a.png out.png && cat <&3")

    #expect(outcome.status == 0)
    #expect(try tool.data("out.png") == outcome.data)
    #expect(try DecoderRegistry.standard.decode(outcome.data).bitmap.size == [30, 20])
  }

  @Test
  func anOutputThatExistsIsLeftAloneByAFileThatIsNoPicture() async throws {
    try tool.write(Data("Dear diary".utf8), to: "text.png")
    try tool.write(Data(), to: "out.png")

    #expect(try await tool.run("thumbnailer", "text.png", "out.png").status == 1)

    #expect(try tool.data("out.png").isEmpty)
  }

  @Test
  func aHugeFileIsRefusedBeforeItIsRead() async throws {
    let outcome = try await tool.shell("truncate -s 1G a.png; \"$vitrine\" thumbnailer a.png out.png")

    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("a file of 1073 MB, over the limit of"), "\(outcome.errors)")
    #expect(try tool.files() == ["a.png"])
  }

  @Test
  func aTruncatedPhotographHasAThumbnailWithAMark() async throws {
    let whole = try Bitmap.gradient(width: 400, height: 300).encoded(as: .jpeg)
    try tool.write(whole, to: "whole.jpg")
    try tool.write(whole.prefix(whole.count * 3 / 5), to: "a.jpg")

    for name in ["whole", "a"] {
      let outcome = try await tool.run("thumbnailer", "\(name).jpg", "\(name).png")
      #expect(outcome.status == 0 && outcome.errors.isEmpty)
    }

    let (shown, bitmap) = (try tool.image("whole.png").bitmap, try tool.image("a.png").bitmap)
    #expect(bitmap.size == shown.size)
    #expect(bitmap[10, 10] == shown[10, 10] && shown.alpha == .opaque)
    #expect(bitmap[10, 191].w == 0)
    // The disc is a fifth of the height, and amber beside its sign.
    #expect(bitmap[255 - 10, 191 - 19].isWithin(12, of: SIMD4(245, 194, 17, 255)))
  }

  @Test
  func aFileOfWhichNothingIsLeftHasNoThumbnail() async throws {
    let whole = try Bitmap.gradient(width: 400, height: 300).encoded(as: .jpeg)
    try tool.write(whole.prefix(100), to: "a.jpg")

    #expect(try await tool.run("thumbnailer", "a.jpg", "out.png").status == 1)

    #expect(try tool.files() == ["a.jpg"])
  }

  #if os(Linux)
  @Test(arguments: ["lossy-420.avif", "lossy.heic", "lossy.jxl", "lzw.tiff"])
  func externalFormatsAreDecodedByTheOtherProgram(name: String) async throws {
    let outcome = try await tool.run("thumbnailer", Fixture.url(name).path, "out.png", "--size", "30")

    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(try tool.image("out.png").bitmap.size == [30, 21])
  }

  @Test
  func aDrawingThatNeverEndsIsStopped() async throws {
    let noise = ##"""
      <svg xmlns="http://www.w3.org/2000/svg" width="3000" height="3000">
      <filter id="f" x="0" y="0" width="1" height="1"><feTurbulence baseFrequency=".5" numOctaves="2000000000"/></filter>
      <rect width="3000" height="3000" filter="url(#f)"/></svg>
      """##
    try tool.write(Data(noise.utf8), to: "a.svg")

    let outcome = try await tool.run("thumbnailer", "a.svg", "out.png", "--time-limit", "1")

    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("longer than the limit of 1.0 seconds"), "\(outcome.errors)")
    #expect(try tool.files() == ["a.svg"])
  }
  #endif
}
