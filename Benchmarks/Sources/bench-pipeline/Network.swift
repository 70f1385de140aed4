import Contest
import Foundation
import Vitrine
import VitrineHTTP

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Images from a local server in its own process, whose CPU time is not counted.
func benchNetwork(_ photographs: Photographs, in scratch: URL, rounds: Int) async throws -> [String] {
  let server = try await Server(of: photographs.folder, in: scratch)
  defer { server.stop() }
  say("\nServed by \(server.name), over plain HTTP/1.1 and at most 6 connections.")

  let urls = photographs.names.map { "http://127.0.0.1:\(server.port)/\($0)" }
  let addresses = urls.compactMap { URL(string: $0) }
  let size = TargetSize.pixels(300, 300)
  let expected = photographs.files.map(\.count)
  @Sendable
  func check(_ index: Int, _ count: Int) throws {
    guard count == expected[index] else { throw BenchmarkError("\(count) bytes instead of \(expected[index])") }
  }

  let loader = CurlLoader()
  let pipeline = ImagePipeline(.ephemeral) {
    $0.memoryCache = nil
    $0.loader = loader
  }
  let requests = try urls.map { try HTTPRequest($0) }
  let originals = urls.map { ImageRequest(url: $0) }
  let thumbnails = urls.map { ImageRequest(url: $0, size: size) }

  let configuration = URLSessionConfiguration.ephemeral
  configuration.urlCache = nil
  configuration.httpMaximumConnectionsPerHost = 6
  let session = URLSession(configuration: configuration)
  defer { session.invalidateAndCancel() }

  var failures = try await contest(
    "From a server: 50 KB, six at a time",
    [
      Contestant(name: "`await pipeline.data(for:)`") { count in
        try await six(count, of: urls.count) { try check($0, try await pipeline.data(for: originals[$0]).count) }
      },
      Contestant(name: "`await CurlLoader.data(for:)`", target: 120_000) { count in
        try await six(count, of: urls.count) { try check($0, try await loader.data(for: requests[$0]).1.count) }
      },
      Contestant(name: "`await URLSession.data(from:)`") { count in
        try await six(count, of: urls.count) { try check($0, try await session.data(from: addresses[$0]).0.count) }
      },
    ],
    count: 2 * Photographs.count,
    rounds: rounds,
  )
  failures += try await contest(
    "From a server: 50 KB to 300 px, six at a time",
    [
      Contestant(name: "`await pipeline.image(for:)`") { count in
        try await six(count, of: urls.count) { _ = try await pipeline.image(for: thumbnails[$0]) }
      },
      Contestant(name: "`await URLSession.data(from:)` and `Bitmap(decoding:size:)`") { count in
        try await six(count, of: urls.count) {
          _ = try Bitmap(decoding: try await session.data(from: addresses[$0]).0, size: size)
        }
      },
    ],
    count: Photographs.count,
    rounds: rounds,
  )
  return failures
}

/// Calls `body` this many times, from six tasks that each take the next as soon as they are free.
private func six(
  _ count: Int,
  of total: Int,
  _ body: @escaping @Sendable (_ index: Int) async throws -> Void,
) async throws {
  try await withThrowingTaskGroup(of: Void.self) { group in
    for lane in 0..<6 {
      group.addTask {
        for index in stride(from: lane, to: count, by: 6) { try await body(index % total) }
      }
    }
    try await group.waitForAll()
  }
}
