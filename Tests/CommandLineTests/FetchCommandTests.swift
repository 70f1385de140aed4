import Foundation
import Testing
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@Suite(.patient)
struct FetchCommandTests {
  let tool: Tool
  let server: LoopbackServer

  init() throws {
    tool = try Tool()
    server = try LoopbackServer()
  }

  private func png(_ side: Int = 8) throws -> Data {
    try Bitmap.gradient(width: side, height: side).encoded(as: .png)
  }

  // MARK: - What is written

  @Test
  func bytesAreWrittenAsTheyCameUnderTheExtensionOfTheirOwnFormat() async throws {
    try Photograph.serve(on: server)
    let names = Photograph.names
    #expect(names.count == 24)

    let outcome = try await tool.run(["fetch", "-o", "out/", "--json"] + names.map { server.url("/\($0)") })

    #expect(outcome.status == 0)
    #expect(outcome.errors.isEmpty)
    #expect(try tool.files("out") == names)
    for name in names { #expect(try tool.data("out/\(name)") == Photograph.data(name), "\(name)") }
    let json = try outcome.json
    #expect(json.map { $0["source"] as? String } == names.map { server.url("/\($0)") })
    #expect(json.map { $0["output"] as? String } == names.map { "out/\($0)" })
  }

  /// A format may have many extensions, such as those of the makers of cameras, and a name that says something else none.
  @Test
  func whatIsOnlyReadKeepsItsOwnExtensionIfItIsOneOfItsFormat() async throws {
    for name in ["scan.tif", "scan.TIF", "scan.tiff", "scan.jpg", "scan"] {
      server.route("/\(name)", Photograph.response(try Fixture.data("lzw.tiff")))
      let outcome = try await tool.run("fetch", "--no-cache", "-o", "out-\(name)/", server.url("/\(name)"))
      #expect(outcome.status == 0)
      let isOwn = name.lowercased().hasSuffix(".tif")
      #expect(try tool.files("out-\(name)") == [isOwn ? "scan.tif" : "scan.tiff"])
    }
  }

  @Test
  func everyMemberOfTheContractIsThere() async throws {
    let file = try Bitmap.gradient(width: 30, height: 20).encoded(as: .png)
    server.route("/a", Photograph.response(file))

    let json = try #require(try await tool.run("fetch", server.url("/a"), "-o", "b.bin", "--json").json.first)

    #expect(
      Set(json.keys) == [
        "source", "output", "from", "stale", "status", "bytes", "width", "height", "milliseconds", "error", "stage",
      ]
    )
    #expect(json["output"] as? String == "b.bin")
    #expect(json["from"] as? String == "network")
    #expect(json["stale"] as? Bool == false)
    #expect(json["status"] as? Int == 200)
    #expect(json["bytes"] as? Int == file.count)
    #expect(json["width"] as? Int == 30)
    #expect(json["height"] as? Int == 20)
    #expect(try tool.data("b.bin") == file)
  }

  @Test
  func aSizeOrAFormatMakesAnImageOfItsOwn() async throws {
    server.route("/a.png", Photograph.response(try png(100)))

    let outcome = try await tool.run("fetch", server.url("/a.png"), "-o", "a.webp", "--size", "40x", "--json")
    #expect(try await tool.run("fetch", server.url("/a.png"), "-o", "b/", "--format", "jpeg").status == 0)

    #expect(try outcome.json.first?["width"] as? Int == 40)
    #expect(try outcome.json.first?["bytes"] as? Int == (try png(100).count))
    #expect(try tool.image("a.webp").info.format == .webp)
    #expect(try tool.image("a.webp").bitmap.size == [40, 40])
    #expect(try tool.image("b/a.jpg").bitmap.size == [100, 100])
    // The original serves both.
    #expect(server.counts.requests == 1)
  }

