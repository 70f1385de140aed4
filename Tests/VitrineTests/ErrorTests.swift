import Foundation
import Testing
import Vitrine
import VitrineHTTP
import VitrineTestSupport
import VitrineTesting

/// What an error says to a person and to a program.
@Suite(.patient)
struct ErrorTests {
  /// An error of an app's own, as its hooks throw it.
  private struct SignedOut: LocalizedError, Equatable {
    let user: Int
    var recoverySuggestion: String? { "Sign in again." }
  }

  private struct Throws: ImageInterceptor {
    let error: any Error

    func image(for request: ImageRequest, next: InterceptorChain) async throws -> ImageResponse { throw error }
  }

  private static let url = "https://example.org/a.png"
  private let thrown = SignedOut(user: 7)
  private let parts = PipelineParts()

  private func failure(
    of request: ImageRequest = ImageRequest(url: url),
    _ configure: (inout ImagePipeline.Configuration) -> Void = { _ in },
  ) async -> LoadError? {
    let pipeline = ImagePipeline.testing(parts, configure)
    return await #expect(throws: LoadError.self) { try await pipeline.image(for: request) }
  }

  // MARK: The cause is what was thrown

  @Test
  func whatTheHookBeforeSendingThrowsIsTheCause() async {
    let error = await failure { $0.willSend = { [thrown] _ in throw thrown } }
    #expect(error?.cause as? SignedOut == thrown)
    #expect(error?.code == .fetchFailed)
    #expect(error?.recoverySuggestion == "Sign in again.")
  }

  @Test
  func whatTheHookForChallengesThrowsIsTheCause() async {
    parts.loader.answer(Self.url, FakeResponse(status: 401))
    let error = await failure { $0.challenge = { [thrown] _ in throw thrown } }
    #expect(error?.cause as? SignedOut == thrown)
  }

  @Test
  func whatAnInterceptorThrowsIsTheCause() async {
    let error = await failure { $0.interceptors = [Throws(error: thrown)] }
    #expect(error?.cause as? SignedOut == thrown)
    #expect(error?.code == .intercepted)
  }

  @Test
  func aLoadErrorThatAnInterceptorMakesIsTheErrorItself() async {
    let made = LoadError(.offline, stage: .fetch, source: "a", status: 503, cause: thrown, "no network today")
    let error = await failure { $0.interceptors = [Throws(error: made)] }
    #expect(error?.code == .offline)
    #expect(error?.status == 503)
    #expect(error?.cause as? SignedOut == thrown)
    #expect(error?.description == "a: fetch: no network today")
  }

  @Test
  func whatAProcessorThrowsIsTheCauseAlsoWhereItIsAnErrorOfOurs() async throws {
    parts.loader.answer(Self.url, with: try Bitmap.testPattern(width: 8, height: 8).encoded(as: .png))
    let errors: [any Error] = [thrown, CancellationError(), ImageError(.cancelled, "of its own")]
    for (index, thrown) in errors.enumerated() {
      let processor = ImageProcessor.custom(id: "\(index)") { _ in throw thrown }
      let error = await failure(of: ImageRequest(url: Self.url, processors: [processor]))
      #expect(error?.code == .processingFailed)
      let cause = try #require(error?.cause)
      #expect(type(of: cause) == type(of: thrown))
    }
  }

  @Test
  func whatAClosureThrowsIsTheCauseAlsoWhereItGivesUpByItself() async {
    let source = ImageSource.closure(id: "a") { [thrown] in throw thrown }
    #expect(await failure(of: ImageRequest(source))?.cause as? SignedOut == thrown)
    let cancelled = await failure(of: ImageRequest(.closure(id: "b") { throw CancellationError() }))
    #expect(cancelled?.isCancellation == true)
    #expect(cancelled?.cause is CancellationError)
  }

