import Testing
import Vitrine
import VitrineConfinement
import VitrineImaging
import VitrineRuntime
import VitrineSandbox
import VitrineTestSupport
import VitrineTesting

/// A sandbox as a program uses it.
struct SandboxTests {
  private static func file() throws -> Data { try Fixture.data("baseline-420.jpg") }

  @Test
  func aPipelineDecodesInASandbox() async throws {
    let program = try #require(BuiltProgram.path("vitrine-codecs"))
    let pipeline = try ImagePipeline(.ephemeral) {
      $0.decoders = try .sandboxed { $0.program = program }
      $0.diskCache = nil
    }
    let request = ImageRequest(url: Fixture.url("baseline-420.jpg"), size: .pixels(20, 20))
    let bitmap = try await pipeline.image(for: request)

    #expect(max(bitmap.width, bitmap.height) == 20)
  }

  /// The bytes are not to blame: perhaps the system had no memory.
  @Test
  func whatIsStoredStaysWhenItsDecoderFails() async throws {
    let folder = try TemporaryFolder()
    let sandbox = try Sandbox.rogue()
    let loader = FakeLoader()
    let pipeline = ImagePipeline(.ephemeral) {
      $0.decoders = sandbox.decoders
      $0.loader = loader
      $0.diskCache = try? folder.cache()
    }
    let url = try #require(URL(string: "https://example.invalid/a.qoi"))
    for action in ["abort", "crash"] {
      let file = RogueTests.file(action)
      #expect(await pipeline.cache.storeData(file, for: url))

      let error = await #expect(throws: LoadError.self) { try await pipeline.image(for: url) }

      #expect((error?.cause as? ImageError)?.code == .decoderFailed)
      #expect(await pipeline.cache.data(for: url) == file)
    }
    #expect(loader.requests.isEmpty)
  }

  @Test
  func threadsThatMustNotWaitAskNoProcess() throws {
    let sandbox = try Sandbox.built { $0.startsAhead = false }

    #expect(sandbox.decoders.hasRemoteDecoders)
    #expect(!sandbox.decoders.hasForeignDecoders)
    #expect(!DecoderRegistry.standard.hasRemoteDecoders)
  }

  @Test
  func aMissingProgramIsAnErrorWhenTheSandboxIsMade() throws {
    let error = #expect(throws: SandboxError.self) { try Sandbox { $0.program = "/nowhere/vitrine-codecs" } }

    #expect(error?.code == .programMissing)
    #expect(error?.detail.contains("/nowhere/vitrine-codecs") == true)
    #expect(error?.detail.contains("No such file") == true)
    #expect(throws: Never.self) { try Sandbox { ($0.program, $0.formats) = ("/nowhere/vitrine-codecs", .none) } }
  }

  @Test
  func aProgramThatIsNoWorkerIsAnErrorOfTheImage() throws {
    let sandbox = try Sandbox { ($0.program, $0.startsAhead) = ("/bin/true", false) }

    let error = failure { try sandbox.decoders.decode(Self.file()) }

    #expect(error?.code == .decoderFailed)
    #expect(error?.detail.contains("/bin/true") == true)
  }

  @Test
  func formatsAreAChoice() throws {
    let all = try Sandbox.built { $0.startsAhead = false }
    let external = try Sandbox.built { ($0.formats, $0.startsAhead) = (.external, false) }
    let none = try Sandbox.built { $0.formats = .none }

    #expect(Set(all.decoders.formats) == Set(ownDecoders.formats))
    #expect(Set(external.decoders.formats) == Set(ownDecoders.formats))
    #expect(none.decoders.formats == DecoderRegistry.standard.formats)
    for sandbox in [all, external, none] { _ = try sandbox.decoders.decode(Self.file()) }
    #expect([all, external, none].map(\.counts.images) == [1, 0, 0])
    _ = try external.decoders.decode(Fixture.data("lzw.tiff"))
    #expect(external.counts.images == 1)
  }

  @Test
  func aDecoderOfOnesOwnIsAskedFirst() throws {
    struct Own: ImageDecoder {
      let formats: [ImageFormat] = [.jpeg]
      func info(
        of bytes: UnsafeRawBufferPointer,
        format: ImageFormat,
        limits: DecodeLimits,
      ) throws(ImageError) -> ImageInfo? { throw ImageError(.unsupported, "my own") }
      func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? { nil }
    }
    let sandbox = try Sandbox.built { $0.startsAhead = false }
    var decoders = sandbox.decoders
    decoders.add(Own())

    #expect(failure { try decoders.decode(Self.file()) }?.detail == "my own")
  }

  @Test
  func requiredLayersAreChecked() throws {
    // The program of the tests says that it lacks namespaces.
    let error = #expect(throws: SandboxError.self) {
      try Sandbox.rogue { $0.requiredLayers = [.namespaces, .limits] }
    }
    #expect(error?.code == .layerMissing)
    #expect(error?.detail == "this system does not offer namespaces, which the sandbox requires")