  @Test
  func whatIsNoImageIsNeitherWrittenNorKept() async throws {
    server.route("/page.jpg", Photograph.response(Data("<html>not found</html>".utf8)))
    let half = try Photograph.data("macaws-444.jpg")
    server.route("/cut.jpg", Photograph.response(half.prefix(half.count / 2)))

    let addresses = ["/page.jpg", "/cut.jpg"].map { server.url($0) }
    let outcome = try await tool.run(["fetch", "-o", "out/", "--json"] + addresses)

    #expect(outcome.status == 1)
    #expect(try outcome.json.map { $0["stage"] as? String } == ["decode", "decode"])
    #expect(outcome.errors.hasPrefix("vitrine: \(addresses[0]): not an image: it looks like an HTML page\n"))
    #expect(!FileManager.default.fileExists(atPath: tool.folder.appending(path: "out").path))
    #expect(try await tool.run("cache", "list").output.isEmpty)
  }

  @Test
  func namesAreThoseOfTheAddressDecodedAndInNoOtherFolder() async throws {
    server.route("*", Photograph.response(try png()))
    let paths = [
      "/caf%C3%A9%20x.png?size=3", "/a/b%2F..%2Fc.png", "/a.jpg?x=1", "/a.jpg?x=2", "/", "/%2e%68idden.png",
      "/%ff%fe.png",
      "/folder/", "/q?a=/b.gif",
    ]
    let outcome = try await tool.run(["fetch", "-o", "out", "--json"] + paths.map { server.url($0) })
    #expect(outcome.errors.isEmpty)
    #expect(
      try outcome.json.map { $0["output"] as? String } == [
        "out/café x.png", "out/b_.._c.png", "out/a.png", "out/a-2.png", "out/image.png", "out/_hidden.png",
        "out/%ff%fe.png", "out/folder.png", "out/q.png",
      ]
    )
    #expect(try tool.files("out").count == 9)
  }

  @Test
  func aNameLongerThanFileSystemsTakeIsCut() async throws {
    server.route("*", Photograph.response(try png()))
    let outcome = try await tool.run(
      "fetch",
      server.url("/\(String(repeating: "%C3%A9", count: 300)).png"),
      "-o",
      "out/",
    )
    #expect(outcome.status == 0)
    #expect(try tool.files("out") == [String(repeating: "é", count: 100) + ".png"])
  }

  @Test
  func aRepeatIsLoadedAndWrittenOnceAndReportedEachTime() async throws {
    server.route("/a.png", Photograph.response(try png(), cacheControl: "no-store"))
    let url = server.url("/a.png")
    let outcome = try await tool.run("fetch", url, url, url, "-o", "a.png", "--json")
    #expect(try outcome.json.map { $0["from"] as? String } == ["network", "memory", "memory"])
    #expect(try outcome.json.map { $0["output"] as? String } == ["a.png", "a.png", "a.png"])
    #expect(server.counts.requests == 1)
  }

  @Test
  func oneBadAddressIsNamedInItsPlaceAndTheOthersAreDone() async throws {
    server.route("/a.png", Photograph.response(try png()))
    let missing = server.url("/missing.png")
    let outcome = try await tool.run(
      "fetch",
      "photo.jpg",
      missing,
      "https://",
      server.url("/a.png"),
      "-o",
      "out/",
      "--json",
    )
    #expect(outcome.status == 1)
    #expect(try tool.files("out") == ["a.png"])
    #expect(try outcome.json.map { $0["stage"] as? String } == ["request", "fetch", "request", nil])
    #expect(
      outcome.errors == """
        vitrine: photo.jpg: not an http or https URL
        vitrine: \(missing): the server answered with status 404
        vitrine: https://: invalid host ""

        """
    )
  }

  // MARK: - Options

  @Test
  func headersAreSentAndTheirAnswersKeptApart() async throws {
    server.route("/a.png") { exchange in
      let side = exchange.request["X-Side"].flatMap { Int($0) } ?? 3
      let body = try? Bitmap.gradient(width: side, height: side).encoded(as: .png)
      exchange.respond(Photograph.response(body ?? Data()))
    }
    for side in [5, 7, 5] {
      let json = try await tool.run(
        "fetch",
        server.url("/a.png"),
        "--header",
        "X-Side: \(side)",
        "--header=X-B:c",
        "--json",
      )
      .json
      #expect(json.first?["width"] as? Int == side)
    }
    #expect(try await tool.run("fetch", server.url("/a.png"), "--json").json.first?["width"] as? Int == 3)
    #expect(server.requests.map { $0["X-Side"] } == ["5", "7", nil])
    #expect(server.requests.first?["X-B"] == "c")
  }

  @Test(arguments: [1, 3])
  func noMoreThanSoManyRunAtOnce(jobs: Int) async throws {
    let gate = server.makeGate()
    let file = try png()
    let arrived = Lock(0)
    server.route("*") { exchange in
      let count = arrived.withLock { count in
        count += 1
        return count
      }
      // Here: the tool would give up on a test that is slow to say it.
      if count == jobs { gate.open() }
      gate.wait()
      exchange.respond(Photograph.response(file))
    }
    let addresses = (0..<12).map { server.url("/\($0).png") }
    let process = try tool.start(["fetch", "-o", "out/", "--jobs", "\(jobs)"] + addresses)
    await process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    #expect(server.counts.mostRunning == jobs)
    #expect(try tool.files("out").count == 12)
  }

  @Test
  func aThousandAddressesAreDoneInOrder() async throws {
    let file = try png()
    server.route("*", Photograph.response(file))
    let addresses = (0..<1000).map { server.url("/\($0).png") }
    let outcome = try await tool.run(["fetch", "-o", "out/", "--json", "--jobs", "16"] + addresses)
    #expect(outcome.status == 0)
    #expect(try outcome.json.map { $0["source"] as? String } == addresses)
    #expect(try tool.files("out").count == 1000)
  }

  @Test
  func aTraceHasASpanForEveryStageOfEveryRequest() async throws {
    server.route("/a.png", Photograph.response(try png(50)))
    let urls = ["/a.png", "/a.png#same", "/missing.png"].map { server.url($0) }

    let arguments = ["fetch", "-o", "out/", "--size", "20", "--trace", "trace.json", "--jobs", "1"]
    #expect(try await tool.run(arguments + urls).status == 1)

    let trace = try #require(try JSONSerialization.jsonObject(with: tool.data("trace.json")) as? [String: Any])
    let events = try #require(trace["traceEvents"] as? [[String: Any]])
    let spans = events.filter { $0["ph"] as? String == "X" }
    let phases = ["look-up", "queue", "request", "body", "wait", "work", "turn"]
    for name in ["request", "fetch", "decode", "encode", "write"] + phases {
      #expect(spans.contains { $0["name"] as? String == name }, "\(name)")
    }
    let requests = spans.filter { $0["name"] as? String == "request" && $0["cat"] as? String == "stage" }
    let facts = requests.compactMap { $0["args"] as? [String: Any] }
    #expect(facts.map { $0["source"] as? String } == urls)
    #expect(facts.map { $0["from"] as? String } == ["network", "disk", nil])
    #expect(facts.map { $0["error"] as? String } == [nil, nil, "the server answered with status 404"])
    // Nothing reaches out of the request that it belongs to.
    for (request, source) in zip(requests, urls) {
      let (start, end) = try bounds(of: request)
      for span in spans where (span["args"] as? [String: Any])?["source"] as? String == source {
        let inner = try bounds(of: span)
        #expect(inner.start >= start && inner.end <= end + 0.01)
      }
    }
  }

  private func bounds(of span: [String: Any]) throws -> (start: Double, end: Double) {
    let start = try #require(span["ts"] as? NSNumber).doubleValue
    return (start, start + (try #require(span["dur"] as? NSNumber).doubleValue))
  }

  @Test
  func aTraceThatCannotBeWrittenIsAnError() async throws {
    server.route("/a.png", Photograph.response(try png()))
    let outcome = try await tool.run("fetch", server.url("/a.png"), "-o", "a.png", "--trace", "no/such/trace.json")
    #expect(outcome.status == 1)
    #expect(outcome.errors == "vitrine: no/such/trace.json: the trace cannot be written: No such file or directory\n")
    #expect(try tool.files() == ["a.png"])
  }

  // MARK: - Commands without a cache

  @Test
  func infoAndThumbnailTakeAddressesAndKeepNothing() async throws {
    server.route("/photo.png", Photograph.response(try png(60)))
    let url = server.url("/photo.png")
    try tool.write(try png(9), to: "b.png")

    let info = try await tool.run("info", url, "b.png", server.url("/missing"), "http://", "--json")
    let thumbnail = try await tool.run("thumbnail", url, "b.png", url, "-o", "out/", "--size", "5", "--json")

    #expect(info.status == 1)
    #expect(try info.json.map { $0["width"] as? Int } == [60, 9, nil, nil])
    #expect(try info.json.map { $0["stage"] as? String } == [nil, nil, "fetch", "request"])
    #expect(thumbnail.status == 0)
    #expect(try thumbnail.json.map { $0["output"] as? String } == ["out/photo.jpg", "out/b.jpg", "out/photo.jpg"])
    #expect(server.counts.requests == 3)
    #expect(!FileManager.default.fileExists(atPath: tool.caches.path))
  }

  // MARK: - Objects

  @Test
  func anObjectIsLoadedWithTheKeysOfTheEnvironment() async throws {
    let picture = try png()
    server.route("/photos/a%20b%2Bc/cat%3F.png", LoopbackResponse(body: picture))
    let outcome = try await tool.shell(
      """
      export AWS_ENDPOINT_URL=\(server.url("")) AWS_ACCESS_KEY_ID=AKID AWS_SECRET_ACCESS_KEY=hush AWS_REGION=eu-a-1
      "$vitrine" fetch -o out/ --json 's3://photos/a b+c/cat?.png'
      """
    )
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(try tool.data("out/cat?.png") == picture)
    #expect(try outcome.json.first?["source"] as? String == "s3://photos/a b+c/cat?.png")
    let sent = try #require(server.requests.first)
    #expect(sent["Authorization"]?.contains("Credential=AKID/") == true)
    #expect(sent["Authorization"]?.contains("/eu-a-1/s3/aws4_request") == true)
  }

  @Test
  func anObjectThatCannotBeLoadedIsAnErrorThatSaysWhy() async throws {
    let outcome = try await tool.shell(
      """
      unset AWS_ACCESS_KEY_ID AWS_SHARED_CREDENTIALS_FILE AWS_PROFILE
      export AWS_ENDPOINT_URL=\(server.url("")) HOME=/nonexistent
      "$vitrine" fetch --no-cache -o out/ s3://photos/cat.png
      """
    )
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("s3://photos/cat.png: "))
    #expect(outcome.errors.contains("credentials"))
    #expect(server.requests.isEmpty)
  }

  @Test
  func aSourceThatNamesNoObjectIsAnErrorThatShowsTheForm() async throws {
    let outcome = try await tool.run("fetch", "--no-cache", "-o", "out/", "s3://photos")
    #expect(outcome.status == 1)
    #expect(outcome.errors == "vitrine: s3://photos: not the URL of an object, which is s3://bucket/key\n")
  }

  @Test(arguments: [("redis:/", "it has no scheme"), ("rediss://h.invalid", "TLS is not supported")])
  func aSharedCacheThatCannotBeIsNamedAsItWasGiven(url: String, reason: String) async throws {
    let option = try await tool.run("fetch", "--shared", url, "-o", "out/", server.url("/a.png"))
    #expect(option.status == 64)
    #expect(option.errors.hasPrefix("vitrine: --shared: \(reason)"))
    let variable = try await tool.shell("VITRINE_SHARED=\(url) \"$vitrine\" fetch -o out/ \(server.url("/a.png"))")
    #expect(variable.status == 64)
    #expect(variable.errors.hasPrefix("vitrine: VITRINE_SHARED: \(reason)"))
    #expect(server.requests.isEmpty)
  }

  // MARK: - A cache in a bucket

  private let keys = "AWS_ACCESS_KEY_ID=AKID AWS_SECRET_ACCESS_KEY=hush"

  @Test
  func whatIsFetchedIsKeptInTheBucketForOtherMachines() async throws {
    let bucket = try LoopbackServer()
    let objects = Lock<[String: LoopbackResponse]>([:])
    bucket.route("*") { exchange in
      let request = exchange.request
      guard request.method == "PUT" else {
        exchange.respond(objects.withLock { $0[request.path] } ?? LoopbackResponse(status: 404))
        return
      }
      let fields = request.headers.filter { $0.name.lowercased().hasPrefix("x-amz-meta-") }
      objects.withLock { $0[request.path] = LoopbackResponse(headers: fields, body: request.body, entityTag: "\"1\"") }
      exchange.respond(LoopbackResponse())
    }
    server.route("/photo.png") { [picture = try png()] exchange in
      exchange.respond(LoopbackResponse(headers: ["Cache-Control": "max-age=3600"], body: picture))
    }
    let url = server.url("/photo.png")
    let command = "AWS_ENDPOINT_URL=\(bucket.url("")) \(keys) \"$vitrine\" fetch --json \(url)"
    let first = try await tool.shell("\(command) --cache-dir one --durable s3://thumbnails/v1")
    #expect(first.status == 0, "\(first.errors)")
    #expect(objects.withLock { $0.keys.allSatisfy { $0.hasPrefix("/thumbnails/v1/") } && !$0.isEmpty })
    let other = try await tool.shell("VITRINE_DURABLE=s3://thumbnails/v1 \(command) --cache-dir two -o out/")
    #expect(other.status == 0, "\(other.errors)")
    #expect(other.errors.isEmpty)
    #expect(try tool.data("out/photo.png") == png())
    #expect(server.counts.requests == 1)
  }

  @Test
  func aBucketThatDeniesIsNamedAndImagesAreFetchedAllTheSame() async throws {
    let bucket = try LoopbackServer()
    bucket.route("*", LoopbackResponse(status: 403))
    server.route("/photo.png", Photograph.response(try png()))
    let command = """
      AWS_ENDPOINT_URL=\(bucket.url("")) \(keys) "$vitrine" fetch \(server.url("/photo.png")) --cache-dir cache \
        --durable s3://thumbnails/v1
      """
    let written = try await tool.shell("\(command) -o out/")
    #expect(written.status == 0)
    #expect(try tool.data("out/photo.png") == png())
    #expect(written.errors.hasPrefix("vitrine: --durable: 1 entry was not stored: s3://thumbnails/v1/"))
    #expect(written.errors.contains("status 403"))
    // Storing it was the whole task.
    #expect(try await tool.shell("\(command) --reload").status == 1)
  }

  @Test(arguments: ["thumbnails/v1", "s3://thumbnails", "s3://thumbnails/"])
  func aPlaceInNoBucketIsNamedAsItWasGiven(place: String) async throws {
    let option = try await tool.run("fetch", "--durable", place, "-o", "out/", server.url("/a.png"))
    #expect(option.status == 64)
    let reason = "'\(place)' is not s3://bucket/prefix, with a prefix of 1 to 199 bytes"
    #expect(option.errors.hasPrefix("vitrine: --durable: \(reason)"))
    let variable = try await tool.shell("VITRINE_DURABLE=\(place) \"$vitrine\" fetch -o out/ \(server.url("/a.png"))")
    #expect(variable.status == 64)
    #expect(variable.errors.hasPrefix("vitrine: VITRINE_DURABLE: \(reason)"))
    let both = try await tool.run("fetch", "--durable", "s3://thumbnails/v1", "--no-cache", server.url("/a.png"))
    #expect(both.status == 64)
    #expect(both.errors.hasPrefix("vitrine: --durable and --no-cache exclude each other"))
    #expect(server.requests.isEmpty)
  }
}
