import Foundation
import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Names that lead to a FIFO, a device or an open descriptor and not to a file.
@Suite(.patient)
struct SpecialFileTests {
  private let tool: Tool

  init() throws {
    tool = try Tool()
  }

  private func makeFIFO(_ name: String) {
    #expect(unsafe mkfifo(tool.folder.appending(path: name).path, 0o600) == 0)
  }

  @Test
  func whatHasNoEndIsRefusedAtOnceAndTheOthersAreServed() async throws {
    makeFIFO("fifo")
    try FileManager.default.createDirectory(
      at: tool.folder.appending(path: "folder"),
      withIntermediateDirectories: true,
    )
    try Bitmap.testPattern(width: 8, height: 8).encoded(as: .png).write(to: tool.folder.appending(path: "a.png"))
    let outcome = try await tool.run("info", "fifo", "/dev/zero", "folder", "a.png")
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("fifo: it is a FIFO, not a regular file"), "\(outcome.errors)")
    #expect(outcome.errors.contains("/dev/zero: it is a device, not a regular file"))
    #expect(outcome.errors.contains("folder: it is a folder"))
    #expect(outcome.output.contains("8x8"))
  }

  @Test
  func anOpenDescriptorIsReadByItsName() async throws {
    let png = try Bitmap.testPattern(width: 8, height: 8).encoded(as: .png)
    try png.write(to: tool.folder.appending(path: "a.png"))
    let piped = try await tool.shell("cat a.png | \"$vitrine\" info /dev/stdin")
    #expect(piped.output.contains("8x8"), "\(piped.errors)")
    let numbered = try await tool.shell("cat a.png | \"$vitrine\" info /dev/fd/5 5<&0 </dev/null")
    #expect(numbered.output.contains("8x8"), "\(numbered.errors)")
  }

  @Test(arguments: ["format", "index", "lock"])
  func aFIFOInPlaceOfACachesFileHangsNoFetch(name: String) async throws {
    let server = try LoopbackServer()
    let png = try Bitmap.testPattern(width: 8, height: 8).encoded(as: .png)
    server.route("/a.png", LoopbackResponse(body: png))
    let arguments = ["fetch", server.url("/a.png"), "-o", "out/", "--cache-dir", "cache"]
    #expect(try await tool.run(arguments).status == 0)
    let file = tool.folder.appending(path: "cache/\(name)")
    try? FileManager.default.removeItem(at: file)
    makeFIFO("cache/\(name)")
    try FileManager.default.removeItem(at: tool.folder.appending(path: "out"))

    let outcome = try await tool.run(arguments)
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(try tool.data("out/a.png") == png)
    if name == "lock" {
      #expect(
        outcome.errors.contains("it is a FIFO, not a regular file; continuing without a cache"),
        "\(outcome.errors)",
      )
    }
  }
}
