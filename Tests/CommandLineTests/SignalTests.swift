import Foundation
import Testing
import VitrineImaging

struct SignalTests {
  let tool: Tool

  init() throws { tool = try Tool() }

  @Test(arguments: [(SIGINT, Int32(130)), (SIGTERM, Int32(143))])
  func aSignalEndsItWithItsNumberAndNoHalfWrittenFile(signal: Int32, status: Int32) async throws {
    // Standard input that never ends holds the process until the signal comes.
    try tool.photograph("macaws-444.jpg", as: "a.jpg")
    let input = Pipe()
    let output = Pipe()
    let process = try tool.start("thumbnail", "a.jpg", "-", "-o", "out/", "--json", input: input, output: output)
    // The line for a.jpg says that it is under way.
    #expect(output.fileHandleForReading.availableData.isEmpty == false)

    kill(process.processIdentifier, signal)
    await process.waitUntilExit()

    #expect(process.terminationReason == .exit)
    #expect(process.terminationStatus == status)
    #expect(try tool.files("out") == ["a.jpg"])
    _ = try tool.image("out/a.jpg")
  }
}
