import Testing
import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@Suite(.patient)
struct LogTests {
  private static let url = "https://example.org/a.png"
  private let parts = PipelineParts()
  private let lines = Watched<[LogEntry]>([])
  private let pipeline: ImagePipeline
  private let file = TestPicture.png
  private var size: String { "\((file.count + 500) / 1000) KB" }

  init() throws {
    let lines = lines
    pipeline = .testing(parts) { $0.log = { entry in lines.change { $0.append(entry) } } }
  }

  /// What has been logged since the last time, a line each, with its level.
  private func logged() async -> [String] {
    await pipeline.flushEvents()
    return lines.change { lines in
      defer { lines = [] }
      return lines.map { "\($0.level) \($0)" }
    }
  }

  private func restarted() -> ImagePipeline {
    let lines = lines
    return .testing(parts) { $0.log = { entry in lines.change { $0.append(entry) } } }
  }

  private let headers: HTTPFields = ["Cache-Control": "max-age=60", "ETag": "\"1\""]

  @Test
  func eachLineSaysOfWhichImageItIsAndWhatBecameOfIt() async throws {
    parts.loader.answer(Self.url, with: file, headers: headers)
    _ = try await pipeline.image(for: ImageRequest(url: Self.url))
    #expect(
      await logged() == [
        "trace https://example.org/a.png: not on disk; fetching",
        "debug https://example.org/a.png: 64x48 of \(size) from the network in 0.0 ms",
      ]
    )
    _ = try await pipeline.image(for: ImageRequest(url: Self.url))
    #expect(
      await logged() == ["debug https://example.org/a.png: 64x48 of \(size) from memory in 0.0 ms"]
    )
  }

  @Test
  func whatTheDiskHasIsToldWithTheReasonOfTheDecision() async throws {
    parts.loader.answer(Self.url, with: file, headers: headers)
    _ = try await pipeline.image(for: ImageRequest(url: Self.url))
    await parts.diskCache.wait(forWrites: 1)
    _ = await logged()

    let second = restarted()
    _ = try await second.image(for: ImageRequest(url: Self.url))
    await second.flushEvents()
    #expect(
      await logged() == [
        "trace https://example.org/a.png: on disk, fresh (max-age)",
        "debug https://example.org/a.png: 64x48 of \(size) from disk in 0.0 ms",
      ]
    )

    parts.clock.advance(by: .seconds(61))
    let third = restarted()
    _ = try await third.image(for: ImageRequest(url: Self.url))
    await third.flushEvents()
    #expect(
      await logged() == [
        "trace https://example.org/a.png: on disk, stale; revalidating (max-age)",
        "debug https://example.org/a.png: 64x48 of \(size) from disk, revalidated in 0.0 ms",
      ]
    )
  }

  @Test
  func whatIsServedAlthoughItsServerFailsIsAWarning() async throws {
    let control: HTTPFields = ["Cache-Control": "max-age=60, stale-if-error=600"]
    parts.loader.answer(Self.url, with: file, headers: control)
    _ = try await pipeline.image(for: ImageRequest(url: Self.url))
    await parts.diskCache.wait(forWrites: 1)
    parts.clock.advance(by: .seconds(61))
    parts.loader.answer(Self.url, FakeResponse(status: 503))
    _ = await logged()

    _ = try await pipeline.image(for: ImageRequest(url: Self.url))
    let warnings = await logged().filter { !$0.hasPrefix("trace") }
    #expect(
      warnings == [
        "warning https://example.org/a.png: revalidation failed, serving the stale copy: "
          + "the server answered with status 503",
        "notice https://example.org/a.png: 64x48 of \(size) from disk in 0.0 ms, stale",
      ]
    )
  }

  @Test
  func whatIsTriedAgainIsAWarning() async throws {
    let lines = lines
    let pipeline = ImagePipeline.testing(parts) {
      $0.retryPolicy = RetryPolicy { $0.number < 2 ? .milliseconds(300) : nil }
      $0.log = { entry in lines.change { $0.append(entry) } }
    }
    let task = pipeline.imageTask(for: ImageRequest(url: Self.url))
    try await parts.loader.nextLoad(of: Self.url).fail(.connectionLost)
    await parts.clock.pendingCount(reaches: 1)
    parts.loader.answer(Self.url, with: file)
    parts.clock.advance(by: .milliseconds(300))
    _ = try await task.image
    await pipeline.flushEvents()
    let warnings = lines.value.filter { $0.level == .warning }
    #expect(warnings.map(\.source) == [Self.url])
    #expect(warnings.first?.message.hasPrefix("attempt 1 failed, retrying in 300.0 ms: ") == true)
  }

  @Test
  func aMissingImageIsANoticeAndACancelledRequestATrace() async throws {
    parts.loader.answer(Self.url, FakeResponse(status: 404))
    await #expect(throws: LoadError.self) { try await pipeline.image(for: ImageRequest(url: Self.url)) }
    #expect(
      await logged().last == "notice https://example.org/a.png: fetch failed: the server answered with status 404"
    )
    let task = pipeline.imageTask(for: ImageRequest(url: "https://example.org/b.png"))
    _ = try await parts.loader.nextLoad(of: "https://example.org/b.png")
    parts.clock.advance(by: .milliseconds(250))
    task.cancel()
    #expect(await logged().last == "trace https://example.org/b.png: cancelled after 250.0 ms")
  }

  @Test
  func anEntryHasTheSameInFields() async throws {
    let task = pipeline.imageTask(for: ImageRequest(url: Self.url))
    let load = try await parts.loader.nextLoad(of: Self.url)
    parts.clock.advance(by: .milliseconds(30))
    load.respond(headers: headers)
    load.send(file)
    load.finish()
    _ = try await task.image
    await #expect(throws: LoadError.self) {
      try await pipeline.image(for: ImageRequest(.data(Data("x".utf8), id: "x")))
    }
    await pipeline.flushEvents()

    let ends = lines.value.filter { $0.level >= .debug }
    #expect(ends.map(\.level) == [.debug, .error])
    #expect(ends.map(\.stage) == [.request, .decode])
    #expect(ends.map(\.origin) == [.network, nil])
    #expect(ends.map(\.byteCount) == [file.count, nil])
    #expect(ends.map(\.duration) == [.milliseconds(30), .zero])
    #expect((ends.last?.error as? LoadError)?.code == .undecodable)
  }

  @Test
  func aServerCannotWriteLinesOfItsOwn() async throws {
    struct Trouble: Error, CustomStringConvertible {
      let description = "first line\nerror https://bank.example: second\u{1b}[31m line"
    }
    let source = ImageSource.closure(id: "x\ny") { throw Trouble() }
    await #expect(throws: LoadError.self) { try await pipeline.image(for: ImageRequest(source)) }
    let last = await logged().last ?? ""
    #expect(last.hasSuffix("fetch failed: first line error https://bank.example: second [31m line"))
    #expect(!last.contains { $0.isNewline })
  }

  @Test
  func aDiskThatRefusesIsAWarning() async throws {
    let warnings = Watched<[String]>([])
    let files = RefusingFiles()
    let folder = try TemporaryFolder()
    let cache = try DiskCache(
      directory: folder.url,
      options: DiskOptions(sizeLimit: 10 << 20),
      files: files,
      clock: parts.clock,
      warn: { warning in warnings.change { $0.append(warning) } },
    )
    let lines = lines
    let pipeline = ImagePipeline.testing(parts) {
      $0.diskCache = cache
      $0.log = { entry in lines.change { $0.append(entry) } }
    }
    parts.loader.answer(Self.url, with: file, headers: headers)
    await cache.flush()
    files.refuse()
    _ = try await pipeline.image(for: ImageRequest(url: Self.url))
    await pipeline.cache.flush()
    await pipeline.flushEvents()
    let trouble = lines.value.filter { $0.level == .warning }.map(\.description)
    #expect(trouble.count == 1)
    #expect(trouble.first == warnings.value.first.map { "disk cache: \($0)" })
    await cache.close()
  }
}

/// The file system of the machine, until it makes no more files.
private final class RefusingFiles: DiskFileSystem {
  private let system = SystemFiles()
  private let isRefusing = Lock(false)

  func refuse() { isRefusing.withLock { $0 = true } }

  func open(_ path: String, isWritable: Bool, isCreated: Bool) throws(FileError) -> any DiskFile {
    if isCreated, isRefusing.withLock({ $0 }) { throw FileError(code: EROFS) }
    return try system.open(path, isWritable: isWritable, isCreated: isCreated)
  }

  func rename(_ path: String, to newPath: String) throws(FileError) { try system.rename(path, to: newPath) }
  func remove(_ path: String) throws(FileError) { try system.remove(path) }
  func names(in folder: String) throws(FileError) -> [String] { try system.names(in: folder) }
  func makeFolder(_ path: String) throws(FileError) { try system.makeFolder(path) }
  func syncFolder(_ path: String) throws(FileError) { try system.syncFolder(path) }
  func space(at folder: String) -> DiskSpace? { nil }
}
