import Contest
import Foundation
import Vitrine
import VitrineHTTP
import VitrineTesting

/// A page of 200 images at 200 px, loaded all at once from two hosts with 6 connections each, in four priorities.
///
/// Some images are requested twice, some are in memory at a larger size, and some have their bytes on disk.
func loadPage(in scratch: URL) async throws -> [PageRow] {
  let photographs = try pagePhotographs(in: scratch)
  let count = 200
  let hosts = try (0..<2).map { _ in try LoopbackServer() }
  for (index, host) in hosts.enumerated() {
    host.route("*") { exchange in
      let number = Int(exchange.request.path.dropFirst().prefix { $0 != "." }) ?? 0
      let body = photographs[number % photographs.count]
      // A remote server: 12 to 43 ms until it answers, then a body in four pieces.
      usleep(useconds_t(12_000 + 1000 * ((number * 7 + index * 5) % 32)))
      let headers: HTTPFields = ["Content-Length": "\(body.count)", "Cache-Control": "max-age=86400"]
      guard exchange.sendHead(200, headers) else { return }
      let piece = max(1, (body.count + 3) / 4)
      for start in stride(from: 0, to: body.count, by: piece) {
        usleep(2000)
        guard exchange.send(Data(body.dropFirst(start).prefix(piece))) else { return }
      }
      exchange.complete()
    }
  }
  func address(_ number: Int) -> String { hosts[number % hosts.count].url("/\(number).jpg") }

  let size = TargetSize.pixels(200, 200)
  var requests: [(request: ImageRequest, note: String)] = []
  for index in 0..<count {
    let priority: Priority = index < 24 ? .veryHigh : index < 72 ? .high : index < 136 ? .normal : .low
    // Every eighth is already on the page.
    let number = index % 8 == 7 ? index - 5 : index
    var request = ImageRequest(url: address(number), size: size, priority: priority)
    if index % 4 == 1 { request.processors = [.resize(.pixels(150, 150, .fill))] }
    requests.append((request, index % 8 == 7 ? "requested twice" : ""))
  }

  let memory = MemoryCache<CachedImage>(costLimit: 256 << 20)
  let disk = try DiskCache(directory: scratch.appending(path: "page-cache"), sizeLimit: 200 << 20)
  // Left by an earlier visit: larger images in memory, and bytes on disk.
  let earlier = ImagePipeline(.ephemeral) {
    $0.memoryCache = memory
    $0.diskCache = disk
    $0.loader = CurlLoader()
    $0.storagePolicy = .original
  }
  for index in stride(from: 4, to: count, by: 16) {
    _ = try await earlier.image(for: ImageRequest(url: address(index), size: .pixels(400, 400)))
    // Ensures that the image in memory is used.
    await earlier.cache.remove(ImageRequest(url: address(index)), in: .disk)
    requests[index].note = "a larger variant in memory"
  }
  for index in stride(from: 10, to: count, by: 16) {
    _ = try await earlier.data(for: ImageRequest(url: address(index)))
    requests[index].note = "on disk"
  }
  await earlier.cache.flush()

  let pipeline = ImagePipeline(.ephemeral) {
    $0.memoryCache = memory
    $0.diskCache = disk
    // A new loader, which has to open connections.
    $0.loader = CurlLoader()
    $0.storagePolicy = .original
    $0.collectsMetrics = true
  }
  let tasks = requests.map { pipeline.imageTask(for: $0.request) }
  var rows: [PageRow] = []
  for (task, (request, note)) in zip(tasks, requests) {
    _ = try await task.image
    guard let metrics = task.metrics else { throw BenchmarkError("metrics are missing") }
    rows.append(PageRow(metrics: metrics, priority: request.priority, note: note))
  }
  await disk.close()
  withExtendedLifetime(hosts) {}
  return rows
}

/// One request of the page.
struct PageRow {
  let metrics: RequestMetrics
  let priority: Priority
  let note: String
}

/// Real photographs if there are any (VITRINE_CORPUS), otherwise those of the package, as JPEG files.
private func pagePhotographs(in scratch: URL) throws -> [Data] {
  var files: [Data] = []
  if let corpus = ProcessInfo.processInfo.environment["VITRINE_CORPUS"] {
    let paths = FileManager.default.enumerator(atPath: corpus)?.compactMap { $0 as? String } ?? []
    for path in paths.sorted() where path.lowercased().hasSuffix(".jpg") && files.count < 60 {
      guard let file = FileManager.default.contents(atPath: "\(corpus)/\(path)"),
        (20_000..<600_000).contains(file.count),
        let image = try? Bitmap(decoding: file, size: .pixels(400, 400)), max(image.width, image.height) == 400
      else { continue }
      files.append(file)
    }
  }
  return files.count >= 20 ? files : try Photographs(in: scratch.appending(path: "page")).files
}
