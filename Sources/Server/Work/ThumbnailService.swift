import Synchronization
import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTiers

/// An image that answers all requests with one target and the same fields.
private struct KnownAnswer: Sendable {
  let image: Rendered
  let terms: AnswerTerms
}

/// Answers requests for thumbnails.
final class ThumbnailService: RequestAnswering {
  typealias Product = Result<Rendered, Refusal>

  let pipeline: ImagePipeline
  let metrics: ServerMetrics
  let flights: Flights<Product>
  private let configuration: ThumbnailServer.Configuration
  private let ordering: Ordering
  private let rules: AnswerRules
  private let answers: MemoryCache<KnownAnswer>
  private let maker: ImageMaker
  private let budget: SourceBudget
  let bodies: BodyBudget
  private let log: AccessLog?
  /// Sends spans to a collector; `nil` for none.
  let exporter: SpanExporter?
  /// The cache of this machine; `nil` for none.
  private let cache: (any DataCaching)?
  private let purgeCount = Atomic(0)
  private let isReady = Atomic(true)
  /// The number of open connections.
  let connectionCount = Lock<@Sendable () -> Int>({ 0 })

  init(
    _ configuration: ThumbnailServer.Configuration,
    _ pipeline: ImagePipeline,
    _ budget: SourceBudget,
    _ metrics: ServerMetrics,
    cache: (any DataCaching)?,
    log: AccessLog?,
    traces: SourceTraces? = nil,
    exporter: SpanExporter? = nil,
  ) throws(ServerError) {
    (self.configuration, self.pipeline, self.metrics, self.log) = (configuration, pipeline, metrics, log)
    self.exporter = exporter
    (ordering, rules) = (try Ordering(configuration, pipeline), AnswerRules(configuration))
    (self.budget, self.cache) = (budget, cache)
    (cache as? any WarningDataCaching)?.addWarning { [metrics] _ in
      metrics.change { $0.cacheWarnings += 1 }
      return true
    }
    // The answers in memory are among them.
    bodies = BodyBudget(limit: configuration.memory / 4)
    maker = try ImageMaker(pipeline, budget, bodies, traces, configuration)
    flights = Flights(limit: configuration.maxImages, time: configuration.requestTime, clock: configuration.clock)
    let bytes = min(configuration.memory / 16, 32 << 20)
    answers = MemoryCache(costLimit: bytes, entryCostLimit: bytes / 8, clock: configuration.clock)
  }

  /// Makes `/ready` say that no new requests are welcome.
  func drain() { isReady.store(false, ordering: .relaxed) }

  // MARK: Requests

  func react(to request: borrowing ReceivedRequest, _ exchange: Exchange) -> Reaction {
    if configuration.trustsForwardedFor, let name = forwarded(request) { exchange.client = name }
    switch request.method {
    case "GET", "HEAD": break
    case "OPTIONS": return .answer(options)
    case "DELETE", "PURGE": return purge(request, exchange)
    default: return .answer(.text(405, "only GET, HEAD and OPTIONS are allowed", fields: [("Allow", Self.allowed)]))
    }
    switch request.target {
    case "/health": return .answer(.text(200, "ok", fields: Self.unstored))
    case "/ready":
      let isReady = isReady.load(ordering: .relaxed)
      return .answer(.text(isReady ? 200 : 503, isReady ? "ready" : "draining", fields: Self.unstored))
    case "/metrics": return metricsReaction(request, exchange)
    default: return image(request, exchange)
    }
  }

  private static let allowed = "GET, HEAD, OPTIONS"
  private static let unstored = [(name: "Cache-Control", value: "no-store")]

  private var options: Answer {
    var fields = [(name: "Allow", value: Self.allowed)]
    if let origin = configuration.sharedOrigin {
      fields += [
        ("Access-Control-Allow-Origin", origin), ("Access-Control-Allow-Methods", Self.allowed),
        ("Access-Control-Allow-Headers", "*"), ("Access-Control-Max-Age", "86400"),
      ]
    }
    return Answer(status: 204, fields: fields)
  }

  private func image(_ request: borrowing ReceivedRequest, _ exchange: Exchange) -> Reaction {
    exchange.trace = request["traceparent"].flatMap { TraceContext($0) }
    let key = CacheKey { key in
      key.append(request.target)
      key.append(ordering.fields(request))
    }
    let conditions = Conditions(ifNoneMatch: request["If-None-Match"], ifModifiedSince: request["If-Modified-Since"])
    let now = configuration.clock.now
    if let known = answers.value(for: key), known.image.isFresh(at: now), known.terms.areValid(at: now) {
      var answer = rules.answer(known.image, known.terms, conditions, at: now, tier: "memory")
      answer.fields.append((name: "Server-Timing", value: "memory"))
      return .answer(answer)
    }
    let order: Order
    do throws(Refusal) {
      order = try ordering.order(request, at: configuration.clock.now)
    } catch {
      return .answer(refuse(error, exchange))
    }
    if let place = order.redirect {
      return .answer(
        .text(303, "the picture is described at \(place)", fields: rules.harmless + [("Location", place)])
      )
    }
    let client = ClientName.of(exchange.client)
    guard !bodies.isFull, !flights.isFull(for: order.key, client: client) else {
      return .answer(answer(.failure(.overloaded), order, key, conditions, exchange, purges: 0, since: .zero))
    }
    return .wait { [self] in begin(order, key, client, conditions, exchange) }
  }

