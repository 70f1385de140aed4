import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime

/// Makes images, and facts about them, with a pipeline.
struct ImageMaker: Sendable {
  let pipeline: ImagePipeline
  private let budget: SourceBudget
  let bodies: BodyBudget
  /// The traces that sources are told of; `nil` for none.
  private let traces: SourceTraces?
  let clock: any TimeSource
  /// The pictures of viewers that zoom.
  let pictures: OpenPictures
  /// The formats that URLs may name.
  let formats: [ImageFormat]
  /// The image for errors, if that is a file.
  private let placeholder: Data?
  /// The same as it was encoded, by options and format: errors may be many.
  private let placeholders: MemoryCache<Rendered>
  private let queue = WorkQueue(label: "info", width: 1)

  init(
    _ pipeline: ImagePipeline,
    _ budget: SourceBudget,
    _ bodies: BodyBudget,
    _ traces: SourceTraces?,
    _ configuration: ThumbnailServer.Configuration,
  ) throws(ServerError) {
    (self.pipeline, self.budget, self.bodies, self.traces) = (pipeline, budget, bodies, traces)
    clock = configuration.clock
    formats = configuration.urls.formats.filter { pipeline.configuration.encoders.formats.contains($0) }
    pictures = OpenPictures(pipeline, byteLimit: configuration.memory / 8)
    placeholders = MemoryCache(costLimit: 4 << 20, clock: clock)
    guard let path = configuration.placeholder, !path.contains("://") else {
      placeholder = nil
      return
    }
    do throws(FileError) {
      placeholder = try FileContents.at(path)
    } catch {
      throw ServerError("the placeholder \(path) cannot be used: \(error.description)")
    }
  }

  func make(_ order: Order, for client: ByteString, _ trace: TraceContext?) async -> ThumbnailService.Product {
    do throws(LoadError) {
      return try await product(order, for: client, trace)
    } catch {
      // By then the source has no place any more for which another could wait.
      var refusal = error.refusal
      refusal.placeholder = await standIn(order, for: error, client)
      return .failure(refusal)
    }
  }

  private func product(
    _ order: Order,
    for client: ByteString,
    _ trace: TraceContext?,
  ) async throws(LoadError) -> ThumbnailService.Product {
    budget.begin(order.url, for: client)
    if let trace { traces?.begin(order.url, trace) }
    defer {
      budget.end(order.url)
      if trace != nil { traces?.end(order.url) }
    }
    switch order.kind {
    case .image: break
    case .info: return .success(try await facts(order))
    case .zoom(let zoom, let base): return try await self.zoom(zoom, base, order, client)
    }
    var request = order.request
    request.lane = client
    let task = pipeline.encodedTask(for: request, as: order.encoding)
    let image = try await task.response
    let times = task.metrics.map { StageTimes($0) }
    guard let rendered = Rendered(image, for: order, at: clock.now, times, bodies) else { return .failure(.full) }
    return .success(rendered)
  }

  /// Returns the image for errors in the size that was asked for.
  private func standIn(_ order: Order, for error: LoadError, _ client: ByteString) async -> Rendered? {
    guard case .image = order.kind, error.code != .overloaded, !error.isCancellation else { return nil }
    if let fallback = order.fallback, let image = await standIn(order, fallback, client) { return image }
    guard let placeholder else { return nil }
    var request = order.request
    request.source = .data(placeholder, id: "placeholder")
    request.cacheAccess = .none
    return await standIn(order, Fallback(url: "", request: request), client)
  }

  private func standIn(_ order: Order, _ fallback: Fallback, _ client: ByteString) async -> Rendered? {
    let key = CacheKey { key in
      key.append(order.variant)
      key.append(fallback.url)
    }
    if let known = placeholders.value(for: key), known.isFresh(at: clock.now) { return known }
    budget.begin(fallback.url, for: client)
    defer { budget.end(fallback.url) }
    var request = fallback.request
    request.lane = client
    guard let image = try? await pipeline.encoded(for: request, as: order.encoding),
      let rendered = Rendered(image, for: order, at: clock.now, nil, bodies)
    else { return nil }
    placeholders.store(rendered, for: key, cost: rendered.body.count + 1024)
    return rendered
  }

  // MARK: Facts

  private func facts(_ order: Order) async throws(LoadError) -> Rendered {
    let data = try await pipeline.data(for: order.request)
    let (decoders, limits) = (pipeline.configuration.decoders, pipeline.configuration.decodeLimits)
    let source = order.request.source.description
    let result: Result<ImageInfo, any Error>
    do {
      // Blocks while a worker of the sandbox reads the header.
      result = .success(try await queue.run { _ in try decoders.info(of: data, limits: limits) })
    } catch {
      result = .failure(error)
    }
    switch result {
    case .success(let info):
      return Rendered(json: Self.json(info, byteCount: data.count), for: order, tier: "network")
    case .failure(let error):
      throw LoadError(.undecodable, stage: .decode, source: source, cause: error, "\(error)")
    }
  }

  /// The same keys as `vitrine info --json` prints.
  private static func json(_ info: ImageInfo, byteCount: Int) -> String {
    var text = "{\"format\":\"\(info.format.name)\",\"width\":\(info.width),\"height\":\(info.height)"
    text += ",\"orientation\":\(info.orientation.rawValue),\"frames\":\(info.frameCount)"
    text += ",\"hasAlpha\":\(info.hasAlpha),\"bytes\":\(byteCount)}\n"
    return text
  }
}
