import Foundation
import Testing
import VitrineCaching
import VitrineImaging
import VitrineTestSupport
import VitrineTesting

@Suite(.patient)
struct CacheCommandTests {
  let tool: Tool
  let server: LoopbackServer

  init() throws {
    tool = try Tool()
    server = try LoopbackServer()
  }

  /// Fetches so many pictures of a size into `cache`, in the order of their names.
  private func fill(_ count: Int = 3) async throws {
    for index in 0..<count {
      let file = try Bitmap.gradient(width: 100 + index, height: 100).encoded(as: .png)
      server.route("/\(index).png", Photograph.response(file))
      #expect(try await tool.run("fetch", server.url("/\(index).png"), "--cache-dir", "cache").status == 0)
    }
  }

  private func cache(_ arguments: String...) async throws -> Tool.Outcome {
    try await tool.run(["cache"] + arguments + ["--cache-dir", "cache"])
  }

  @Test
  func statsHaveEveryMemberOfTheContract() async throws {
    try await fill()
    _ = try await tool.run("fetch", server.url("/0.png"), "--cache-dir", "cache")

    let json = try await #require(try cache("stats", "--json", "--size-limit", "2G").json.first)

    #expect(
      Set(json.keys) == [
        "directory", "entries", "bytes", "limit", "originals", "finished", "partials", "hits", "misses", "error",
      ]
    )
    #expect(json["directory"] as? String == "cache")
    #expect(json["entries"] as? Int == 3)
    #expect(json["originals"] as? Int == 3)
    #expect(json["finished"] as? Int == 0)
    #expect(json["partials"] as? Int == 0)
    #expect(json["limit"] as? Int == 2 << 30)
    #expect(json["hits"] as? Int == 1)
    #expect(json["misses"] as? Int == 3)
    let bytes = try tool.files("cache").filter { !["lock", "format"].contains($0) }
      .reduce(0) { try $0 + tool.data("cache/\($1)").count }
    #expect(json["bytes"] as? Int == bytes)
  }

  @Test
  func statsForPeopleSayWhatTheNumbersAre() async throws {
    try await fill(1)
    let output = try await cache("stats").output
    #expect(output.hasPrefix("cache\n  1 entry: 1 original, 0 finished images\n  0 partial downloads\n  "))
    #expect(output.hasSuffix(" bytes of 300 MiB\n  0 hits, 1 miss\n"))
  }

  @Test(arguments: ["stats", "list", "verify", "trim", "clear"])
  func aCacheThatDoesNotExistIsEmptyAndNotMade(action: String) async throws {
    let outcome = try await cache(action, "--json")
    #expect(outcome.status == 0)
    #expect(outcome.errors.isEmpty)
    #expect(try outcome.json.count == (action == "list" ? 0 : 1))
    #expect(try outcome.json.first?["entries"] as? Int ?? 0 == 0)
    #expect(try tool.files().isEmpty)
  }

  @Test(arguments: ["stats", "list", "verify", "trim", "clear"])
  func aFolderOfOtherFilesIsLeftAlone(action: String) async throws {
    try tool.write(Data("mine".utf8), to: "cache/index")
    try tool.write(Data("mine".utf8), to: "cache/o00000001.segment")
    let outcome = try await cache(action)
    #expect(outcome.status == 1)
    #expect(outcome.errors.hasPrefix("vitrine: cache: the folder contains other files and is not a cache"))
    #expect(try tool.files("cache") == ["index", "o00000001.segment"])
    #expect(try tool.data("cache/index") == Data("mine".utf8))
  }

  @Test
  func theListHasEveryAddressWithItsTimes() async throws {
    let before = Date()
    try await fill()
    let after = Date()
    let json = try await cache("list", "--json").json
    #expect(json.map { $0["url"] as? String } == (0..<3).map { server.url("/\($0).png") })
    for (index, entry) in json.enumerated() {
      #expect(Set(entry.keys) == ["url", "key", "kind", "bytes", "stored", "expires", "hits", "error"])
      #expect(entry["kind"] as? String == "original")
      #expect(entry["bytes"] as? Int == (try Bitmap.gradient(width: 100 + index, height: 100).encoded(as: .png).count))
      let (stored, expires) = (try date(entry["stored"]), try date(entry["expires"]))
      // Dates are whole seconds, each rounded down. On a busy machine what came is stored seconds later.
      #expect(stored > before - 1 && stored <= after)
      #expect(expires > before + 3600 - 1 && expires <= after + 3600)
    }
    let text = try await cache("list").output.split(separator: "\n")
    #expect(text.count == 3)
    #expect(text.first?.hasSuffix("  \(server.url("/0.png"))") == true)
  }

  private func date(_ value: Any?) throws -> Date {
    let text = try #require(value as? String)
    return try #require(ISO8601DateFormatter().date(from: text))
  }

  @Test
  func damageIsNamedOnceAndTheRestIsWhole() async throws {
    try await fill()
    let segment = try #require(try tool.files("cache").first { $0.hasSuffix(".segment") })
    var bytes = try tool.data("cache/\(segment)")
    let picture = try Bitmap.gradient(width: 101, height: 100).encoded(as: .png)
    let place = try #require(bytes.range(of: picture))
    bytes[place.lowerBound + 40] ^= 1
    try tool.write(bytes, to: "cache/\(segment)")

    let outcome = try await cache("verify", "--json")

    #expect(outcome.status == 1)
    #expect(outcome.errors == "vitrine: \(server.url("/1.png")): damaged; dropped from the cache\n")
    #expect(try outcome.json.first?["url"] as? String == server.url("/1.png"))
    #expect(try outcome.json.last?["checked"] as? Int == 3)
    #expect(try outcome.json.last?["damaged"] as? Int == 1)
    let again = try await cache("verify")
    #expect(again.status == 0)
    #expect(again.output == "cache: 2 entries checked, none damaged\n")
    #expect(try await cache("list", "--json").json.count == 2)
  }

  @Test
  func trimmingKeepsToTheLimit() async throws {
    try Photograph.serve(on: server)
    let addresses = Photograph.names.map { server.url("/\($0)") }
    #expect(try await tool.run(["fetch", "--cache-dir", "cache"] + addresses).status == 0)
    #expect(try await cache("trim", "--size-limit", "1G", "--json").json.first?["entries"] as? Int == 24)

    let before = try await #require(try cache("stats", "--json").json.first?["bytes"] as? Int)
    let outcome = try await cache("trim", "--size-limit", "\(before / 2)", "--json")

    #expect(outcome.status == 0)
    let bytes = try #require(try outcome.json.first?["bytes"] as? Int)
    #expect(bytes <= before / 2)
    let entries = try #require(try outcome.json.first?["entries"] as? Int)
    #expect(entries > 0 && entries < 24)
    #expect(try await cache("stats", "--json").json.first?["entries"] as? Int == entries)
  }

  @Test
  func clearingLeavesNothing() async throws {
    try await fill()
    let outcome = try await cache("clear")
    #expect(outcome.status == 0)
    #expect(outcome.output.hasPrefix("cleared: 3 entries removed, "))
    #expect(try await cache("stats", "--json").json.first?["entries"] as? Int == 0)
    #expect(try !tool.files("cache").contains { $0.hasSuffix(".segment") })
  }

  @Test
  func lookingChangesNothingAndEvictsNothing() async throws {
    try await fill(10)
    let before = try tool.files("cache").map { try tool.data("cache/\($0)") }
    #expect(try await cache("stats", "--size-limit", "1K", "--json").json.first?["entries"] as? Int == 10)
    #expect(try await cache("list", "--size-limit", "1K", "--json").json.count == 10)
    #expect(try tool.files("cache").map { try tool.data("cache/\($0)") } == before)
  }

  @Test
  func aCacheThatAnotherProcessUsesCanBeLookedAtAndNotChanged() async throws {
    try await fill()
    let other = try DiskCache(directory: tool.folder.appending(path: "cache"), sizeLimit: 1 << 20)
    #expect(await other.statistics().entries == 3)

    #expect(try await cache("stats", "--json").json.first?["entries"] as? Int == 3)
    #expect(try await cache("list", "--json").json.count == 3)
    for action in ["verify", "trim", "clear"] {
      let outcome = try await cache(action)
      #expect(outcome.status == 1)
      let message = "vitrine: cache: another process is using this cache; \(action) needs exclusive access\n"
      #expect(outcome.errors == message)
    }
    #expect(await other.statistics().entries == 3)
    await other.close()
  }
}
