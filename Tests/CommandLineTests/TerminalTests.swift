import Foundation
import Testing
import VitrineHTTP
import VitrineImaging
import VitrineTestSupport
import VitrineTesting

/// What is shown to who watches.
@Suite(.patient)
struct TerminalTests {
  let tool: Tool
  let server: LoopbackServer
  let terminal: Terminal

  init() throws {
    tool = try Tool()
    server = try LoopbackServer()
    terminal = try Terminal()
  }

  /// Serves a photograph, the second half of it when the gate opens.
  private func serveSlowly(isChunked: Bool = false) throws -> (file: Data, gate: LoopbackGate) {
    let file = try Photograph.data("macaws-444.jpg")
    let gate = server.makeGate()
    server.route("/a.jpg") { exchange in
      let halves = [file.prefix((file.count + 1) / 2), file.suffix(file.count / 2)]
      if isChunked {
        exchange.sendHead(200, ["Transfer-Encoding": "chunked"])
        exchange.sendChunk(halves[0])
        gate.wait()
        exchange.sendChunk(halves[1])
        exchange.sendLastChunk()
      } else {
        exchange.sendHead(200, ["Content-Length": "\(file.count)"])
        exchange.send(halves[0])
        gate.wait()
        exchange.send(halves[1])
        exchange.complete()
      }
    }
    return (file, gate)
  }

  @Test(arguments: [["fetch", "-o", "b.jpg"], ["thumbnail", "-o", "b.jpg"], ["info"]])
  func theProgressOfASingleSlowDownloadIsShownAndRemoved(arguments: [String]) async throws {
    let (_, gate) = try serveSlowly()
    // The first half is there and the second is not.
    terminal.whenShown("[###############...............] 50 % of ") { gate.open() }
    let process = try tool.start(arguments + [server.url("/a.jpg")], at: terminal)
    await process.waitUntilExit()
    let text = await terminal.end()
    #expect(process.terminationStatus == 0)
    // Nothing of it is left, and no line was begun.
    #expect(text.hasSuffix(" \r"))
    #expect(!text.contains("\n"))
  }

  @Test
  func aDownloadOfUnknownLengthShowsHowMuchHasCome() async throws {
    let (file, gate) = try serveSlowly(isChunked: true)
    terminal.whenShown(" KiB") { gate.open() }
    let process = try tool.start(["fetch", "-o", "b.jpg", server.url("/a.jpg")], at: terminal)
    await process.waitUntilExit()
    #expect(!(await terminal.end()).contains("%"))
    #expect(try tool.data("b.jpg") == file)
  }

  @Test
  func aSignalRemovesTheProgress() async throws {
    _ = try serveSlowly()
    let process = try tool.start(["fetch", "-o", "b.jpg", server.url("/a.jpg")], at: terminal)
    let id = process.processIdentifier
    terminal.whenShown("50 % of ") { kill(id, SIGINT) }
    await process.waitUntilExit()
    #expect(process.terminationStatus == 130)
    #expect((await terminal.end()).hasSuffix(" \r"))
    #expect(try tool.files().isEmpty)
  }

  @Test(arguments: [1, 3])
  func quietShowsNothingButErrors(count: Int) async throws {
    try Photograph.serve(on: server)
    let urls = Photograph.names.prefix(count).map { server.url("/\($0)") }
    let process = try tool.start(["fetch", "--quiet", "-o", "out/"] + urls, at: terminal)
    await process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    #expect(await terminal.end() == "")

    let other = try Terminal()
    let failing = try tool.start(["thumbnail", "--quiet", "-o", "out/", "missing.jpg", "gone.jpg"], at: other)
    await failing.waitUntilExit()
    let lines = ["missing", "gone"].map { "vitrine: \($0).jpg: No such file or directory\r\n" }
    #expect(await other.end() == lines.joined())
  }

  @Test
  func ofSeveralSourcesItIsShownHowManyAreDone() async throws {
    try Photograph.serve(on: server)
    let urls = Photograph.names.prefix(3).map { server.url("/\($0)") }
    let process = try tool.start(["fetch", "-o", "out/"] + urls, at: terminal)
    await process.waitUntilExit()
    let text = await terminal.end()
    #expect(text.contains("] 1 of 3") && text.contains("] 2 of 3"))
    #expect(text.contains("3 of 3 done in "))
  }

  @Test
  func whereNobodyWatchesNothingIsShown() async throws {
    let (file, gate) = try serveSlowly()
    gate.open()
    let outcome = try await tool.run("fetch", "-o", "b.jpg", server.url("/a.jpg"))
    #expect(outcome.errors.isEmpty && outcome.output.isEmpty)
    #expect(try tool.data("b.jpg") == file)
  }

  @Test
  func anImageIsNotPrintedOnATerminal() async throws {
    try tool.photograph("macaws-444.jpg", as: "a.jpg")
    let process = try tool.start(["thumbnail", "a.jpg", "-o", "-"], at: terminal, withOutput: true)
    await process.waitUntilExit()
    #expect(process.terminationStatus == 64)
    let message = "vitrine: -o - would write an image to the terminal; redirect standard output, or give -o a file\r\n"
    #expect(await terminal.end() == message + "Try 'vitrine --help'.\r\n")
  }
}
