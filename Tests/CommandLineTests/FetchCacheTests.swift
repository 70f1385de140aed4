import Foundation
import Testing
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// What `fetch` does with its cache, from one run to the next.
@Suite(.patient)
struct FetchCacheTests {
  let tool: Tool
  let server: LoopbackServer

  init() throws {
    tool = try Tool()
    server = try LoopbackServer()
  }

  private func png() throws -> Data { try Bitmap.gradient(width: 8, height: 8).encoded(as: .png) }

  private func fetch(_ path: String, _ options: String...) async throws -> [String: Any] {
    let outcome = try await tool.run(["fetch", server.url(path), "-o", "out/", "--json"] + options)
    return try #require(try outcome.json.first)
  }

  @Test
  func aSecondRunMakesNoRequestAndOneWithoutTheServerIsTheSame() async throws {
    try Photograph.serve(on: server)
    let names = Photograph.names
    let arguments = ["fetch", "-o", "out/", "--json"] + names.map { server.url("/\($0)") }
    #expect(try await tool.run(arguments).json.allSatisfy { $0["from"] as? String == "network" })
    let count = server.counts.requests
    #expect(count == names.count)

    #expect(try await tool.run(arguments).json.allSatisfy { $0["from"] as? String == "disk" })
    #expect(server.counts.requests == count)

    server.stop()
    try FileManager.default.removeItem(at: tool.folder.appending(path: "out"))
    #expect(try await tool.run(arguments).json.allSatisfy { $0["from"] as? String == "disk" })
    for name in names { #expect(try tool.data("out/\(name)") == Photograph.data(name), "\(name)") }
  }

  @Test
  func whatIsOverButUnchangedIsOnlyAskedAbout() async throws {
    server.route("/a.png", Photograph.response(try png(), cacheControl: "max-age=0", tag: "\"1\""))
    #expect(try await fetch("/a.png")["from"] as? String == "network")
    let again = try await fetch("/a.png")
    #expect(again["from"] as? String == "revalidated")
    #expect(again["stale"] as? Bool == false)
    #expect(server.requests.last?["If-None-Match"] == "\"1\"")
  }

  @Test
  func whatIsOverIsServedWhileTheServerIsDownAndSaysSo() async throws {
    server.route("/a.png", Photograph.response(try png(), cacheControl: "max-age=0"))
    _ = try await fetch("/a.png")
    server.stop()
    let again = try await fetch("/a.png")
    #expect(again["from"] as? String == "disk")
    #expect(again["stale"] as? Bool == true)
    #expect(again["status"] as? Int == 200)
  }

  @Test
  func reloadAsksForAllOfItAgain() async throws {
    server.route("/a.png", Photograph.response(try png(), tag: "\"1\""))
    _ = try await fetch("/a.png")
    #expect(try await fetch("/a.png", "--reload")["from"] as? String == "network")
    #expect(server.counts.requests == 2)
  }

  @Test
  func offlineAsksNoServer() async throws {
    server.route("*", Photograph.response(try png(), cacheControl: "max-age=0"))
    _ = try await fetch("/a.png")
    let known = try await fetch("/a.png", "--offline")
    #expect(known["from"] as? String == "disk")
    #expect(known["stale"] as? Bool == true)
    let unknown = try await fetch("/b.png", "--offline")
    #expect(unknown["error"] as? String == "not in the cache, and --offline allows no request")
    #expect(unknown["stage"] as? String == "fetch")
    #expect(server.counts.requests == 1)
  }

  @Test
  func withoutAnOutputTheCacheIsWarmed() async throws {
    server.route("/a.png", Photograph.response(try png()))
    let outcome = try await tool.run("fetch", server.url("/a.png"), "--json")
    #expect(outcome.status == 0)
    #expect(try outcome.json.first?["output"] is NSNull)
    #expect(try tool.files().isEmpty)
    #expect(try await fetch("/a.png")["from"] as? String == "disk")
  }

  @Test
  func withoutACacheNothingIsKept() async throws {
    server.route("/a.png", Photograph.response(try png()))
    #expect(try await fetch("/a.png", "--no-cache")["from"] as? String == "network")
    #expect(!FileManager.default.fileExists(atPath: tool.caches.path))
  }

  @Test
  func theCacheIsInTheUsersFolderUnlessNamed() async throws {
    server.route("/a.png", Photograph.response(try png()))
    _ = try await fetch("/a.png")
    _ = try await fetch("/a.png", "--cache-dir", "my cache")
    #expect(FileManager.default.fileExists(atPath: tool.caches.appending(path: "vitrine/format").path))
    #expect(try tool.files("my cache").contains("format"))
    #expect(server.counts.requests == 2)
  }

  @Test
  func theLimitIsKept() async throws {
    try Photograph.serve(on: server)
    let arguments = ["fetch", "--cache-dir", "cache", "--size-limit", "600K"]
    #expect(try await tool.run(arguments + Photograph.names.map { server.url("/\($0)") }).status == 0)
    let bytes = try tool.files("cache").reduce(0) { try $0 + tool.data("cache/\($1)").count }
    #expect(bytes > 100 << 10 && bytes < 645_120)
  }

  @Test
  func aFolderOfOtherFilesIsNotTakenForACache() async throws {
    server.route("/a.png", Photograph.response(try png()))
    try tool.write(Data("mine".utf8), to: "mine/index")
    let outcome = try await tool.run("fetch", server.url("/a.png"), "-o", "out/", "--cache-dir", "mine")
    #expect(outcome.status == 1)
    #expect(outcome.errors == "vitrine: mine: the folder contains other files and is not a cache; left unchanged\n")
    #expect(try tool.files("mine") == ["index"])
    #expect(server.counts.requests == 0)
  }

  @Test
  func aCacheThatAnotherProcessUsesIsReadAndItSaysWhatIsNotKept() async throws {
    server.route("*", Photograph.response(try png()))
    let directory = tool.folder.appending(path: "cache")
    #expect(try await tool.run("fetch", server.url("/a.png"), "--cache-dir", "cache").status == 0)
    let other = try DiskCache(directory: directory, sizeLimit: 1 << 20)
    #expect(!other.isReadOnly)

    let arguments = ["fetch", server.url("/a.png"), server.url("/b.png"), "--cache-dir", "cache", "--json"]
    let outcome = try await tool.run(arguments + ["-o", "out/"])
    let warming = try await tool.run(arguments)

    #expect(outcome.status == 0)
    #expect(try outcome.json.map { $0["from"] as? String } == ["disk", "network"])
    #expect(
      outcome.errors
        == "vitrine: cache: another process is using this cache; reading it without storing anything\n"
    )
    #expect(warming.status == 1)
    #expect(warming.errors == "vitrine: cache: another process is using this cache, so nothing can be stored\n")
    await other.close()
  }

