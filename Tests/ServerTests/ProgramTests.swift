import Foundation
import Testing
import VitrineTestSupport
import VitrineTesting

private let program = BuiltProgram.path("vitrine-server")

@Suite(.enabled(if: program != nil), .patient)
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
  func itSaysWhetherAServerAnswers() throws {
    let (server, output) = try launch([], [:])
    var text = ""
    while !text.contains("\n") || !text.contains("listening") {
      let data = output.availableData
      try #require(!data.isEmpty, "\(text)")
      text += String(decoding: data, as: UTF8.self)
    }
    let port = String(try #require(text.split(separator: "127.0.0.1:").last).prefix { $0.isNumber })
    func health() throws -> (status: Int32, text: String) {
      let (process, output) = try launch(["health"], ["VITRINE_PORT": port])
      let text = String(decoding: output.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      return (process.terminationStatus, text)
    }
    #expect(try health() == (0, ""))
    server.terminate()
    server.waitUntilExit()
    let (status, message) = try health()
    #expect(status == 1)
    #expect(message.hasPrefix("vitrine-server: http://127.0.0.1:\(port)/health: "), "\(message)")
  }

  @Test
  func aWrongSettingIsSaidAndEndsWith78() throws {
    let (process, output) = try launch(["--check-config"], ["VITRINE_PROT": "80"])
    process.waitUntilExit()
    #expect(process.terminationStatus == 78)
    let text = String(decoding: output.readDataToEndOfFile(), as: UTF8.self)
    #expect(text == "vitrine-server: VITRINE_PROT is not a setting\n")
  }

  private static let form = "'s3://thumbnails' is not s3://bucket/prefix, with a prefix of 1 to 199 bytes"

  @Test(arguments: [
    (["--durable", "s3://thumbnails"], [:], "--durable: \(form)"),
    ([], ["VITRINE_DURABLE": "s3://thumbnails"], "VITRINE_DURABLE: \(form)"),
    (["--shared", "rediss://h.invalid"], ["VITRINE_SHARED": "redis://h.invalid"], "--shared: TLS is not supported"),
    ([], ["VITRINE_SHARED": "rediss://h.invalid"], "VITRINE_SHARED: TLS is not supported"),
    (
      ["--durable", "s3://thumbnails/v1"], ["AWS_ENDPOINT_URL": "nowhere"],
      "the buckets cannot be used: AWS_ENDPOINT_URL: 'nowhere' is not a URL",
    ),
  ])
  func aPlaceOfTheCacheThatIsNoneIsNamedAsItWasGiven(
    options: [String],
    variables: [String: String],
    message: String,
  ) throws {
    let (process, output) = try launch(options + ["--check-config"], variables)
    process.waitUntilExit()
    #expect(process.terminationStatus == 78)
    let text = String(decoding: output.readDataToEndOfFile(), as: UTF8.self)
    #expect(text.hasPrefix("vitrine-server: \(message)"), "\(text)")
  }

  @Test
  func theOptionOfTheDurableCacheTakesThePlaceOfItsVariable() throws {
    let (process, output) = (Process(), Pipe())
    process.executableURL = URL(filePath: try #require(program))
    process.arguments = ["--durable", "s3://thumbnails/v2", "--print-config"]
    (process.standardOutput, process.environment) = (output, ["VITRINE_DURABLE": "s3://thumbnails/v1"])
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    #expect(text.contains("\nVITRINE_DURABLE=s3://thumbnails/v2\n"))
  }
}
