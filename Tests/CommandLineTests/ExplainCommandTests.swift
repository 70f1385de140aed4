import Foundation
import Testing
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// What `explain` says of URLs, beside what `fetch` then does.
@Suite(.patient)
struct ExplainCommandTests {
  private static let keys: Set<String> = [
    "source", "outcome", "from", "stale", "request", "server", "fields", "reason", "usableOnErrorUntil", "partialBytes",
    "stored", "error", "stage",
  ]

  let tool: Tool
  let server: LoopbackServer

  init() throws {
    tool = try Tool()
    server = try LoopbackServer()
  }

  private func serve(_ path: String, cacheControl: String = "max-age=3600", tag: String? = nil) throws -> String {
    let file = try Bitmap.gradient(width: 800, height: 600).encoded(as: .png)
    server.route(path, Photograph.response(file, cacheControl: cacheControl, tag: tag))
    return server.url(path)
  }

  private var address: String { String(server.url("").dropFirst("http://".count).prefix { $0 != "/" }) }

  private func fetch(_ arguments: String...) async throws {
    #expect(try await tool.run(["fetch", "--cache-dir", "cache"] + arguments).status == 0)
  }

  /// Explains, and checks that neither the server nor the cache has noticed.
  private func explain(_ arguments: String..., status: Int32 = 0) async throws -> Tool.Outcome {
    let (requests, before) = (server.counts.requests, try cacheFiles())
    let outcome = try await tool.run(["explain", "--cache-dir", "cache"] + arguments)
    #expect(outcome.status == status, "\(outcome.errors)")
    #expect(server.counts.requests == requests)
    #expect(try cacheFiles() == before)
    return outcome
  }

  /// The files of the cache, with their contents and the times of their last change.
  private func cacheFiles() throws -> [String: [Data]] {
    let names = (try? tool.files("cache")) ?? []
    return Dictionary(
      uniqueKeysWithValues: try names.map { name in
        let path = tool.folder.appending(path: "cache/\(name)").path
        let changed = try FileManager.default.attributesOfItem(atPath: path)[.modificationDate]
        return (name, [try tool.data("cache/\(name)"), Data("\(String(describing: changed))".utf8)])
      }
    )
  }

  private func json(_ url: String, _ options: String...) async throws -> [String: Any] {
    let outcome = try await tool.run(["explain", url, "--json", "--cache-dir", "cache"] + options)
    let line = try #require(try outcome.json.first)
    #expect(Set(line.keys) == Self.keys)
    return line
  }