    let sandbox = try Sandbox.rogue { $0.requiredLayers = [.limits] }
    #expect(sandbox.counts.started == 1)
    #expect(sandbox.missingLayers == [.namespaces])
  }

  @Test
  func theLayersAreThoseOfTheWorker() {
    #expect(Sandbox.Layer.allCases.map(\.rawValue) == Confinement.Layer.allCases.map(\.rawValue))
  }

  @Test
  func aWorkerIsReplacedAfterItsImages() throws {
    let sandbox = try Sandbox.rogue { $0.imagesPerProcess = 3 }

    for _ in 0..<7 { #expect(try RogueTests.code("nothing", in: sandbox) == 0) }

    #expect(sandbox.counts.recycled == 2)
    #expect(sandbox.counts.started == 3)
    #expect(sandbox.counts.images == 7)
  }

  @Test
  func aWorkerIsReplacedAfterMuchMemory() throws {
    let sandbox = try Sandbox.rogue { $0.bytesPerProcess = 0 }

    for _ in 0..<20 { #expect(try RogueTests.code("nothing", in: sandbox) == 0) }

    // It looks at every eighth image.
    #expect(sandbox.counts.recycled == 2)
  }

  @Test
  func manyImagesAtOnceShareTheProcesses() async throws {
    let sandbox = try Sandbox.built { $0.processes = 2 }
    let file = try Self.file()
    let expected = Outcome.of { () throws(ImageError) in try ownDecoders.decode(file) }
    let decoders = sandbox.decoders

    let results = await withTaskGroup { group in
      for _ in 0..<100 { group.addTask { try? await decoders.byDecoding(file) } }
      var results: [ImageContainer?] = []
      for await result in group { results.append(result) }
      return results
    }

    #expect(results.allSatisfy { image in Outcome.of { () throws(ImageError) in image } == expected })
    #expect(sandbox.counts.images == 100)
    #expect(sandbox.counts.started <= 2)
  }

  @Test
  func anEmptyOrUnknownFileNeedsNoProcess() throws {
    let sandbox = try Sandbox.built { $0.startsAhead = false }

    #expect(failure { try sandbox.decoders.decode(Data()) }?.code == .unrecognised)
    #expect(failure { try sandbox.decoders.decode(Data("text".utf8)) }?.code == .unrecognised)
    #expect(sandbox.counts.started == 0)
  }

  private static func drawing(_ filter: String) -> Data {
    let content =
      ##"<filter id="f" x="0" y="0" width="1" height="1">\##(filter)</filter>"##
      + ##"<rect width="2000" height="2000" filter="url(#f)"/>"##
    return Data(#"<svg xmlns="http://www.w3.org/2000/svg" width="2000" height="2000">\#(content)</svg>"#.utf8)
  }

  /// In the program itself librsvg would abort the program.
  @Test
  func aDrawingThatAbortsItsDecoderIsOneError() throws {
    let sandbox = try Sandbox.built { ($0.formats, $0.startsAhead) = (.external, false) }
    let matrix = String(repeating: "1 ", count: 441)
    let file = Self.drawing(#"<feConvolveMatrix order="21" kernelMatrix="\#(matrix)"/>"#)

    let error = failure { try sandbox.decoders.decode(file) }

    #expect(error?.code == .decoderFailed)
    #expect(error?.detail == "the process that decodes svg images crashed: it aborted (SIGABRT)")
    #expect(throws: Never.self) {
      try sandbox.decoders.decode(Self.drawing(#"<feFlood flood-color="red"/>"#), DecodeOptions(size: .pixels(20)))
    }
  }

  @Test
  func aDrawingThatNeverEndsIsOneError() throws {
    let sandbox = try Sandbox.built { ($0.formats, $0.startsAhead) = (.external, false) }
    var options = DecodeOptions()
    // The process must have begun before it is told to stop, or it would stop.
    options.limits.timeLimit = .milliseconds(700)
    let file = Self.drawing(#"<feTurbulence baseFrequency=".5" numOctaves="2000000000"/>"#)

    #expect(failure { try sandbox.decoders.decode(file, options) }?.code == .outOfTime)
    #expect(sandbox.counts.stopped == 1)
  }

  /// Large results go through larger mappings, and small ones after them through small ones.
  @Test
  func mappingsGrowAndShrink() throws {
    let sandbox = try Sandbox.built { $0.processes = 1 }
    let file = try Self.file()
    for side in [900.0, 10, 1200, 10, 10, 10, 500] {
      let options = DecodeOptions(size: .pixels(side, side, .exact, enlarges: true))
      let there = Outcome.of { () throws(ImageError) in try sandbox.decoders.decode(file, options) }
      #expect(there == Outcome.of { () throws(ImageError) in try ownDecoders.decode(file, options) })
    }
    #expect(sandbox.counts.started == 1)
  }
}
