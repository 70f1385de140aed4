import Testing
import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Encoded bytes as a task: where they came from, how far they are, and their end.
@Suite(.patient)
struct DataTaskTests {
  private static let url = "https://example.org/a.png"
  private let parts = PipelineParts()
  private let file = TestPicture.png
  private let request = ImageRequest(url: url)

  /// A pipeline as after a start of the program.
  private func start() -> ImagePipeline { .testing(parts) }

  private func load() async throws -> FakeLoad { try await parts.loader.nextLoad(of: Self.url) }

  private func serve(control: String = "max-age=60") {
    parts.loader.answer(
      Self.url,
      with: file,
      headers: ["Cache-Control": control, "ETag": "\"1\"", "X-Other": "there"],
    )
  }

  // MARK: The response

  @Test
  func theResponseSaysWhereTheBytesCameFrom() async throws {
    serve()
    let pipeline = start()
    let first = try await pipeline.dataTask(for: request).response
    #expect(first.data == file)
    #expect(first.origin == .network)
    #expect(first.status == 200)
    #expect(first.headers["X-Other"] == "there")
    #expect(first.url?.absoluteString == Self.url)
    #expect(!first.isStale)
    await pipeline.cache.flush()

    let stored = try await start().dataTask(for: request).response
    #expect(stored.data == file)
    #expect(stored.origin == .disk)
    #expect(stored.status == 200)
    #expect(stored.headers["ETag"] == "\"1\"")
    #expect(stored.headers["X-Other"] == nil)
    #expect(stored.url?.absoluteString == Self.url)

    parts.clock.advance(by: .seconds(61))
    #expect(try await start().dataTask(for: request).response.origin == .revalidated)
    #expect(parts.loader.counts.loads == 2)
  }

  @Test
  func staleBytesThatStandInForAnErrorSayThatTheyAre() async throws {
    serve()
    let pipeline = start()
    _ = try await pipeline.data(for: request)
    await pipeline.cache.flush()
    parts.clock.advance(by: .seconds(61))
    parts.loader.answer(Self.url, failing: .cannotConnect)
    let response = try await start().dataTask(for: request).response
    #expect(response.isStale)
    #expect(response.origin == .disk)
    #expect(response.data == file)
  }

  @Test
  func theURLIsTheOneThatARedirectLedTo() async throws {
    let server = try LoopbackServer()
    server.route("/old", .redirect(to: "/new"))
    server.route("/new", LoopbackResponse(headers: ["Content-Type": "image/png"], body: file))
    let pipeline = ImagePipeline.testing(parts) { $0.loader = PatientLoader() }
    let response = try await pipeline.dataTask(for: ImageRequest(url: server.url("/old"))).response
    #expect(response.url?.absoluteString == server.url("/new"))
    #expect(response.headers["content-type"] == "image/png")
  }

  @Test
  func bytesOfNoServerHaveNeitherAStatusNorAURL() async throws {
    let response = try await start().dataTask(for: ImageRequest(.data(file, id: "a"))).response
    #expect(response.data == file)
    #expect(response.origin == .local)
    #expect(response.status == nil)
    #expect(response.url == nil)
    #expect(response.headers.isEmpty)
  }

  @Test
  func aFakeMakesAResponseOfItsOwn() throws {
    let url = try #require(URL(string: Self.url))
    let made = DataResponse(file, from: .network, isStale: true, status: 203, headers: ["ETag": "a"], url: url)
    #expect(made.url == url)
    #expect(made.status == 203)
    #expect(made.isStale)
    #expect(DataResponse(file).origin == .local)
  }

  @Test(arguments: ["no url", "https://example.org/404.png"])
  func aFailureIsTheResult(url: String) async throws {
    parts.loader.answer("*", FakeResponse(status: 404))
    let task = start().dataTask(for: ImageRequest(url: url))
    let error = await #expect(throws: LoadError.self) { try await task.data }
    #expect(error?.code == (url == "no url" ? .invalidURL : .badStatus))
    #expect(task.state == .finished)
    #expect(throws: LoadError.self) { try task.result?.get() }
  }

  // MARK: Progress