  @Test
  func withoutACacheAServerWouldBeAskedForAllOfIt() async throws {
    let url = try serve("/a.png")
    let output = try await explain(url).output
    #expect(
      output == """
        \(url): fetched from the server (nothing stored); decoded
          would ask: \(address)
          cache: cache has none yet

        """
    )
    #expect(try tool.files() == [])
    let line = try await json(url)
    #expect(line["request"] as? String == "full" && line["from"] as? String == "network")
    #expect(line["server"] as? String == address)
    #expect((line["stored"] as? [Any])?.isEmpty == true)
  }

  @Test
  func aFreshOriginalIsServedFromDisk() async throws {
    let url = try serve("/a.png")
    try await fetch(url)
    let lines = try await explain(url).output.split(separator: "\n")
    #expect(lines.count == 3)
    #expect(lines.first == "\(url): from disk, no request is sent; decoded")
    #expect(lines[1].hasPrefix("  original on disk: fresh for "))
    #expect(lines[2].hasPrefix("  stored: original, "))
    let line = try await json(url)
    #expect(line["from"] as? String == "disk" && line["request"] as? String == "none")
    #expect(line["stale"] as? Bool == false && line["server"] is NSNull)
    let stored = try #require((line["stored"] as? [[String: Any]])?.first)
    #expect(Set(stored.keys) == ["kind", "format", "width", "height", "bytes", "stored", "expires", "usable"])
    #expect(stored["kind"] as? String == "original")
    // It was right.
    #expect(
      try await tool.run("fetch", url, "--cache-dir", "cache", "--json").json.first?["from"] as? String == "disk"
    )
  }

  @Test
  func aStaleOriginalIsRevalidatedByItsValidator() async throws {
    let url = try serve("/a.png", cacheControl: "max-age=0", tag: "\"1\"")
    try await fetch(url)
    let output = try await explain(url).output
    #expect(output.hasPrefix("\(url): revalidated with the server (max-age); decoded\n  original on disk: stale for "))
    #expect(output.contains("\n  if the server cannot be reached: served for another "))
    #expect(output.contains("\n  would ask: \(address), with If-None-Match: \"1\"\n"))
    let line = try await json(url)
    #expect(line["request"] as? String == "conditional" && line["from"] is NSNull)
    #expect(line["reason"] as? String == "max-age")
    #expect(line["usableOnErrorUntil"] is String)
    let fields = try #require(line["fields"] as? [[String: String]])
    #expect(fields == [["name": "If-None-Match", "value": "\"1\""]])
    try await fetch(url)
    #expect(server.requests.last?["If-None-Match"] == "\"1\"")
  }

  @Test
  func withoutAValidatorAllOfItIsFetchedAgain() async throws {
    let url = try serve("/a.png", cacheControl: "max-age=0")
    try await fetch(url)
    let line = try await json(url)
    #expect(line["request"] as? String == "full" && (line["fields"] as? [Any])?.isEmpty == true)
    #expect((line["stored"] as? [Any])?.count == 1)
  }

  @Test
  func staleWhileRevalidateIsServedAndAskedBehind() async throws {
    let url = try serve("/a.png", cacheControl: "max-age=0, stale-while-revalidate=600", tag: "\"1\"")
    try await fetch(url)
    let line = try await json(url)
    #expect(line["request"] as? String == "behind" && line["from"] as? String == "disk")
    #expect(line["stale"] as? Bool == true && line["server"] as? String == address)
  }

  @Test
  func imagesOfOtherSizesAreListed() async throws {
    let url = try serve("/a.png")
    try await fetch(url)
    try await fetch(url, "--size", "40", "--do", "blur:2")
    let line = try await json(url)
    let stored = try #require(line["stored"] as? [[String: Any]])
    #expect(stored.map { $0["kind"] as? String } == ["original", "image"])
    #expect(stored.last?["width"] as? Int == 40 && stored.last?["height"] as? Int == 30)
    #expect(try await explain(url).output.contains("\n  stored: image 40x30, "))
  }

  @Test
  func aHeaderMakesAnotherRequestOfIt() async throws {
    let url = try serve("/a.png")
    try await fetch(url, "--header", "X-User: a")
    #expect(try await json(url)["request"] as? String == "full")
    let line = try await json(url)
    let stored = try #require(line["stored"] as? [[String: Any]])
    #expect(stored.map { $0["usable"] as? Bool } == [false])
    #expect(try await explain(url).output.contains(", for other header fields\n"))
    let same = try await json(url, "--header", "X-User: a")
    #expect(same["from"] as? String == "disk")
    #expect((same["stored"] as? [[String: Any]])?.first?["usable"] as? Bool == true)
  }

  @Test
  func aBrokenDownloadIsContinued() async throws {
    let file = try Bitmap.gradient(width: 2000, height: 1500).encoded(as: .qoi)
    try #require(file.count > 1 << 19)
    let half = file.count / 2
    let isFirst = Lock(true)
    server.route("/a.qoi") { exchange in
      guard isFirst.withLock({ $0.take() }) else { return _ = exchange.respond(LoopbackResponse(status: 500)) }
      exchange.sendHead(200, ["Content-Length": "\(file.count)", "ETag": "\"1\""])
      exchange.send(file.prefix(half))
    }
    let url = server.url("/a.qoi")
    #expect(try await tool.run("fetch", url, "--cache-dir", "cache").status == 1)
    let line = try await json(url)
    #expect(line["request"] as? String == "rest")
    let count = try #require(line["partialBytes"] as? Int)
    #expect(count > 0 && count <= half)
    let fields = try #require(line["fields"] as? [[String: String]])
    #expect(fields.contains(["name": "Range", "value": "bytes=\(count)-"]))
    #expect(
      try await explain(url).output.hasPrefix("\(url): the rest is fetched from the server, after \(count) bytes")
    )
  }

  // MARK: - Other sources

  @Test
  func filesAndInputAreReadInPlace() async throws {
    try tool.write(Data(count: 2048), to: "a.png")
    let output = try await explain("a.png", "-").output
    #expect(
      output == """
        a.png: read from the file, 2 KiB; no cache has it
        -: read from standard input; no cache has it

        """
    )
    #expect(try await explain("s3://photos/a/b.jpg").output.contains("\n  would ask: s3://photos\n"))
  }

  @Test
  func failuresHaveTheKeysOfSuccessesAndTheirTurn() async throws {
    let url = try serve("/a.png")
    let outcome = try await explain("missing.png", "http://", url, "--json", status: 1)
    let lines = try outcome.json
    #expect(lines.map { Set($0.keys) } == [Self.keys, Self.keys, Self.keys])
    #expect(lines.map { $0["stage"] as? String } == ["fetch", "request", nil])
    #expect(outcome.errors.hasPrefix("vitrine: missing.png: No such file or directory\nvitrine: http://: "))
    #expect(try await tool.run("explain").status == 64)
  }

  @Test
  func aFolderThatIsNoCacheIsAnErrorOfEachURL() async throws {
    try tool.write(Data("mine".utf8), to: "cache/index")
    let outcome = try await explain(try serve("/a.png"), "--json", status: 1)
    #expect(
      outcome.errors.hasSuffix(": the cache cannot be read: the folder contains other files and is not a cache\n")
    )
    #expect(try outcome.json.first?["stage"] as? String == "fetch")
  }

  @Test
  func aCacheThatAnotherProcessUsesIsRead() async throws {
    let url = try serve("/a.png")
    try await fetch(url)
    let other = try DiskCache(directory: tool.folder.appending(path: "cache"), sizeLimit: 1 << 20)
    #expect(!other.isReadOnly)
    #expect(try await json(url)["from"] as? String == "disk")
    await other.close()
  }

  #if os(Linux)
  @Test
  func cachesThatMachinesShareAreNamedAndNotAsked() async throws {
    let url = try serve("/a.png")
    let outcome = try await tool.shell("VITRINE_SHARED=redis://127.0.0.1:1/0 \"$vitrine\" explain \(url)")
    #expect(outcome.status == 0)
    #expect(
      outcome.output.contains("\n  not asked: the cache of VITRINE_SHARED, where fetch looks before it asks a server\n")
    )
  }
  #endif
}

extension Bool {
  /// Returns the value, and sets it to `false`.
  fileprivate mutating func take() -> Bool {
    defer { self = false }
    return self
  }
}
