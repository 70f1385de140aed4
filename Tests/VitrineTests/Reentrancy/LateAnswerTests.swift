import Testing
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import Vitrine

/// Answers are ordered by when they were asked for: what was asked earlier never replaces what was asked later.
@Suite(.patient)
struct LateAnswerTests {
  /// What keeps images, and where the late answer is held up.
  struct Setting: Sendable, CustomTestStringConvertible {
    enum Caches: String, CaseIterable { case both, onlyMemory, onlyDisk }

    let caches: Caches
    let storage: StoragePolicy
    /// Whether the late one has its bytes already and is held up in its decode.
    let isInDecode: Bool
    /// Whether the first version is in memory, past its time, when it is asked for again.
    var isKnown = false

    var testDescription: String {
      "\(caches), keeps \(storage), late in its \(isInDecode ? "decode" : "transfer")\(isKnown ? ", known" : "")"
    }

    var hasMemory: Bool { caches != .onlyDisk }
    var hasDisk: Bool { caches != .onlyMemory }

    static let all = Caches.allCases.flatMap { caches in
      [StoragePolicy.original, .finished, .both].flatMap { storage in
        [false, true].map { Setting(caches: caches, storage: storage, isInDecode: $0) }
      }
    }

    /// Those with something on disk that can be asked about.
    static let revalidating = all.filter(\.hasDisk).flatMap { setting in
      // Where the image is there as it was shown, a confirmation decodes nothing.
      guard !setting.isInDecode else { return setting.storage == .original ? [setting] : [] }
      let known = Setting(caches: setting.caches, storage: setting.storage, isInDecode: false, isKnown: true)
      return setting.hasMemory ? [setting, known] : [setting]
    }
  }

  private static let colors: [SIMD4<UInt8>] = [SIMD4(200, 0, 0, 255), SIMD4(0, 0, 200, 255)]
  private let loader = FakeLoader()
  private let clock = ManualClock()
  private let folder: TemporaryFolder
  private let url = Scene.url("late")
  private let files: [Data]
  private let decoder: HeldDecoder

  init() throws {
    files = try Self.colors.map { try Bitmap.solid($0, width: 64, height: 48).encoded(as: .png) }
    decoder = HeldDecoder(of: files[0])
    folder = try TemporaryFolder()
  }

  private func request(_ policy: CachePolicy = .standard) -> ImageRequest {
    var request = ImageRequest(url: url, size: .pixels(16, 16))
    request.cachePolicy = policy
    return request
  }

  private func pipeline(_ setting: Setting, on disk: DiskCache?) -> ImagePipeline {
    .testing {
      if !setting.hasMemory { $0.memoryCache = nil }
      $0.diskCache = disk
      $0.loader = loader
      $0.clock = clock
      $0.storagePolicy = setting.storage
      $0.maxConcurrentDecodes = 2
      $0.decoders = DecoderRegistry([decoder.decoder])
    }
  }

  private func response(_ version: Int, status: Int = 200) -> FakeResponse {
    FakeResponse(
      status: status,
      headers: ["ETag": "\"\(version)\"", "Cache-Control": "max-age=60"],
      body: status == 304 ? Data() : files[version - 1],
    )
  }

  private func version(of image: Bitmap?) -> Int? {
    guard let pixel = image?[0, 0] else { return nil }
    return pixel.x > pixel.z ? 1 : 2
  }

  /// Has the second version brought by whoever asks for it anew.
  private func reload(_ pipeline: ImagePipeline) async throws {
    clock.advance(by: .seconds(1))
    let task = pipeline.imageTask(for: request(.reload))
    try await loader.nextLoad(of: url).respond(with: response(2))
    #expect(version(of: try await task.image) == 2)
  }

  /// Verifies that memory, disk and a pipeline of a later start serve the second version.
  private func expectSecond(_ pipeline: ImagePipeline, _ setting: Setting, _ disk: DiskCache?) async throws {
    await pipeline.cache.flush()
    #expect(pipeline.loadCount == 0)
    if setting.hasMemory { #expect(version(of: pipeline.cachedImage(for: request())?.image) == 2) }
    #expect(version(of: try await pipeline.image(for: request(.cacheOnly))) == 2)
    guard let disk else { return }
    await disk.close()
    let reopened = try folder.cache(clock)
    let later = self.pipeline(setting, on: reopened)
    #expect(version(of: try await later.image(for: request(.cacheOnly))) == 2)
    await later.cache.flush()
    await reopened.close()
  }

  @Test(arguments: Setting.all)
  func aLateAnswerNeverReplacesANewerImage(setting: Setting) async throws {
    let disk = setting.hasDisk ? try folder.cache(clock) : nil
    let pipeline = pipeline(setting, on: disk)
    let late = pipeline.imageTask(for: request())
    let load = try await loader.nextLoad(of: url)
    if setting.isInDecode {
      load.respond(with: response(1))
      await decoder.begun.reaches(1)
    }

    try await reload(pipeline)
    if !setting.isInDecode { load.respond(with: response(1)) }
    decoder.gate.open()
    _ = try await late.image

    try await expectSecond(pipeline, setting, disk)
  }

  @Test(arguments: Setting.revalidating)
  func aLateConfirmationNeverBringsBackWhatItsServerHasReplaced(setting: Setting) async throws {
    let disk = try folder.cache(clock)
    if !setting.isInDecode { decoder.gate.open() }
    // The first version gets there unheld, by another pipeline unless it is to be in memory.
    let first = ImagePipeline.testing {
      $0.diskCache = disk
      ($0.loader, $0.clock, $0.storagePolicy) = (loader, clock, setting.storage)
    }
    let pipeline = pipeline(setting, on: disk)
    let before = (setting.isKnown ? pipeline : first).imageTask(for: request())
    try await loader.nextLoad(of: url).respond(with: response(1))
    #expect(version(of: try await before.image) == 1)
    await pipeline.cache.flush()
    await first.cache.flush()
    clock.advance(by: .seconds(61))

    let late = pipeline.imageTask(for: request())
    let load = try await loader.nextLoad(of: url)
    // Where only the image as it was shown is kept, its bytes are not asked about but fetched.
    let isConditional = load.request.headers["If-None-Match"] == "\"1\""
    #expect(isConditional || setting.storage == .finished)
    let answer = response(1, status: isConditional ? 304 : 200)
    if setting.isInDecode {
      load.respond(with: answer)
      await decoder.begun.reaches(1)
    }
    try await reload(pipeline)
    if !setting.isInDecode { load.respond(with: answer) }
    decoder.gate.open()
    _ = try await late.image

    try await expectSecond(pipeline, setting, disk)
  }
}