  /// A remembered failure outlives its load, and what it was caused by does not.
  @Test
  func aFailureIsRememberedWithoutItsCause() async throws {
    let (loader, thrown) = (FailingLoader(cause: thrown), thrown)
    let pipeline = ImagePipeline.testing(parts) {
      $0.remembersFailures = true
      $0.loader = loader
    }
    for isFirst in [true, false] {
      let error = await #expect(throws: LoadError.self) { try await pipeline.image(for: ImageRequest(url: Self.url)) }
      let cause = try #require(error?.cause as? HTTPError)
      #expect(cause.code == .cannotConnect)
      #expect(cause.cause as? SignedOut == (isFirst ? thrown : nil))
    }
  }

  private struct FailingLoader: DataLoader {
    let cause: any Error

    func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle {
      sink.finish(HTTPError(.cannotConnect, url: request.url.string, cause: cause, "the socket is gone"))
      return NoLoadHandle()
    }
  }

  // MARK: For a person

  @Test
  func everyErrorSaysWhatFailedOfWhatAndWhy() {
    let bad = HTTPError(.badStatus, url: Self.url, status: 404, "the server answered with status 404")
    let load = LoadError(
      .badStatus,
      stage: .fetch,
      source: Self.url,
      status: 404,
      "the server answered with status 404",
    )
    let spoilt = LoadError(
      .undecodable,
      stage: .decode,
      source: "a.png",
      cause: ImageError(.truncated, "png ends early"),
      "",
    )
    let errors: [(any LocalizedError, String)] = [
      (load, "https://example.org/a.png could not be loaded: the server answered with status 404"),
      (bad, "https://example.org/a.png could not be loaded: the server answered with status 404"),
      (LoadError(.cancelled, stage: .fetch, source: "a.png", "cancelled"), "Loading a.png was cancelled"),
      (HTTPError(.cancelled, url: Self.url, "cancelled"), "Loading https://example.org/a.png was cancelled"),
      (LoadError(.undecodable, stage: .decode, source: "a", "no"), "a could not be decoded: no"),
      (LoadError(.processingFailed, stage: .process, source: "a", "no"), "a could not be processed: no"),
      (ImageError(.corrupt, "png with a hole"), "The image could not be decoded: png with a hole"),
      (ImageError(.notEncodable, "too wide"), "The image could not be encoded: too wide"),
      (ImageError(.cancelled, "cancelled"), "Decoding the image was cancelled"),
      (DiskCacheError(path: "/x", reason: "no space"), "The cache folder /x cannot be used: no space"),
    ]
    for (error, text) in errors {
      // As it is read through Foundation, which has a phrase of its own for errors that say nothing.
      #expect((error as any Error).localizedDescription == text)
      #expect(error.failureReason?.isEmpty == false)
    }
    #expect(load.recoverySuggestion == "Check the URL.")
    #expect(bad.recoverySuggestion == load.recoverySuggestion)
    // Where the error itself knows nothing to do, its cause may.
    #expect(spoilt.recoverySuggestion == ImageError(.truncated, "").recoverySuggestion)
    #expect(LoadError(.forbidden, stage: .request, source: "a", "no").recoverySuggestion == nil)
  }

  @Test
  func theCauseOfAnUnreadableFileSpeaksForItself() async throws {
    let error = await failure(of: ImageRequest(.file("/nowhere/at all.png")))
    let cause = try #require(error?.cause)
    #expect(cause.localizedDescription == "No such file or directory")
    #expect(error?.localizedDescription == "/nowhere/at all.png could not be loaded: No such file or directory")
    #expect(error?.recoverySuggestion == "Check that the file exists and can be read.")
  }

  @Test
  func reasonsAreTheirNames() {
    let codes: [LoadError.Code] = [
      .invalidURL, .cancelled, .notCached, .unreadable, .fetchFailed, .badStatus, .undecodable, .processingFailed,
      .overloaded, .forbidden, .offline, .intercepted,
    ]
    #expect(Set(codes).count == codes.count)
    #expect(codes.map(\.description).first == "invalidURL")
  }

  @Test
  func errorsOfLoadersAreComparedWithoutTheirCauses() {
    let (plain, caused) = (
      HTTPError(.tls, url: "a", "b"), HTTPError(.tls, url: "a", cause: CancellationError(), "b"),
    )
    #expect(plain == caused)
    #expect(plain.hashValue == caused.hashValue)
    #expect(plain != HTTPError(.tls, url: "a", "c"))
  }
}
