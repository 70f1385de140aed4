import Foundation
import Testing
import VitrineImaging
import VitrineTestSupport

@Suite(.patient)
struct SignalTests {
  let tool: Tool

  init() throws { tool = try Tool() }

  @Test(arguments: [(SIGHUP, Int32(129)), (SIGINT, Int32(130)), (SIGTERM, Int32(143))])
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

  @Test(arguments: [(SIGHUP, "HUP"), (SIGINT, "INT"), (SIGTERM, "TERM")])
  func aSignalThatItIsToOutliveDoesNotEndIt(signal: Int32, name: String) async throws {
    let (input, output) = (Pipe(), Pipe())
    // As nohup does, and shells for what runs in the background.
    let process = try tool.start(
      script: "trap '' \(name); echo; exec \"$vitrine\" thumbnail - -o b.png",
      input: input,
      output: output,
    )
    #expect(output.fileHandleForReading.availableData.isEmpty == false)
    kill(process.processIdentifier, signal)
    input.fileHandleForWriting.write(try Bitmap.gradient(width: 9, height: 9).encoded(as: .png))
    try input.fileHandleForWriting.close()
    await process.waitUntilExit()
    #expect(process.terminationReason == .exit)
    #expect(process.terminationStatus == 0)
    #expect(try tool.image("b.png").bitmap.size == [9, 9])
  }

  @Test
  func aSignalEndsItWhileWhoeverReadsItsPipeLetsItWait() async throws {
    // More than a pipe takes.
    try tool.photograph("aeroplane-rgb.png", as: "a.png")
    let pipe = tool.folder.appending(path: "pipe").path
    #expect(unsafe mkfifo(pipe, 0o600) == 0)
    let process = try tool.start(["thumbnail", "a.png", "-o", pipe, "--format", "png"])
    let reader = unsafe open(pipe, O_RDONLY)
    var byte: UInt8 = 0
    #expect(unsafe read(reader, &byte, 1) == 1)

    kill(process.processIdentifier, SIGTERM)
    await process.waitUntilExit()
    close(reader)

    #expect(process.terminationReason == .exit)
    #expect(process.terminationStatus == 143)
  }
}
