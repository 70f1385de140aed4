import Foundation
import Testing
import VitrineTesting

private let program = BuiltProgram.path("vitrine-server")

@Suite(.enabled(if: program != nil), .timeLimit(.minutes(1)))
struct ProgramTests {
  private func launch(_ arguments: [String], _ settings: [String: String]) throws -> (Process, FileHandle) {
    let (process, output) = (Process(), Pipe())
    process.executableURL = URL(filePath: try #require(program))
    (process.arguments, process.standardError, process.standardOutput) = (arguments, output, FileHandle.nullDevice)
    process.environment = ["VITRINE_ALLOW_ROOT": "on", "VITRINE_SANDBOX": "none", "VITRINE_PORT": "0"]
      .merging(settings) { $1 }
    try process.run()
    return (process, output.fileHandleForReading)
  }

  @Test
  func aTerminationDrainsAndEndsWithoutAnError() throws {
    let (process, output) = try launch([], [:])
    var text = ""
    while !text.contains("listening on http://127.0.0.1:") {
      let data = output.availableData
      try #require(!data.isEmpty, "\(text)")
      text += String(decoding: data, as: UTF8.self)
    }
    process.terminate()
    process.waitUntilExit()
    #expect(process.terminationReason == .exit)
    #expect(process.terminationStatus == 0)
    #expect(String(decoding: output.readDataToEndOfFile(), as: UTF8.self).contains("draining"))
  }

  @Test
  func aWrongSettingIsSaidAndEndsWith78() throws {
    let (process, output) = try launch(["--check-config"], ["VITRINE_PROT": "80"])
    process.waitUntilExit()
    #expect(process.terminationStatus == 78)
    let text = String(decoding: output.readDataToEndOfFile(), as: UTF8.self)
    #expect(text == "vitrine-server: VITRINE_PROT is not a setting\n")
  }
}
