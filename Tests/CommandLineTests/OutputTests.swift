import Foundation
import Testing
import VitrineImaging
import VitrineTestSupport
import VitrineTesting

/// Where results go.
@Suite(.patient)
struct OutputTests {
  let tool: Tool

  init() throws {
    tool = try Tool()
    try tool.write(try Bitmap.gradient(width: 40, height: 20).encoded(as: .png), to: "a.png")
  }

  // MARK: - Standard output

  @Test
  func aDashAsOutputIsStandardOutput() async throws {
    let outcome = try await tool.run("thumbnail", "a.png", "--size", "10", "--format", "webp", "-o", "-")

    #expect(outcome.status == 0)
    #expect(outcome.errors.isEmpty)
    let made = try DecoderRegistry.standard.decode(outcome.data)
    #expect(made.info.format == .webp)
    #expect(made.bitmap.size == [10, 5])
    #expect(try tool.files() == ["a.png"])
  }

  @Test
  func withoutAFormatStandardOutputGetsWhatTransparencyAsksFor() async throws {
    let clear = try Bitmap.gradient(width: 8, height: 8, alpha: 100).encoded(as: .png)
    let solid = try await tool.run("thumbnail", "a.png", "-o", "-")
    let transparent = try await tool.run("thumbnail", "-", "-o", "-", input: clear)
    #expect(try DecoderRegistry.standard.info(of: solid.data).format == .jpeg)
    #expect(try DecoderRegistry.standard.info(of: transparent.data).format == .png)
  }

  @Test
  func fetchedBytesGoToStandardOutputAsTheyCame() async throws {
    let server = try LoopbackServer()
    let file = try Photograph.data("macaws-444.jpg")
    server.route("/a.jpg", Photograph.response(file))

    let outcome = try await tool.run("fetch", server.url("/a.jpg"), "-o", "-")

    #expect(outcome.status == 0)
    #expect(outcome.errors.isEmpty)
    #expect(outcome.data == file)
  }

  @Test
  func whatFailsWritesNothingToStandardOutput() async throws {
    let outcome = try await tool.run("thumbnail", "missing.png", "-o", "-")
    #expect(outcome.status == 1)
    #expect(outcome.data.isEmpty)
    #expect(outcome.errors == "vitrine: missing.png: No such file or directory\n")
  }

  @Test(arguments: [
    (["a.png", "b.png", "-o", "-"], "-o - writes one image to standard output, and there are 2 sources"),
    (["a.png", "-o", "-", "--json"], "-o - and --json both write to standard output"),
  ])
  func whatCannotGoToStandardOutputIsAnErrorOfUsage(arguments: [String], message: String) async throws {
    let outcome = try await tool.run(["thumbnail"] + arguments)
    #expect(outcome.status == 64)
    #expect(outcome.data.isEmpty)
    #expect(outcome.errors.hasPrefix("vitrine: \(message); give -o a f"))
    #expect(try tool.files() == ["a.png"])
  }

  @Test
  func aFileCalledDashIsWrittenUnderItsPath() async throws {
    #expect(try await tool.run("thumbnail", "a.png", "-o", "./-", "--format", "png").status == 0)
    #expect(try tool.image("-").bitmap.size == [40, 20])
  }

  // MARK: - Links

