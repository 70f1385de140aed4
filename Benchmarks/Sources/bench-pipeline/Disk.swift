import Contest
import Foundation
import Vitrine
import VitrineTesting

/// Images whose bytes are in the disk cache and in the system's page cache, as after a restart of the program.
func benchDisk(_ photographs: Photographs, in folder: URL, rounds: Int) async throws -> [String] {
  let loader = FakeLoader()
  let bodies = Dictionary(uniqueKeysWithValues: zip(photographs.names, photographs.files))
  loader.answer("*") { request in
    let name = request.url.string.split(separator: "/").last.map(String.init) ?? ""
    return FakeResponse(headers: ["Cache-Control": "max-age=86400"], body: bodies[name] ?? Data())
  }
  let cache = try DiskCache(directory: folder, sizeLimit: 100 << 20)
  let pipeline = ImagePipeline(.ephemeral) {
    $0.memoryCache = nil
    $0.diskCache = cache
    $0.loader = loader
  }
  let urls = photographs.names.map { "https://example.org/\($0)" }
  for url in urls { _ = try await pipeline.data(for: ImageRequest(url: url)) }
  // Images are stored shortly after they are loaded.
  while await cache.statistics().entries < urls.count { try await Task.sleep(for: .milliseconds(1)) }
  await cache.flush()

  let size = TargetSize.pixels(300, 300)
  let originals = urls.map { ImageRequest(url: $0) }
  let thumbnails = urls.map { ImageRequest(url: $0, size: size) }
  let paths = photographs.names.map { photographs.folder.appending(path: $0) }

  var failures = try await contest(
    "On disk: 50 KB, one after the other",
    [
      Contestant(name: "`await pipeline.data(for:)`", target: 20_000, allocationLimit: 20) { count in
        for index in 0..<count { _ = try await pipeline.data(for: originals[index % originals.count]) }
      },
      Contestant(name: "`Data(contentsOf:)` of a file, for comparison") { count in
        for index in 0..<count { _ = try Data(contentsOf: paths[index % paths.count]) }
      },
    ],
    count: 2 * Photographs.count,
    rounds: rounds,
  )
  failures += try await contest(
    "On disk: 50 KB to 300 px, one after the other",
    [
      Contestant(name: "`await pipeline.image(for:)`") { count in
        for index in 0..<count { _ = try await pipeline.image(for: thumbnails[index % thumbnails.count]) }
      },
      Contestant(name: "`Data(contentsOf:)` and `Bitmap(decoding:size:)`, for comparison") { count in
        for index in 0..<count {
          _ = try Bitmap(decoding: try Data(contentsOf: paths[index % paths.count]), size: size)
        }
      },
    ],
    count: Photographs.count,
    rounds: rounds,
  )
  guard loader.counts.loads == urls.count else { throw BenchmarkError("an image was missing on disk") }
  await cache.close()
  return failures
}