  private func begin(
    _ order: Order,
    _ key: CacheKey,
    _ client: ByteString,
    _ conditions: Conditions,
    _ exchange: Exchange,
  ) {
    let (purges, began) = (purgeCount.load(ordering: .acquiring), configuration.clock.uptime)
    exchange.onLeave { [flights, number = exchange.number] in flights.leave(order.key, as: number) }
    if exporter != nil, exchange.trace == nil { exchange.trace = TraceContext() }
    let (maker, trace) = (maker, exchange.trace)
    let source = order.request.fetchKey
    let joined = flights.join(order.key, of: source, client: client, as: exchange.number) {
      await maker.make(order, for: client, trace)
    } _: { [self] result in
      exchange.finish(answer(result, order, key, conditions, exchange, purges: purges, since: began))
    }
    // Its leaving may have come before there was anything to leave.
    if exchange.hasLeft { flights.leave(order.key, as: exchange.number) }
    if joined { metrics.change { $0.joined += 1 } }
  }

  private func answer(
    _ result: Result<Product, Flights<Product>.Failure>,
    _ order: Order,
    _ key: CacheKey,
    _ conditions: Conditions,
    _ exchange: Exchange,
    purges: Int,
    since began: Duration,
  ) -> Answer {
    switch result {
    case .success(.success(let rendered)):
      let now = configuration.clock.now
      if rendered.damage != nil { metrics.change { $0.damaged += 1 } }
      // What was asked for before a purge replaces nothing that came after it.
      if rendered.isStorable, rendered.isFresh(at: now), purgeCount.load(ordering: .acquiring) == purges {
        let known = KnownAnswer(image: rendered, terms: order.terms)
        answers.store(known, for: key, cost: rendered.body.count + 1024, group: rendered.source)
        // Nor does it outlive a purge that began meanwhile.
        if purgeCount.load(ordering: .acquiring) != purges { answers.remove(key) }
      }
      var answer = rules.answer(rendered, order.terms, conditions, at: now)
      let time = JSONText.milliseconds(configuration.clock.uptime - began)
      let stages = rendered.times?.text ?? ""
      answer.times = rendered.times
      answer.fields.append((name: "Server-Timing", value: "\(rendered.tier);dur=\(time)\(stages)"))
      return answer
    case .success(.failure(let refusal)): return refuse(refusal, exchange, order.terms)
    case .failure(.overloaded):
      metrics.change { $0.refused += 1 }
      let text = "too many images are being made; try again in a moment"
      return refuse(Refusal(status: 503, text: text, code: "overloaded"), exchange)
    case .failure(.outOfTime):
      return refuse(Refusal(status: 504, text: "the image took too long", code: "requestTimedOut"), exchange)
    case .failure(.left):
      metrics.change { $0.left += 1 }
      // No client reads it.
      return Answer(status: 499, closes: true)
    case .failure(.ending):
      return refuse(Refusal(status: 503, text: "the server is about to end", code: "ending"), exchange)
    }
  }

  /// Returns the answer for an error: a short text with the id of the request.
  private func refuse(_ refusal: Refusal, _ exchange: Exchange, _ terms: AnswerTerms = AnswerTerms()) -> Answer {
    var fields = rules.harmless
    // A short freshness keeps a proxy from asking again at once.
    var age = refusal.status == 404 ? "public, max-age=10" : "no-store"
    if refusal.status == 503 { fields.append((name: "Retry-After", value: "1")) }
    if refusal.placeholder != nil, let own = configuration.placeholderAge {
      age = "public, max-age=\(own.components.seconds)"
    }
    fields.append((name: "Cache-Control", value: age))
    var answer: Answer
    if let placeholder = refusal.placeholder {
      // It has the form that was asked for.
      if let vary = AnswerRules.vary(terms) { fields.append(vary) }
      fields.append((name: "Content-Type", value: placeholder.mediaType))
      fields.append((name: "Fallback-Image", value: "1"))
      let status = configuration.placeholderStatus ?? refusal.status
      answer = Answer(status: status, fields: fields, body: placeholder.body)
    } else {
      answer = .text(refusal.status, "\(refusal.text) (request \(exchange.id))", fields: fields)
    }
    answer.reason = refusal.reason ?? refusal.text
    answer.errorCode = refusal.code
    return answer
  }

