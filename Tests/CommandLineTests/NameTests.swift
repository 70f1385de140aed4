import Foundation
import Testing
import VitrineImaging
import VitrineTestSupport
import VitrineTesting

/// Names of files in whatever encoding, and lists of them.
@Suite(.patient)
struct NameTests {
  let tool: Tool

  init() throws {
    tool = try Tool()
    try tool.write(try Bitmap.gradient(width: 40, height: 20).encoded(as: .png), to: "a.png")
  }

  // MARK: - Bytes

  #if os(Linux)
  // Other systems refuse names that are not valid UTF-8.

  /// Makes `café.png` in Latin 1, which is not valid UTF-8.
  private static let latin = #"cp a.png "$(printf 'caf\351.png')"; "#

  @Test
  func aNameThatIsNoUTF8IsReadAndShownWithItsBytesWrittenOut() async throws {
    let outcome = try await tool.shell(Self.latin + #""$vitrine" info --json caf*"#)
    let text = try await tool.shell(Self.latin + #""$vitrine" info caf*"#)

    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(String(validating: outcome.data, as: UTF8.self) != nil)
    let line = try #require(try outcome.json.first)
    #expect(line["source"] as? String == #"caf\xE9.png"#)
    #expect(line["width"] as? Int == 40)
    #expect(text.output.hasPrefix(#"caf\xE9.png: png 40x20"#))
  }

  @Test
  func aNameThatIsNoUTF8IsNamedInMessages() async throws {
    let outcome = try await tool.shell(#""$vitrine" info --json "$(printf 'caf\351\342\202.png')""#)
    #expect(outcome.status == 1)
    #expect(outcome.errors == #"vitrine: caf\xE9\xE2\x82.png: No such file or directory"# + "\n")
    #expect(try outcome.json.first?["source"] as? String == #"caf\xE9\xE2\x82.png"#)
  }

  @Test
  func outputsHaveTheBytesOfTheirNames() async throws {
    let outcome = try await tool.shell(
      Self.latin + #"""
        "$vitrine" thumbnail caf* -o "$(printf 'b\344r/')" --json
        "$vitrine" thumbnail a.png -o "$(printf '\374ber/\366.png')"
        ls b?r ?ber | od -An -v -tx1 | tr -d ' \n'
        """#
    )
    #expect(outcome.errors.isEmpty)
    let lines = outcome.output.split(separator: "\n")
    #expect(lines.first?.contains(##""output": "b\\xE4r/caf\\xE9.jpg""##) == true)
    // "bär:", "café.jpg", "", "über:", "ö.png", in Latin 1.
    #expect(lines.last == "62e4723a0a636166e92e6a70670a0afc6265723a0af62e706e670a")
  }

  @Test
  func otherOptionsThatAreNoUTF8AreErrorsThatNameTheOption() async throws {
    for option in ["--cache-dir", "--size", "--format", "--jobs", "--size-limit"] {
      let outcome = try await tool.shell(#""$vitrine" fetch http://x.invalid/ \#(option) "$(printf 'x\351')""#)
      #expect(outcome.status == 64)
      #expect(outcome.errors.hasPrefix(#"vitrine: \#(option) takes text in UTF-8, not 'x\xE9'"#), "\(outcome.errors)")
    }
    let header = try await tool.shell(#""$vitrine" fetch http://x.invalid/ --header "$(printf 'X: \351')""#)
    #expect(header.errors.hasPrefix(#"vitrine: --header: 'X: \xE9' cannot be sent as a header field"#))
  }

  @Test
  func aURLThatIsNoUTF8IsAnErrorOfTheRequest() async throws {
    let outcome = try await tool.shell(#""$vitrine" fetch --json --no-cache "$(printf 'http://x.invalid/\351.png')""#)
    #expect(outcome.status == 1)
    #expect(try outcome.json.first?["stage"] as? String == "request")
    #expect(outcome.errors.hasPrefix(#"vitrine: http://x.invalid/\xE9.png: not valid UTF-8"#))
  }

  @Test
  func namesThatLookAlikeAreDifferentFiles() async throws {
    // "é" as one character and as two.
    let names = ["caf\u{E9}.png", "cafe\u{301}.png"]
    for (index, name) in names.enumerated() {
      try tool.write(try Bitmap.gradient(width: 10 + index, height: 10).encoded(as: .png), to: name)
    }
    let json = try await tool.run(["thumbnail", "--json", "-o", "out/"] + names).json
    #expect(json.map { $0["width"] as? Int } == [10, 11])
    #expect(try tool.files("out").count == 2)
  }

  @Test
  func externalCodecsAreFoundInAFolderThatIsNoUTF8() async throws {
    let drawing = ##"<svg xmlns="http://www.w3.org/2000/svg" width="6" height="4"><rect width="6" height="4"/></svg>"##
    let outcome = try await tool.shell(
      #"""
      folder="$(printf 'caf\351')"; mkdir "$folder"
      cp "$vitrine" "${vitrine}-codecs" "$folder/" && "$folder/vitrine" info --json -
      """#,
      input: Data(drawing.utf8),
    )
    #expect(try outcome.json.first?["format"] as? String == "svg", "\(outcome.errors)")
  }
  #endif

  // MARK: - Lists

  private func sources(_ arguments: String..., input: String? = nil) async throws -> [String] {
    let outcome = try await tool.run(["info", "--json"] + arguments, input: input.map { Data($0.utf8) })
    return try outcome.json.compactMap { $0["source"] as? String }
  }

  @Test
  func aListHasANameALine() async throws {
    try tool.write(Data("a.png\n\n  b c.png\n-\u{E9}.png\na.png".utf8), to: "list")
    // In the order of the command line first, then in that of the lists.
    #expect(
      try await sources("--files-from", "list", "x.png", "--files-from=list") == [
        "x.png", "a.png", "  b c.png", "-\u{E9}.png", "a.png", "a.png", "  b c.png", "-\u{E9}.png", "a.png",
      ]
    )
  }

  @Test
  func aDashAsAListIsStandardInput() async throws {
    #expect(try await sources("--files-from", "-", input: "a.png\nb.png\n") == ["a.png", "b.png"])
  }

  @Test
  func aListOfAnotherSystemMayHaveItsLineEndsBehindURLs() async throws {
    #expect(
      try await sources("--files-from", "-", input: "http://x.invalid/a.png\r\n\r\nb.png\r\n")
        == ["http://x.invalid/a.png", "b.png"]
    )
  }

  @Test
  func aCarriageReturnThatNotAllLinesHaveIsAPartOfTheName() async throws {
    #expect(try await sources("--files-from", "-", input: "a.png\nb.png\r\n") == ["a.png", "b.png\r"])
    // The last line need not end.
    #expect(try await sources("--files-from", "-", input: "a.png\r\nb.png") == ["a.png", "b.png"])
  }

  @Test(arguments: ["file:///%s/a%%20b.png", "file://localhost/%s/a%%20b.png", "FILE:/%s/a%%20b.png#x"])
  func aFileURLIsAFile(form: String) async throws {
    try tool.write(try tool.data("a.png"), to: "a b.png")
    let outcome = try await tool.shell(
      #"url=$(printf '\#(form)' "${PWD#/}"); "$vitrine" info --json "$url"; "$vitrine" thumbnail "$url" -o out/"#
    )
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(try outcome.json.first?["width"] as? Int == 40)
    #expect((try outcome.json.first?["source"] as? String)?.lowercased().hasPrefix("file:/") == true)
    #expect(try tool.files("out") == ["a b.jpg"])
  }

  @Test
  func aFileURLOfAnotherMachineIsNone() async throws {
    let outcome = try await tool.run("info", "file://elsewhere.invalid/a.png")
    #expect(outcome.status == 1)
    #expect(outcome.errors == "vitrine: file://elsewhere.invalid/a.png: No such file or directory\n")
  }

  @Test
  func aNameThatIsCutKeepsItsLetters() async throws {
    // `.jpeg` in place of `.q`, in the middle of a letter of two bytes.
    let name = "x" + String(repeating: "é", count: 125)
    try tool.write(try tool.data("a.png"), to: "\(name).q")
    let outcome = try await tool.run("thumbnail", "\(name).q", "-o", "out/", "--format", "webp")
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(try tool.files("out") == ["x" + String(repeating: "é", count: 124) + ".webp"])
  }

  @Test
  func twoNamesOfTheLimitAreTwoFiles() async throws {
    let name = String(repeating: "n", count: 251)
    for folder in ["one", "two"] { try tool.write(try tool.data("a.png"), to: "\(folder)/\(name).png") }
    let outcome = try await tool.run(
      "thumbnail",
      "one/\(name).png",
      "two/\(name).png",
      "-o",
      "out/",
      "--format",
      "webp",
    )
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(try tool.files("out").map(\.utf8.count) == [255, 255])
  }

  @Test
  func withAZeroNamesEndInZeroBytesAndMayHaveLineEnds() async throws {
    #expect(try await sources("--files-from", "-", "-0", input: "a\nb.png\0\0c.png\0") == ["a\nb.png", "c.png"])
  }

  @Test
  func whatFindPrintsIsRead() async throws {
    let name = "photos/a \n b.png"
    try tool.write(try tool.data("a.png"), to: name)
    let outcome = try await tool.shell(
      #"""
      cp a.png "photos/$(printf 'caf\351.png')" 2>/dev/null || cp a.png photos/cafe.png
      find photos -name '*.png' -print0 | "$vitrine" thumbnail --files-from - -0 -o out --size 10
      """#
    )
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.errors.isEmpty)
    #expect(try await tool.shell("find out -name '*.jpg' -print0 | tr -dc '\\0' | od -An -v -tx1").output == " 00 00\n")
  }

  @Test
  func anEmptyListLeavesNothingToDo() async throws {
    let outcome = try await tool.run("thumbnail", "--files-from", "-", "-0", "-o", "out/", "--json")
    #expect(outcome.status == 0)
    #expect(outcome.output.isEmpty && outcome.errors.isEmpty)
    #expect(try tool.files() == ["a.png"])
  }

  @Test(arguments: [
    (["-0", "a.png"], "-0 needs --files-from"),
    (["--files-from", "-", "-"], "--files-from - reads standard input, so nothing else can"),
    (["--files-from", "-", "--files-from=-"], "--files-from - reads standard input, so nothing else can"),
    (["--files-from", ""], "--files-from takes a file, or - for standard input"),
    (["--files-from"], "--files-from needs a value"),
    (["--files-from", "zeros"], "--files-from zeros: the list contains zero bytes; use -0 to read it"),
  ])
  func aListThatMakesNoSenseIsAnErrorOfUsage(arguments: [String], message: String) async throws {
    try tool.write(Data("a.png\0b.png\0".utf8), to: "zeros")
    for command in ["info", "fetch"] {
      let outcome = try await tool.run([command] + arguments)
      #expect(outcome.status == 64)
      #expect(outcome.errors.hasPrefix("vitrine: \(message)"), "\(outcome.errors)")
      #expect(outcome.output.isEmpty)
    }
  }

  @Test
  func aListThatNamesStandardInputCannotComeFromThere() async throws {
    let outcome = try await tool.run("info", "--files-from", "-", input: Data("a.png\n-\n".utf8))
    #expect(outcome.status == 64)
    #expect(outcome.errors.hasPrefix("vitrine: --files-from - reads standard input"))
  }

  @Test
  func aListThatCannotBeReadIsNamed() async throws {
    let outcome = try await tool.run("info", "a.png", "--files-from", "missing.txt")
    #expect(outcome.status == 1)
    #expect(outcome.output.isEmpty)
    #expect(outcome.errors == "vitrine: --files-from missing.txt: No such file or directory\n")
  }

  // MARK: - Names of URLs

  @Test
  func namesOfURLsBeginWithNoDashAndSteerNoTerminal() async throws {
    let server = try LoopbackServer()
    server.route("*", Photograph.response(try tool.data("a.png")))
    let paths = [
      "/-rf.png", "/--help.png", "/%2Do.png", "/a%E2%80%AEgnp.png", "/b%1B%5B31m%0A.png", "/c%C2%9B2J%7F.png",
      "/d%E2%81%A6%E2%80%A8%D8%9C%E2%80%8F.png", "/\u{202E}e.png",
    ]
    let outcome = try await tool.run(["fetch", "-o", "out/", "--json"] + paths.map { server.url($0) })
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(
      try outcome.json.map { $0["output"] as? String } == [
        "out/_rf.png", "out/_-help.png", "out/_o.png", "out/a_gnp.png", "out/b_[31m_.png", "out/c_2J_.png",
        "out/d____.png", "out/_e.png",
      ]
    )
  }
}