  @Test
  func aLinkInAnOutputFolderIsReplacedAndNotFollowed() async throws {
    try tool.write(Data("precious".utf8), to: "precious")
    for (link, target) in [("out/a.jpg", "../precious"), ("out/b.jpg", "/nowhere/at/all"), ("out/c.jpg", "..")] {
      try tool.write(Data(), to: "out/.keep")
      try FileManager.default.createSymbolicLink(
        atPath: tool.folder.appending(path: link).path,
        withDestinationPath: target,
      )
    }
    for name in ["b.png", "c.png"] { try tool.write(try tool.data("a.png"), to: name) }

    let outcome = try await tool.run("thumbnail", "a.png", "b.png", "c.png", "-o", "out")

    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(try tool.data("precious") == Data("precious".utf8))
    for name in ["a", "b", "c"] {
      #expect(
        try FileManager.default.attributesOfItem(atPath: path("out/\(name).jpg"))[.type] as? FileAttributeType
          == .typeRegular
      )
      #expect(try tool.image("out/\(name).jpg").bitmap.size == [40, 20])
    }
    #expect(try tool.files("out") == [".keep", "a.jpg", "b.jpg", "c.jpg"])
  }

  @Test
  func aLinkToTheSourceInAnOutputFolderIsReplacedAndTheSourceStays() async throws {
    let original = try Bitmap.gradient(width: 30, height: 30).encoded(as: .jpeg)
    try tool.write(original, to: "photo.jpg")
    try tool.write(Data(), to: "out/.keep")
    try link("out/photo.jpg", to: "../photo.jpg")

    let outcome = try await tool.run("thumbnail", "photo.jpg", "-o", "out/", "--size", "10")

    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(try tool.data("photo.jpg") == original)
    #expect(try tool.image("out/photo.jpg").bitmap.size == [10, 10])
  }

  @Test
  func aLinkThatIsItselfASourceIsNotReplaced() async throws {
    try tool.write(try Bitmap.gradient(width: 30, height: 30).encoded(as: .jpeg), to: "photos/a.jpg")
    try link("a.jpg", to: "photos/a.jpg")
    let outcome = try await tool.run("thumbnail", "a.jpg", "-o", ".", "--size", "10")
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("'./a.jpg' is one of the sources and is not replaced"))
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path("a.jpg")) == "photos/a.jpg")
  }

  @Test
  func aLinkThatIsNamedAsTheOutputIsFollowed() async throws {
    try tool.write(Data("old".utf8), to: "target.png")
    try link("link.png", to: "target.png")
    #expect(try await tool.run("thumbnail", "a.png", "-o", "link.png").status == 0)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path("link.png")) == "target.png")
    #expect(try tool.image("target.png").bitmap.size == [40, 20])
  }

  @Test
  func aLinkToAFolderIsAFolder() async throws {
    try tool.write(Data(), to: "real/.keep")
    try link("out", to: "real")
    #expect(try await tool.run("thumbnail", "a.png", "-o", "out").status == 0)
    #expect(try tool.files("real") == [".keep", "a.jpg"])
  }

  // MARK: - Folders that are missing

  @Test(arguments: ["deep/er/b.png", "deep//er/b.png", "./deep/er/b.png", "deep/er/"])
  func foldersThatAreMissingAreMadeAlikeForFilesAndFolders(output: String) async throws {
    let server = try LoopbackServer()
    server.route("/a.png", Photograph.response(try tool.data("a.png")))
    for arguments in [["thumbnail", "a.png"], ["fetch", server.url("/a.png"), "--format", "png"]] {
      let outcome = try await tool.run(arguments + ["-o", output])
      #expect(outcome.status == 0, "\(outcome.errors)")
      #expect(try tool.files("deep/er").count == 1)
      try FileManager.default.removeItem(atPath: path("deep"))
    }
  }

  @Test
  func nothingIsMadeForWhatFails() async throws {
    #expect(try await tool.run("thumbnail", "missing.png", "-o", "deep/b.png").status == 1)
    #expect(try tool.files() == ["a.png"])
  }

  @Test
  func aFileInTheWayIsAnErrorThatNamesTheOutput() async throws {
    let outcome = try await tool.run("thumbnail", "a.png", "-o", "a.png/b.png")
    #expect(outcome.status == 1)
    #expect(outcome.errors == "vitrine: a.png: cannot write 'a.png/b.png': Not a directory\n")
  }

  // MARK: - What stays of the file that is replaced

  @Test(arguments: ["b.png", "folder/"])
  func aFileThatIsReplacedKeepsItsModeAndGroup(output: String) async throws {
    let file = output.hasSuffix("/") ? output + "a.jpg" : output
    let outcome = try await tool.shell(
      #"""
      mkdir folder; touch "\#(file)"; chmod 604 "\#(file)"; chgrp 4242 "\#(file)" 2>/dev/null
      stat -c '%a %g' "\#(file)"; "$vitrine" thumbnail a.png -o "\#(output)"; stat -c '%a %g' "\#(file)"
      umask 027; "$vitrine" thumbnail a.png -o new.png; stat -c %a new.png
      """#
    )
    let lines = outcome.output.split(separator: "\n")
    #expect(outcome.errors.isEmpty)
    #expect(lines.count == 3 && lines[0].hasPrefix("604 ") && lines[1] == lines[0] && lines[2] == "640")
    #expect(try tool.image(file).bitmap.size == [40, 20])
  }

  @Test
  func aLimitOfFilesIsAnErrorAndTheOldFileStays() async throws {
    try tool.photograph("macaws-444.jpg", as: "photo.jpg")
    let outcome = try await tool.shell(
      #"echo old > b.png; ulimit -f 8; "$vitrine" thumbnail photo.jpg -o b.png; echo $?; cat b.png"#
    )
    #expect(outcome.errors == "vitrine: photo.jpg: cannot write 'b.png': File too large\n")
    #expect(outcome.output == "1\nold\n")
    #expect(try tool.files() == ["a.png", "b.png", "photo.jpg"])
  }

  @Test
  func jpgIsAnotherNameOfJPEG() async throws {
    #expect(try await tool.run("thumbnail", "a.png", "--format", "jpg", "-o", "b").status == 0)
    #expect(try tool.image("b").info.format == .jpeg)
  }

  private func path(_ name: String) -> String { tool.folder.appending(path: name).path }

  private func link(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(atPath: path(name), withDestinationPath: target)
  }
}
