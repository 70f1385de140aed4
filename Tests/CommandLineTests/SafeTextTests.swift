import Foundation
import Testing
import VitrineHTTP
import VitrineImaging
import VitrineTestSupport
import VitrineTesting

/// What files and servers say steers no terminal.
@Suite(.patient)
struct SafeTextTests {
  let tool: Tool

  init() throws { tool = try Tool() }

  /// What a terminal, or the eye, takes for something else than text; line ends are among it within a line only.
  private func controls(in text: String) -> [String] {
    let steering: Set<Unicode.Scalar> = [
      "\u{61C}", "\u{200E}", "\u{200F}", "\u{2028}", "\u{2029}", "\u{202A}", "\u{202B}", "\u{202C}", "\u{202D}",
      "\u{202E}", "\u{2066}", "\u{2067}", "\u{2068}", "\u{2069}",
    ]
    return text.unicodeScalars.filter { scalar in
      scalar != "\n" && (scalar.properties.generalCategory == .control || steering.contains(scalar))
    }
    .map { "U+" + String($0.value, radix: 16) }
  }

  private static let evil = "a\u{1B}]0;title\u{7}\u{1B}[2J\n\r\tb\u{9B}31m\u{202E}gnp.\u{2066}\u{7F}.png"

  @Test
  func namesOfFilesAreShownOnOneLineWithTheirControlsWrittenOut() async throws {
    try tool.write(try Bitmap.gradient(width: 4, height: 4).encoded(as: .png), to: Self.evil)
    for arguments in [["info"], ["thumbnail", "-o", "missing/../b.gif/"]] {
      for name in [Self.evil, "missing-" + Self.evil] {
        let outcome = try await tool.run(arguments + [name])
        let text = outcome.output + outcome.errors
        #expect(controls(in: text).isEmpty)
        #expect(text.split(separator: "\n").count <= 1)
      }
    }
    let outcome = try await tool.run("info", "missing\u{1B}[2J\n\u{202E}.png")
    #expect(outcome.errors == #"vitrine: missing\u001b[2J\n\u202e.png: No such file or directory"# + "\n")
  }

  @Test
  func whatJSONHoldsIsWholeAndSteersNoTerminal() async throws {
    try tool.write(try Bitmap.gradient(width: 4, height: 4).encoded(as: .png), to: Self.evil)
    let outcome = try await tool.run("info", Self.evil, "missing-" + Self.evil, "--json")
    #expect(try outcome.json.map { $0["source"] as? String } == [Self.evil, "missing-" + Self.evil])
    #expect(controls(in: outcome.output).isEmpty)
  }

  @Test
  func errorsOfUsageAreShownWithoutControls() async throws {
    for arguments in [
      [Self.evil], ["info", "-\u{1B}[2J"], ["thumbnail", "a", "-o", "b.\u{1B}[2J"], ["cache", "\u{202E}"],
      ["thumbnail", "a", "-o", "b", "--size", "\n\u{1B}"], ["fetch", "a", "--header", "\u{1B}[2J"],
    ] {
      let outcome = try await tool.run(arguments)
      #expect(outcome.status == 64)
      #expect(controls(in: outcome.errors).isEmpty)
      #expect(outcome.errors.split(separator: "\n").count == 2)
    }
  }

  @Test
  func theNameOfAProfileIsShownWithoutControls() async throws {
    var file = try Photograph.data("caps-p3-profile.jpg")
    let name = Data("Wide".utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] })
    let place = try #require(file.range(of: name))
    file.replaceSubrange(place, with: [0x00, 0x1B, 0x20, 0x2E, 0x00, 0x0A, 0x00, 0x9B])
    try tool.write(file, to: "a.jpg")

    let text = try await tool.run("info", "a.jpg")
    let json = try await tool.run("info", "a.jpg", "--json")

    #expect(text.status == 0)
    #expect(text.output.contains(#"\u001b\u202e\n\u009b RGB, P3 primaries"#), "\(text.output)")
    #expect(controls(in: text.output + json.output).isEmpty)
    #expect(try json.json.first?["colorProfile"] as? String == "\u{1B}\u{202E}\n\u{9B} RGB, P3 primaries")
  }

  @Test
  func whatAServerSaysIsShownWithoutControls() async throws {
    let server = try LoopbackServer()
    server.route("/a") { exchange in
      exchange.sendHead(302, ["Location": "ftp://x.invalid/\u{1B}[2J\u{202E}\u{9B}", "Content-Length": "0"])
      exchange.complete()
    }
    server.route("/b", Photograph.response(Data("\u{1B}[2J\u{202E}".utf8)))

    let outcome = try await tool.run("fetch", server.url("/a"), server.url("/b#\u{1B}[2J"), "-o", "out/", "--json")

    #expect(outcome.status == 1)
    #expect(outcome.errors.split(separator: "\n").count == 2)
    #expect(controls(in: outcome.errors + outcome.output).isEmpty, "\(outcome.errors)")
  }

  @Test
  func theFolderOfACacheIsShownWithoutControls() async throws {
    for action in ["stats", "verify", "clear", "list"] {
      let outcome = try await tool.run("cache", action, "--cache-dir", Self.evil)
      #expect(outcome.status == 0)
      #expect(controls(in: outcome.output).isEmpty)
    }
  }
}