  @Test
  func whereNoCacheCanBeMadeItSaysSoAndGoesOnUnlessTheCacheIsAllThatItIsAbout() async throws {
    server.route("/a.png", Photograph.response(try png()))
    try Data().write(to: tool.caches)
    let path = tool.caches.appending(path: "vitrine").path

    let writing = try await tool.run("fetch", server.url("/a.png"), "-o", "a.png")
    let warming = try await tool.run("fetch", server.url("/a.png"))
    let named = try await tool.run("fetch", server.url("/a.png"), "-o", "b.png", "--cache-dir", path)

    #expect(writing.status == 0)
    #expect(writing.errors == "vitrine: \(path): Not a directory; continuing without a cache\n")
    #expect(warming.status == 1)
    #expect(warming.errors == "vitrine: \(path): Not a directory\n")
    #expect(named.status == 0)
    #expect(named.errors == "vitrine: \(path): Not a directory; continuing without a cache\n")
    #expect(try tool.files() == ["a.png", "b.png"])
  }

  // MARK: - Ends before the end

  /// Killed while the answer after the `answered`th is half sent: nothing wrong is there, and a second run makes it
  /// whole.
  @Test(arguments: [0, 1, 9, 23])
  func killedAtAnyRequestNothingIsWrongAndASecondRunMakesItWhole(answered: Int) async throws {
    let names = Photograph.names
    let started = server.makeGate()
    let pid = Lock<Int32?>(nil)
    let files = try Dictionary(uniqueKeysWithValues: names.map { ("/\($0)", try Photograph.data($0)) })
    let order = names.map { "/\($0)" }
    server.route("*") { exchange in
      let file = files[exchange.request.path] ?? Data()
      guard order.firstIndex(of: exchange.request.path) == answered else {
        return _ = exchange.respond(Photograph.response(file))
      }
      exchange.sendHead(200, ["Content-Length": "\(file.count)", "Cache-Control": "max-age=3600"])
      exchange.send(file.prefix(file.count / 2))
      // From the server's thread: a busy machine may not let the test go on before the tool has given up waiting.
      started.wait()
      if let pid = pid.withLock({ $0 }) { kill(pid, SIGKILL) }
    }
    let arguments = ["fetch", "-o", "out/", "--json", "--jobs", "1"] + names.map { server.url("/\($0)") }
    let process = try tool.start(arguments)
    pid.withLock { $0 = process.processIdentifier }
    started.open()
    await process.waitUntilExit()
    #expect(process.terminationReason == .uncaughtSignal)

    let written = (try? tool.files("out")) ?? []
    for name in written where !name.hasPrefix(".") { #expect(try tool.data("out/\(name)") == Photograph.data(name)) }

    try Photograph.serve(on: server)
    let again = try await tool.run(arguments)
    #expect(again.status == 0)
    #expect(again.errors.isEmpty)
    for name in names { #expect(try tool.data("out/\(name)") == Photograph.data(name), "\(name)") }
    #expect(try await tool.run("cache", "verify").status == 0)
    #expect(try await tool.run(arguments).json.allSatisfy { $0["from"] as? String == "disk" })
  }

  @Test(arguments: [(SIGINT, Int32(130)), (SIGTERM, Int32(143))])
  func aSignalEndsItWithItsNumberAndKeepsWhatWasComplete(signal: Int32, status: Int32) async throws {
    server.route("/a.png", Photograph.response(try png()))
    server.route("/b.png") { $0.waitForDisconnect() }
    let output = Pipe()
    let urls = ["/a.png", "/b.png"].map { server.url($0) }
    let process = try tool.start(["fetch", "-o", "out/", "--json"] + urls, output: output)
    // The line for the first says that it is done.
    #expect(output.fileHandleForReading.availableData.isEmpty == false)
    await server.wait(forRequests: 2)

    kill(process.processIdentifier, signal)
    await process.waitUntilExit()

    #expect(process.terminationReason == .exit)
    #expect(process.terminationStatus == status)
    #expect(try tool.files("out") == ["a.png"])
    #expect(try await fetch("/a.png", "--offline")["from"] as? String == "disk")
    // It was closed in order: the index is there.
    #expect(FileManager.default.fileExists(atPath: tool.caches.appending(path: "vitrine/index").path))
  }
}