  @Test
  func progressIsToldToThoseWhoListenAndReadByTheOthers() async throws {
    let pipeline = start()
    let (heard, silent) = (pipeline.dataTask(for: request), pipeline.dataTask(for: request))
    #expect(heard != silent)
    #expect(heard.id != silent.id)
    let events = heard.events
    let load = try await load()
    load.respond(headers: ["Content-Length": "\(file.count)"])
    load.send(file.prefix(10))
    #expect(silent.progress == LoadProgress(completed: 10, total: file.count))
    load.send(file.dropFirst(10))
    load.finish()
    var last: LoadProgress?
    var result: Result<DataResponse, LoadError>?
    for await event in events {
      switch event {
      case .progress(let progress): last = progress
      case .preview: Issue.record("bytes have no preview")
      case .finished(let end): result = end
      }
    }
    #expect(last == LoadProgress(completed: file.count, total: file.count))
    #expect(try result?.get().data == file)
    #expect(try await silent.data == file)
    #expect(silent.progress == LoadProgress(completed: file.count, total: file.count))
    // Who listens after the end is told that alone.
    #expect(await heard.events.reduce(0) { count, _ in count + 1 } == 1)
  }

  // MARK: Cancelling and priorities

  @Test
  func aTaskThatIsCancelledLeavesTheOthersAlone() async throws {
    let pipeline = start()
    let (one, two) = (pipeline.dataTask(for: request), pipeline.dataTask(for: request))
    let load = try await load()
    one.cancel()
    #expect(one.state == .cancelled)
    #expect(!load.status.isCancelled)
    load.respond(with: FakeResponse(body: file))
    #expect(try await two.data == file)
    #expect(pipeline.loadCount == 0)
  }

  @Test
  func cancellingWhoAwaitsEndsTheTaskAndTheDownload() async throws {
    let pipeline = start()
    let task = pipeline.dataTask(for: request)
    let awaiting = Task { try await task.response }
    let load = try await load()
    awaiting.cancel()
    let error = await #expect(throws: LoadError.self) { try await awaiting.value }
    #expect(error?.isCancellation == true)
    await load.wait { $0.isCancelled }
    #expect(task.state == .cancelled)
    #expect(pipeline.loadCount == 0)
  }

  @Test
  func cancelledByURLBytesEndAsImagesDo() async throws {
    let pipeline = start()
    let url = try #require(URL(string: Self.url))
    let (task, image) = (pipeline.dataTask(for: url), pipeline.imageTask(for: url))
    let bytes = Task { try await pipeline.data(for: url) }
    let load = try await load()
    try await until {
      pipeline.cancel(for: url)
      return task.state != .running
    }
    await load.wait { $0.isCancelled }
    #expect(image.state == .cancelled)
    bytes.cancel()
    _ = await bytes.result
    #expect(pipeline.loadCount == 0)
  }

  @Test
  func aPriorityReachesTheLoader() async throws {
    let task = start().dataTask(for: request)
    let load = try await load()
    task.priority = .high
    await load.wait { $0.priority == .high }
    #expect(task.priority == .high)
    task.cancel()
    task.priority = .low
  }

  // MARK: What is kept

  @Test
  func bytesThatAreNoImageAreKeptAllTheSame() async throws {
    let text = Data("text".utf8)
    parts.loader.answer(Self.url, with: text, headers: ["Cache-Control": "max-age=60"])
    let pipeline = start()
    #expect(try await pipeline.dataTask(for: request).data == text)
    await pipeline.cache.flush()
    #expect(try await start().dataTask(for: request).response.origin == .disk)
  }

  @Test
  func whatIsReadWhileItEndsFitsTogether() async throws {
    let pipeline = start()
    for round in 0..<50 {
      let url = "https://example.org/\(round)"
      let task = pipeline.dataTask(for: ImageRequest(url: url))
      let load = try await parts.loader.nextLoad(of: url)
      await withTaskGroup { group in
        group.addTask { load.respond(with: FakeResponse(body: file)) }
        group.addTask { if round.isMultiple(of: 3) { task.cancel() } }
        group.addTask {
          for await event in task.events {
            if case .progress(let progress) = event { #expect(progress.completed <= file.count) }
          }
        }
        group.addTask { _ = try? await task.data }
      }
      #expect(task.state != .running)
      #expect(task.result != nil)
    }
    await pipeline.cache.flush()
    #expect(pipeline.loadCount == 0)
  }
}
