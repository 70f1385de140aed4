import Foundation
import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime

/// A hook for all places that have one.
private struct LyingHook: ImageInterceptor, PipelineDelegate, PipelineObserver {
  var answer: @Sendable (ImageRequest, InterceptorChain) async throws -> ImageResponse = { try await $1($0) }
  var rewrite: @Sendable (ImageRequest) -> ImageRequest = { $0 }
  var registry: DecoderRegistry?
  var stored: @Sendable (Data) -> Data? = { $0 }
  var keeps = true

  func image(for request: ImageRequest, next: InterceptorChain) async throws -> ImageResponse {
    try await answer(request, next)
  }
  func willLoad(_ request: ImageRequest) -> ImageRequest { rewrite(request) }
  func decoders(for request: ImageRequest, firstBytes: Data) -> DecoderRegistry? { registry }
  func willStore(_ data: Data, for request: ImageRequest, response: HTTPResponse) -> Data? { stored(data) }
  func storesFinished(_ image: ImageResponse, for request: ImageRequest) -> Bool { keeps }
  func storesEncoded(_ image: EncodedImage, for request: ImageRequest) -> Bool { keeps }
  func observe(_ event: PipelineEvent) {}
}

func hookCases() -> [Case] {
  let escaped = Box()
  let hooks: [(String, LyingHook)] = [
    (
      "another size",
      LyingHook(answer: { _, _ in ImageResponse(bitmap(1, 20_000), from: .network, status: -1, byteCount: .min) }),
    ),
    ("throws", LyingHook(answer: { _, _ in throw liar })),
    ("cancels", LyingHook(answer: { _, _ in throw CancellationError() })),
    (
      "twice",
      LyingHook(answer: {
        _ = try await $1($0); return try await $1($0)
      }),
    ),
    (
      "at once",
      LyingHook(answer: { request, next in
        try await withThrowingTaskGroup(of: ImageResponse.self) { group in
          for _ in 0..<50 { group.addTask { try await next(request) } }
          for try await response in group { return response }
          throw liar
        }
      }),
    ),
    (
      "late",
      LyingHook(answer: { request, next in
        let old = escaped.chain
        escaped.chain = next
        return try await (old ?? next)(request)
      }),
    ),
    ("deep", LyingHook(answer: { request, _ in ImageResponse(try await ImagePipeline.deep.image(for: request)) })),
    ("rewrites to nothing", LyingHook(rewrite: { _ in ImageRequest(url: url("about:blank")) })),
    (
      "rewrites each time",
      LyingHook(rewrite: { request in
        var request = request
        request.source = .url(url("http://picture.invalid/\(UInt64.random(in: 0 ... .max))"))
        return request
      }),
    ),
    ("no decoders", LyingHook(registry: DecoderRegistry([]))),
    (
      "a lying decoder",
      LyingHook(
        registry: DecoderRegistry([
          LyingDecoder(
            formats: [.png],
            rows: { () throws(ImageError) in
              let rows = LyingRows()
              rows.width = 1 << 20
              return rows
            },
          )
        ])
      ),
    ),
    ("stores nothing", LyingHook(stored: { _ in nil })), ("stores no bytes", LyingHook(stored: { _ in Data() })),
    ("stores noise", LyingHook(stored: { _ in file })), ("stores half", LyingHook(stored: { $0.prefix(30) })),
    ("stores megabytes", LyingHook(stored: { $0 + Data(count: 1 << 25) })), ("keeps nothing", LyingHook(keeps: false)),
  ]
  return hooks.flatMap { name, hook in
    [
      Case("interceptor, \(name)") { try await show(hook) { $0.interceptors = [hook] } },
      Case("delegate, \(name)") { try await show(hook) { $0.delegate = hook } },
      Case("observer, \(name)") { try await show(hook) { $0.observers = [hook] } },
    ]
  }
}

private final class Box: @unchecked Sendable {
  // @unchecked: one case at a time.
  var chain: InterceptorChain?
}

extension ImagePipeline {
  fileprivate static let deep: ImagePipeline = pipeline(pictures) {
    $0.interceptors = [
      LyingHook(answer: { request, _ in ImageResponse(try await ImagePipeline.deep.image(for: request)) })
    ]
  }
}

private func show(_ hook: LyingHook, _ change: (inout ImagePipeline.Configuration) -> Void) async throws -> String {
  let cache = try DiskLike.temporary()
  let pipeline = pipeline(pictures) {
    ($0.diskCache, $0.storagePolicy) = (cache, .both)
    change(&$0)
  }
  var request = ImageRequest(url: address)
  request.size = .pixels(2, 2)
  let image = try await pipeline.image(for: request)
  await cache.flush()
  pipeline.configuration.memoryCache?.removeAll()
  _ = try await pipeline.image(for: request)
  _ = try? await pipeline.data(for: request)
  _ = try? await pipeline.encoded(for: request, as: .png())
  _ = pipeline.cachedImage(for: request)
  return "\(image.width)x\(image.height)"
}
