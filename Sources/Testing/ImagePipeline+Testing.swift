public import Vitrine

/// The parts of a pipeline for tests: a loader without a network, a cache that counts, a clock that stands still.
///
/// ```swift
/// let parts = PipelineParts()
/// parts.loader.answer("https://example.org/cat.jpg", with: cat, headers: ["Cache-Control": "max-age=60"])
/// let pipeline = ImagePipeline.testing(parts)
/// // … load …
/// parts.clock.advance(by: .seconds(61))        // and now it is stale
/// ```
public struct PipelineParts: Sendable {
  /// The loader, which answers as the test decides.
  public let loader = FakeLoader()
  /// The stand-in for the disk cache.
  ///
  /// It keeps its entries from one pipeline to the next.
  public let diskCache = CountingDataCache()
  /// The pipeline's clock.
  public let clock = ManualClock()

  /// Creates new parts.
  public init() {}
}

extension ImagePipeline {
  /// Creates a pipeline from parts that the test keeps, as after a start of the program.
  ///
  /// It has an empty memory cache of 64 MiB, ignores the system's memory pressure, does not retry and does not
  /// remember failures.
  ///
  /// - Parameters:
  ///   - parts: The loader, the data cache and the clock. Defaults to new ones.
  ///   - configure: Changes the configuration.
  /// - Returns: The pipeline.
  public static func testing(
    _ parts: PipelineParts = PipelineParts(),
    _ configure: (inout Configuration) -> Void = { _ in },
  ) -> ImagePipeline {
    ImagePipeline(.ephemeral) {
      $0.memoryCache = MemoryCache(costLimit: 64 << 20, clock: parts.clock)
      $0.diskCache = parts.diskCache
      $0.loader = parts.loader
      $0.clock = parts.clock
      // The machine's memory pressure would make tests unrepeatable.
      $0.memoryPressure = nil
      // The wait before a retry would last until the test advances the clock.
      $0.retryPolicy = .never
      $0.remembersFailures = false
      configure(&$0)
    }
  }
}