  /// Returns the address that the proxy in front has added; those before it are the client's words.
  private func forwarded(_ request: borrowing ReceivedRequest) -> String? {
    // It may be in a line of its own.
    let last = request.values(of: "X-Forwarded-For").last?.split(separator: ",").last
    return last.map { String($0.trimmingSpaces.prefix(64)) }.flatMap { $0.isEmpty ? nil : $0 }
  }

  // MARK: Purging and seeing

  private func purge(_ request: borrowing ReceivedRequest, _ exchange: Exchange) -> Reaction {
    guard let token = configuration.purgeToken else {
      return .answer(.text(405, "purging is switched off", fields: [("Allow", Self.allowed)]))
    }
    guard Self.carries(token, request["Authorization"]) else {
      return .answer(.text(401, "a token is needed", fields: [("WWW-Authenticate", "Bearer")]))
    }
    let order: Order
    do throws(Refusal) {
      order = try ordering.order(request, at: configuration.clock.now)
    } catch {
      return .answer(refuse(error, exchange))
    }
    return .wait { [self] in
      Task { [self] in
        await purge(order.request)
        exchange.finish(.text(200, "purged", fields: Self.unstored))
      }
    }
  }

  /// Removes everything made of a source; a running load goes to the clients that have asked for it, and nowhere else.
  func purge(_ request: ImageRequest) async {
    let source = request.fetchKey
    beginAnew(source)
    metrics.change { $0.purges += 1 }
    await maker.pictures.close(source)
    await pipeline.cache.remove(request)
    // An order that began during the removal may have found the original.
    beginAnew(source)
    answers.removeAll { $1.image.source == source }
  }

  /// Keeps products that are under way from later requests, and from the answers in memory.
  private func beginAnew(_ source: CacheKey) {
    purgeCount.wrappingAdd(1, ordering: .acquiringAndReleasing)
    flights.detach(source)
  }

  private func metricsReaction(_ request: borrowing ReceivedRequest, _ exchange: Exchange) -> Reaction {
    if let token = configuration.metricsToken, !Self.carries(token, request["Authorization"]) {
      return .answer(.text(401, "a token is needed", fields: [("WWW-Authenticate", "Bearer")]))
    }
    guard let cache else { return .answer(metricsAnswer(nil)) }
    return .wait { [self] in
      Task { [self] in exchange.finish(metricsAnswer(await cache.statistics())) }
    }
  }

  private func metricsAnswer(_ cache: DataCacheStatistics?) -> Answer {
    var gauges = ServerMetrics.Gauges()
    let statistics = answers.statistics
    gauges.connections = connectionCount.withLock { $0 }()
    gauges.running = pipeline.makingCount
    gauges.waiting = max(0, flights.count - gauges.running)
    (gauges.memoryEntries, gauges.memoryBytes) = (statistics.count, statistics.cost)
    (gauges.sourceBytes, gauges.bodyBytes) = (budget.byteCount, bodies.byteCount)
    gauges.isReady = isReady.load(ordering: .relaxed)
    gauges.cache = cache
    gauges.tiers = (pipeline.configuration.diskCache as? TieredDataCache)?.tierStatistics ?? []
    let fields = [(name: "Content-Type", value: "text/plain; version=0.0.4; charset=utf-8")] + Self.unstored
    return Answer(status: 200, fields: fields, body: Body(metrics.text(gauges)))
  }

  /// Compares in a time that does not tell how much is right.
  private static func carries(_ token: String, _ authorization: String?) -> Bool {
    guard let authorization else { return false }
    let (given, wanted) = (SHA256.hash(authorization.utf8), SHA256.hash("Bearer \(token)".utf8))
    return zip(given, wanted).reduce(0) { $0 | $1.0 ^ $1.1 } == 0
  }

  func ended(_ exchange: Exchange, _ outcome: ExchangeOutcome) {
    let answer = outcome.answer
    let thread = exchange.connection.threadIndex
    metrics.change(of: thread) { counts in
      counts.byStatus[answer.status, default: 0] += 1
      if let tier = answer.tier { counts.byTier[tier, default: 0] += 1 }
      if let code = answer.errorCode { counts.byError[code, default: 0] += 1 }
      if outcome.isComplete { counts.bytes += answer.body?.count ?? 0 }
      counts.requests.add(outcome.duration)
    }
    // A trace without a parent was begun for work of this server's.
    if let exporter, let trace = exchange.trace, trace.isSampled {
      exporter.add(outcome.spans(exchange, trace, endedAt: configuration.clock.now))
    }
    log?.add(outcome.line(exchange, at: configuration.clock.now), of: thread)
  }
}
