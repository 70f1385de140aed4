public import Vitrine

/// What a pipeline for tests is made of, at hand for the test: a loader without a network, a cache that counts, a clock that
/// stands still.
///
/// ```swift
/// let parts = PipelineParts()
/// parts.loader.answer("https://example.org/cat.jpg", with: cat, headers: ["Cache-Control": "max-age=60"])
/// let pipeline = ImagePipeline.testing(parts)
/// // … load …
/// parts.clock.advance(by: .seconds(61))        // and now it is stale
/// ```
public struct PipelineParts: Sendable {
  /// Answers as the test says.
  public let loader = FakeLoader()
  /// Stands for the disk; it keeps what it has from one pipeline to the next.
  public let diskCache = CountingDataCache()
  /// Tells the pipeline the time.
  public let clock = ManualClock()

  /// Creates parts that nothing has happened to.
  public init() {}
}

extension ImagePipeline {
  /// Creates a pipeline of parts that a test holds, as after a start of the program: with an empty memory cache of 64 MiB
  /// that does not ask the system whether memory is scarce, tries nothing again and remembers no failures.
  ///
  /// - Parameters:
  ///   - parts: The loader, the cache of bytes and the clock; new ones by default.
  ///   - configure: Changes what the test wants otherwise.
  /// - Returns: The pipeline.
  public static func testing(
    _ parts: PipelineParts = PipelineParts(),
    _ configure: (inout Configuration) -> Void = { _ in },
  ) -> ImagePipeline {
    ImagePipeline {
      $0.memoryCache = MemoryCache(costLimit: 64 << 20, clock: parts.clock)
      $0.diskCache = parts.diskCache
      $0.loader = parts.loader
      $0.clock = parts.clock
      // What the machine has to say is nothing that a test could repeat.
      $0.memoryPressure = nil
      // A wait for the next attempt would last until the test advances the clock.
      $0.retryPolicy = .never
      $0.remembersFailures = false
      configure(&$0)
    }
  }
}
