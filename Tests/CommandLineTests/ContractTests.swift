import Foundation
import Testing
import VitrineCaching
import VitrineImaging
import VitrineTestSupport
import VitrineTesting

/// What scripts rely on: the keys of JSON, exit statuses, what `--help` says, and what becomes of standard output.
@Suite(.patient)
struct ContractTests {
  let tool: Tool
  let server: LoopbackServer

  init() throws {
    tool = try Tool()
    server = try LoopbackServer()
    let file = try Bitmap.gradient(width: 40, height: 20).encoded(as: .png)
    try tool.write(file, to: "a.png")
    server.route("/a.png", Photograph.response(file))
  }

  // MARK: - JSON

  @Test
  func failuresHaveTheKeysOfSuccesses() async throws {
    let (good, bad) = (server.url("/a.png"), server.url("/missing.png"))
    let keys: [(arguments: [String], keys: Set<String>)] = [
      (
        ["info", "a.png", "missing.png"],
        [
          "source", "format", "width", "height", "orientation", "frames", "hasAlpha", "colorProfile",
          "bitsPerComponent", "dynamicRange", "transfer", "headroom", "gainMapHeadroom", "bytes", "duration", "error",
          "stage",
        ],
      ),
      (
        ["thumbnail", "a.png", "missing.png", "-o", "out/"],
        ["source", "output", "width", "height", "milliseconds", "damage", "error", "stage"],
      ),
      (
        ["fetch", good, bad, "-o", "out/"],
        [
          "source", "output", "from", "stale", "status", "bytes", "width", "height", "milliseconds", "error", "stage",
        ],
      ),
    ]
    for (arguments, keys) in keys {
      let outcome = try await tool.run(arguments + ["--json"])
      let lines = try outcome.json
      #expect(outcome.status == 1)
      #expect(lines.map { Set($0.keys) } == [keys, keys], "\(arguments)")
      #expect(lines.map { $0["source"] as? String } == Array(arguments[1...2]))
      #expect(lines.first?["error"] is NSNull && lines.first?["stage"] is NSNull)
      #expect(lines.last?["error"] is String && lines.last?["stage"] as? String == "fetch")
      let others = keys.subtracting(["source", "error", "stage"])
      #expect(others.allSatisfy { lines.last?[$0] is NSNull }, "\(arguments)")
    }
  }

