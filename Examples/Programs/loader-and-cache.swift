// loader-and-cache FOLDER NAME: a pipeline over a loader and a cache of one's own.
import Foundation
import Synchronization
import Vitrine
import VitrineCaching
import VitrineHTTP

/// Values in memory, by name.
final class Shelf: SimpleDataCache {
  private let values = Mutex<[String: Data]>([:])

  func read(_ name: String) -> Data? { values.withLock { $0[name] } }
  func write(_ data: Data, _ name: String) { values.withLock { $0[name] = data } }
  func remove(_ prefix: String) { values.withLock { $0 = $0.filter { !$0.key.hasPrefix(prefix) } } }
  func removeAll() { values.withLock { $0 = [:] } }
}

@main
enum LoaderAndCache {
  static func main() async throws {
    let (folder, name) = (URL(filePath: CommandLine.arguments[1]), CommandLine.arguments[2])
    let pipeline = ImagePipeline {
      $0.memoryCache = nil
      $0.diskCache = AdaptedDataCache(Shelf())
      // Whatever has pictures: here files, under a host that does not exist.
      $0.loader = WholeBodyLoader { request in
        let file = folder.appending(path: request.url.string.split(separator: "/").last ?? "")
        let fields: HTTPFields = ["Cache-Control": "max-age=60"]
        return (HTTPResponse(status: 200, headers: fields, url: request.url), try Data(contentsOf: file))
      }
    }
    for _ in 0..<2 {
      let response = try await pipeline.imageTask(for: "https://pictures.invalid/\(name)").response
      print(response.origin, response.image.width, response.image.height)
      await pipeline.cache.flush()
    }
  }
}
