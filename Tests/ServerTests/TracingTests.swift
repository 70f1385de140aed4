import Foundation
import Testing
import Vitrine
import VitrineHTTP
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineServing

@Suite(.patient)
struct TracingTests {
  private static let field = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
  private static let collector = "http://collector.invalid:4318"

  private struct Body: Decodable {
    struct Resource: Decodable { var scopeSpans: [Scope] }
    struct Scope: Decodable { var spans: [Entry] }
    struct Value: Decodable { var stringValue: String }
    struct Attribute: Decodable {
      var key: String
      var value: Value
    }
    struct Entry: Decodable {
      var traceId, spanId, name: String
      var parentSpanId: String?
      var kind: Int
      var startTimeUnixNano, endTimeUnixNano: String
      var attributes: [Attribute]
    }
    var resourceSpans: [Resource]
    var spans: [Entry] { resourceSpans.flatMap(\.scopeSpans).flatMap(\.spans) }
  }

  private func loader(status: Int = 200) -> FakeLoader {
    let loader = FakeLoader()
    loader.answer(TestServer.source, with: TestServer.photograph)
    loader.answer(Self.collector + "/v1/traces", FakeResponse(status: status))
    return loader
  }

  private func spans(_ loader: FakeLoader) throws -> [Body.Entry] {
    try loader.requests.filter { $0.url.string.hasSuffix("/v1/traces") }.flatMap { request in
      #expect(request.headers["Content-Type"] == "application/json")
      return try JSONDecoder().decode(Body.self, from: request.body ?? Data()).spans
    }
  }

  @Test
  func aFieldIsReadAsTheSpecificationSays() throws {
    let trace = try #require(TraceContext(Self.field))
    #expect((trace.trace, trace.parent) == ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"))
    #expect(trace.isSampled && TraceContext(Self.field.dropLast() + "0")?.isSampled == false)
    #expect(trace.field == "00-\(trace.trace)-\(trace.span)-01")
    #expect(trace.span != trace.parent)
    // A later version may have more parts.
    #expect(TraceContext("cc" + Self.field.dropFirst(2) + "-more")?.trace == trace.trace)
  }