  @Test(arguments: ["stats", "list", "verify", "trim", "clear"])
  func aCacheThatCannotBeReadHasTheKeysOfOneThatCan(action: String) async throws {
    #expect(try await tool.run("fetch", server.url("/a.png"), "--cache-dir", "cache").status == 0)
    let good = try await tool.run("cache", action, "--cache-dir", "cache", "--json")
    let bad = try await tool.run("cache", action, "--cache-dir", ".", "--json")

    #expect(good.status == 0 && bad.status == 1)
    let (right, wrong) = (try #require(try good.json.first), try #require(try bad.json.first))
    #expect(Set(right.keys) == Set(wrong.keys))
    #expect(right["error"] is NSNull)
    #expect((wrong["error"] as? String)?.hasPrefix("the folder contains other files and is not a cache") == true)
  }

  @Test
  func whereTheCacheThatIsNeededCannotBeUsedEverySourceHasItsLine() async throws {
    try tool.write(Data(), to: "file")
    let urls = [server.url("/a.png"), server.url("/b.png")]
    let outcome = try await tool.run(["fetch", "--cache-dir", "file/cache", "--json"] + urls)
    #expect(outcome.status == 1)
    #expect(outcome.errors == "vitrine: file/cache: Not a directory\n")
    #expect(try outcome.json.map { $0["source"] as? String } == urls)
    #expect(try outcome.json.allSatisfy { $0["error"] as? String == "the cache at file/cache: Not a directory" })
  }

  // MARK: - Help

  @Test(arguments: [
    ("info", ["--files-from", "-0", "--colors", "--hashes", "--json", "--quiet"]),
    (
      "thumbnail",
      [
        "-o", "--size", "--mode", "--do", "--quality-mode", "--frame", "--animated", "--damaged", "--format",
        "--quality",
        "--lossless",
        "--subsampling", "--progressive", "--metadata", "--dynamic-range", "--jobs", "--time-limit", "--files-from",
        "-0", "--json",
        "--quiet",
      ],
    ),
    (
      "fetch",
      [
        "-o", "--size", "--mode", "--do", "--format", "--quality", "--lossless", "--subsampling", "--progressive",
        "--metadata", "--dynamic-range",
        "--jobs", "--no-cache", "--offline", "--reload", "--header", "--time-limit",
        "--trace", "--files-from", "-0", "--json", "--quiet", "--cache-dir", "--size-limit", "--shared", "--durable",
      ],
    ),
    ("cache", ["--cache-dir", "--size-limit", "--json"]),
  ])
  func everyCommandHasHelpOfItsOwn(command: String, options: [String]) async throws {
    let outcome = try await tool.run(command, "--help")

    #expect(outcome.status == 0)
    #expect(outcome.errors.isEmpty)
    #expect(outcome.output.hasPrefix("vitrine \(command) "))
    let named = outcome.output.split(separator: "\n").filter { $0.hasPrefix("  -") }
      .compactMap { $0.split(separator: " ").first.map(String.init) }
    #expect(Set(named) == Set(options + ["--help"]))
    #expect(outcome.output.split(separator: "\n").allSatisfy { $0.count <= 120 })
    #expect(try await tool.run("help", command).output == outcome.output)
    #expect(try await tool.run(command, "-h", "--nonsense").output == outcome.output)
  }

  @Test(arguments: ["info", "thumbnail", "fetch"])
  func helpNamesEveryFormatThatIsRead(command: String) async throws {
    let output = try await tool.run(command, "--help").output
    var formats = ["APNG", "BMP", "GIF", "ICO", "JPEG", "PNG", "QOI", "WebP"]
    #if os(Linux)
    formats += ["AVIF", "HEIC", "JPEG XL", "SVG", "TIFF"]
    #endif
    let line = try #require(output.split(separator: "\n").first { $0.hasPrefix("Reads ") })
    // PNG and JPEG are in other names, too.
    let named = Set(
      line.dropFirst("Reads ".count).dropLast().replacing(" and ", with: ", ").split(separator: ", ").map(String.init)
    )
    #expect(named.isSuperset(of: formats), "\(line)")
  }

  @Test
  func helpForWhatThereIsNotIsAnErrorOfUsage() async throws {
    let outcome = try await tool.run("help", "paint")
    #expect(outcome.status == 64)
    #expect(outcome.errors.hasPrefix("vitrine: unknown command 'paint'\n"))
  }

  // MARK: - Standard output

  /// A pipe that nobody reads.
  private func unread() throws -> Pipe {
    let pipe = Pipe()
    try pipe.fileHandleForReading.close()
    return pipe
  }

  @Test
  func whereNobodyReadsTheOutputItEndsQuietlyWithTheNumberOfTheSignal() async throws {
    for arguments in [
      ["info", "a.png"], ["info", "a.png", "--json"], ["thumbnail", "a.png", "-o", "-"], ["--help"],
      ["fetch", server.url("/a.png"), "-o", "-"], ["fetch", server.url("/a.png"), "--json"],
    ] {
      let process = try tool.start(arguments, output: try unread())
      await process.waitUntilExit()
      #expect(process.terminationReason == .exit, "\(arguments)")
      #expect(process.terminationStatus == 141, "\(arguments)")
    }
    // What was loaded until then is in the cache, which was closed in order.
    #expect(FileManager.default.fileExists(atPath: tool.caches.appending(path: "vitrine/index").path))
    #expect(try tool.files() == ["a.png"])
  }

  @Test
  func aReaderThatHasEnoughIsToldNothing() async throws {
    let outcome = try await tool.shell(
      #"{ code=0; while [ $code = 0 ]; do "$vitrine" info a.png a.png; code=$?; done; echo $code >&2; } | head -n 1"#
    )
    #expect(outcome.output.hasPrefix("a.png: png 40x20"))
    #expect(outcome.errors == "141\n")
  }

  @Test
  func outputThatIsClosedIsAnErrorAndNoOtherFileGetsIt() async throws {
    let outcome = try await tool.shell(
      #""$vitrine" fetch --json \#(server.url("/a.png")) -o out/ >&-; echo $?; "$vitrine" info a.png >&-; echo $?"#
    )
    #expect(outcome.output == "1\n1\n")
    let message = "vitrine: standard output: it is closed\n"
    #expect(outcome.errors == message + message)
    #expect(try tool.data("out/a.png") == (try tool.data("a.png")))
    #expect(try await tool.run("cache", "verify").status == 0)
  }

  @Test
  func outputThatIsClosedHurtsNothingThatPrintsNothing() async throws {
    let outcome = try await tool.shell(#""$vitrine" thumbnail a.png -o b.png <&- >&- 2>&-"#)
    #expect(outcome.status == 0)
    #expect(try tool.image("b.png").bitmap.size == [40, 20])
  }

  @Test
  func inputThatIsClosedIsAnErrorOfReading() async throws {
    let outcome = try await tool.shell(#""$vitrine" info - <&-"#)
    #expect(outcome.status == 1)
    #expect(outcome.errors == "vitrine: -: it is closed\n")
  }

  #if os(Linux)
  @Test
  func aDiskThatIsFullIsAnError() async throws {
    let outcome = try await tool.shell(
      #"""
      "$vitrine" info a.png >/dev/full; echo $?
      "$vitrine" thumbnail a.png -o - >/dev/full; echo $?
      "$vitrine" thumbnail a.png -o b.png --json >/dev/full; echo $?
      """#
    )
    #expect(outcome.output == "1\n1\n1\n")
    #expect(
      outcome.errors == """
        vitrine: standard output: No space left on device
        vitrine: a.png: cannot write to standard output: No space left on device
        vitrine: standard output: No space left on device

        """
    )
    #expect(try tool.files() == ["a.png", "b.png"])
  }
  #endif
}
