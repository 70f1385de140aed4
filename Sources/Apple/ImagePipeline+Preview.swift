public import Vitrine
import VitrineHTTP
import VitrineImaging
import VitrineRuntime

extension ImagePipeline {
  /// The answers of a pipeline for previews.
  public enum PreviewAnswer: Sendable, CaseIterable {
    /// Each URL has a picture of its own colours, 600 by 400 pixels, the same in each run.
    case picture
    /// No answer comes, so views show their placeholders.
    case nothing
    /// Each URL is a 404, so views show their failures.
    case failure
  }

  /// Returns a pipeline for previews in Xcode, which asks no server and touches no disk.
  ///
  /// ```swift
  /// AlbumView(album).environment(\.imagePipeline, .preview())
  /// AlbumView(album).environment(\.imagePipeline, .preview(.failure))  // what it shows offline
  /// ```
  /// Files, data and closures are loaded as ever. Calls with the same answer return the same pipeline.
  ///
  /// - Parameter answer: The answer to each URL. Defaults to a picture.
  /// - Returns: The pipeline.
  public static func preview(_ answer: PreviewAnswer = .picture) -> ImagePipeline {
    switch answer {
    case .picture: Previews.picture
    case .nothing: Previews.nothing
    case .failure: Previews.failure
    }
  }
}

private enum Previews {
  static let picture = pipeline { request in
    let fields: HTTPFields = ["Content-Type": "image/png", "Cache-Control": "max-age=86400"]
    return (HTTPResponse(status: 200, headers: fields, url: request.url), try picture(of: request.url.string))
  }
  static let nothing = pipeline { request in
    await Deferred<Void>().value(orCancelled: ())
    throw HTTPError(.cancelled, url: request.url.string, "was cancelled")
  }
  static let failure = pipeline { request in (HTTPResponse(status: 404, url: request.url), Data()) }

  private static func pipeline(_ fetch: @escaping WholeBodyLoader.Fetch) -> ImagePipeline {
    ImagePipeline(.ephemeral) {
      $0.loader = WholeBodyLoader(fetch)
      $0.remembersFailures = false
      $0.retryPolicy = .never
    }
  }

  /// Returns a picture that fades from one colour to another, both of which follow from a text.
  private static func picture(of text: String) throws -> Data {
    // FNV-1a, since Swift's own hashes are others in each run.
    let hash = text.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    func component(_ shift: UInt64) -> Double { Double(64 + (hash >> shift) & 127) }
    let (width, height) = (600, 400)
    var (start, end) = (SIMD3<Double>(), SIMD3<Double>())
    for index in 0..<3 {
      let shift = UInt64(8 * index)
      (start[index], end[index]) = (component(shift), component(shift + 24))
    }
    var position = 0
    let picture = try Bitmap(width: width, height: height, color: PixelColor(0xFFFFFF)).map { _ in
      let share = Double(position % width + position / width) / Double(width + height)
      position += 1
      let mixed = start + (end - start) * share
      return SIMD4(UInt8(mixed.x), UInt8(mixed.y), UInt8(mixed.z), 255)
    }
    return try picture.encoded(as: .png)
  }
}