  @Test(arguments: [
    "", "00", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
    "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
    "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
    "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x",
    "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0g",
  ])
  func aMalformedFieldIsNone(_ field: String) { #expect(TraceContext(field) == nil) }

  @Test
  func aRequestAndItsStagesAreSpansOfItsTrace() async throws {
    let loader = loader()
    let server = try TestServer(loader) { $0.traceCollector = Self.collector }
    #expect(try await server.get(TestServer.target(), ["traceparent": Self.field]).response.status == 200)
    await server.server.stop()
    let spans = try spans(loader)
    let request = try #require(spans.first { $0.kind == 2 })
    #expect((request.traceId, request.parentSpanId) == ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"))
    #expect(request.name == "GET thumbnail")
    let values = Dictionary(uniqueKeysWithValues: request.attributes.map { ($0.key, $0.value.stringValue) })
    #expect(values["http.response.status_code"] == "200")
    #expect(values["url.path"] == TestServer.target())
    let parts = spans.filter { $0.kind == 1 }
    #expect(Set(parts.map(\.name)).isSuperset(of: ["fetch", "decode", "encode"]))
    for part in parts {
      #expect((part.traceId, part.parentSpanId) == (request.traceId, request.spanId))
      let (start, end) = (try #require(Int64(part.startTimeUnixNano)), try #require(Int64(part.endTimeUnixNano)))
      #expect(start <= end)
    }
    #expect(Set(spans.map(\.spanId)).count == spans.count)
  }

  @Test
  func whatIsNotSampledOrAnsweredFromMemoryHasNoSpans() async throws {
    let loader = loader()
    let server = try TestServer(loader) { $0.traceCollector = Self.collector }
    let unsampled: HTTPFields = ["traceparent": String(Self.field.dropLast()) + "0"]
    #expect(try await server.get(TestServer.target(), unsampled).response.status == 200)
    #expect(try await server.get().response.headers["Server-Timing"]?.hasPrefix("memory") == true)
    await server.server.stop()
    #expect(try spans(loader).isEmpty)
  }

  @Test
  func aRequestWithoutATraceBeginsOne() async throws {
    let loader = loader()
    let server = try TestServer(loader) { $0.traceCollector = Self.collector }
    #expect(try await server.get().response.status == 200)
    await server.server.stop()
    let request = try #require(try spans(loader).first { $0.kind == 2 })
    #expect(request.parentSpanId == nil && request.traceId.count == 32)
  }

  @Test(arguments: [false, true])
  func sourcesAreToldIfThatIsSet(_ isSet: Bool) async throws {
    let loader = loader()
    let server = try TestServer(loader) { $0.tracesSources = isSet }
    #expect(try await server.get(TestServer.target(), ["traceparent": Self.field]).response.status == 200)
    await server.server.stop()
    let field = try #require(loader.requests.first).headers["traceparent"]
    #expect((field?.hasPrefix("00-4bf92f3577b34da6a3ce929d0e0e4736-") == true) == isSet)
    #expect(field?.contains("00f067aa0ba902b7") != true)
  }

  @Test
  func aCollectorThatIsAwayDelaysNothingAndLosesACountedNumber() async throws {
    let (loader, clock, metrics) = (FakeLoader(), ManualClock(), ServerMetrics())
    let exporter = SpanExporter(Self.collector + "/", loader, clock, metrics)
    func add(_ count: Int) {
      for _ in 0..<count { exporter.add([Span(trace: TraceContext(), name: "a", began: clock.now, duration: .zero)]) }
    }
    // One batch is under way, and does not end.
    add(SpanExporter.batch)
    let load = try await loader.nextLoad(of: Self.collector + "/v1/traces")
    add(SpanExporter.limit + 10)
    #expect(metrics.counts.droppedSpans == 10)
    loader.answer("*", FakeResponse(status: 503))
    load.fail(.timedOut)
    await exporter.end()
    #expect(metrics.counts.droppedSpans == SpanExporter.batch + SpanExporter.limit + 10)
  }

  @Test
  func theEndWaitsForACollectorNoLongerThanForOneTransfer() async throws {
    let (loader, clock, metrics) = (FakeLoader(), ManualClock(), ServerMetrics())
    let exporter = SpanExporter(Self.collector, loader, clock, metrics)
    let count = 4 * SpanExporter.batch
    exporter.add((0..<count).map { _ in Span(trace: TraceContext(), name: "a", began: clock.now, duration: .zero) })
    let load = try await loader.nextLoad(of: Self.collector + "/v1/traces")
    exporter.beginEnd()
    // The first batch fails after its time; nothing is tried after that.
    clock.advance(by: .seconds(6))
    loader.answer("*", FakeResponse(status: 200))
    load.fail(.timedOut)
    await exporter.end()
    #expect(loader.counts.loads == 1)
    #expect(metrics.counts.droppedSpans == count)
  }

  @Test
  func spansAreSentTogetherAfterAMoment() async throws {
    let (loader, clock, metrics) = (FakeLoader(), ManualClock(), ServerMetrics())
    loader.answer("*", FakeResponse(status: 200))
    let exporter = SpanExporter(Self.collector, loader, clock, metrics)
    for _ in 0..<3 {
      exporter.add([Span(trace: TraceContext(), name: "a\"b", began: clock.now, duration: .seconds(1))])
    }
    #expect(loader.counts.loads == 0)
    clock.advance(by: .seconds(5))
    try await until { loader.counts.loads == 1 }
    await exporter.end()
    let sent = try spans(loader)
    #expect(sent.map(\.name) == ["a\"b", "a\"b", "a\"b"])
    #expect(metrics.counts.droppedSpans == 0)
  }
}
