import Contest
import Foundation
import Vitrine
import VitrineAVIF
import VitrineHEIF
import VitrineTIFF
import VitrineTiles

/// Measures one file, and prints its row of the first table and its row of the second.
func measure(file: String) async throws {
  let folder = FileManager.default.temporaryDirectory.appending(path: "vitrine-tiles-\(UUID().uuidString)")
  defer { try? FileManager.default.removeItem(at: folder) }
  let name = URL(filePath: file).lastPathComponent
  let size = try Data(contentsOf: URL(filePath: file)).count
  let clock = ContinuousClock()
  var random = SystemRandomNumberGenerator()

  let begin = clock.now
  let pipeline = try makePipeline(folder)
  let image = try await pipeline.tiledImage(for: ImageRequest(.file(file)))
  let opened = clock.now - begin
  var first: Duration?
  for try await _ in image.overviews(maximum: 2048) where first == nil { first = clock.now - begin }
  let whole = clock.now - begin
  // The pass goes on behind the overview until its last tile is stored.
  await pipeline.cache.flush()
  let all = clock.now - begin
  let tiles = try await tileTimes(image, &random)
  var row = "| \(name) | \(size / 1_000_000) | \(milliseconds(opened)) | \(milliseconds(first ?? whole))"
  row +=
    " | \(milliseconds(whole)) | \(milliseconds(all)) | \(milliseconds(tiles.median)) | \(milliseconds(tiles.most))"
  row += " | \(number(processorTime() / 1e9)) | \(peakMemory() / 1_000_000) |"
  say(row)
  await pipeline.cache.flush()
  let stored = await (pipeline.configuration.diskCache as? DiskCache)?.statistics().bytes ?? 0
  await (pipeline.configuration.diskCache as? DiskCache)?.close()

  let next = try makePipeline(folder)
  let start = clock.now
  let found = try await next.tiledImage(for: ImageRequest(.file(file)))
  for try await _ in found.overviews(maximum: 2048) {}
  let wholeAgain = clock.now - start
  let tilesAgain = try await tileTimes(found, &random)
  say(
    "| \(name) | \(milliseconds(wholeAgain)) | \(milliseconds(tilesAgain.median)) | \(milliseconds(tilesAgain.most))"
      + " | \(stored / 1_000_000) |"
  )
}

private func makePipeline(_ folder: URL) throws -> ImagePipeline {
  let disk = try DiskCache(directory: folder, sizeLimit: 1 << 30)
  return ImagePipeline(.ephemeral) {
    $0.diskCache = disk
    // All coefficients of a progressive JPEG must be held.
    $0.decodeLimits.memoryByteCount = 1_000_000_000
    $0.decodeLimits.heldPixelCount = 200_000_000
    $0.decoders.add(.avif)
    $0.decoders.add(.heif)
    $0.decoders.add(.tiff)
  }
}

/// Loads tiles in random places one after the other.
private func tileTimes(
  _ image: TiledImage,
  _ random: inout SystemRandomNumberGenerator,
) async throws -> (median: Duration, most: Duration) {
  var times: [Duration] = []
  let clock = ContinuousClock()
  for index in 0..<60 {
    let level = min(index % 3, image.levels.upperBound)
    let count = image.tileCount(ofLevel: level)
    let tile = TiledImage.Tile(
      level: level,
      column: Int.random(in: 0..<count.columns, using: &random),
      row: Int.random(in: 0..<count.rows, using: &random),
    )
    let begin = clock.now
    _ = try await image.tile(tile)
    times.append(clock.now - begin)
  }
  times.sort()
  return (times[times.count / 2], times[times.count - 1])
}

private func milliseconds(_ duration: Duration) -> String {
  String(format: duration < .milliseconds(20) ? "%.1f" : "%.0f", duration / .milliseconds(1))
}

/// The largest amount of memory that this process has had, in bytes.
private func peakMemory() -> Int {
  var usage = rusage()
  getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
  return usage.ru_maxrss * 1024
}

/// Runs a program, and returns what it prints.
func output(_ program: String, _ arguments: [String]) throws -> String {
  let process = Process()
  process.executableURL = URL(filePath: program)
  process.arguments = arguments
  let pipe = Pipe()
  process.standardOutput = pipe
  try process.run()
  let data = pipe.fileHandleForReading.readDataToEndOfFile()
  process.waitUntilExit()
  guard process.terminationStatus == 0 else {
    throw BenchmarkError("\(program) \(arguments.joined(separator: " ")): status \(process.terminationStatus)")
  }
  return String(decoding: data, as: UTF8.self)
}

/// Has libvips make a pyramid of a file, and returns its row of the third table.
func pyramidOfVips(_ file: String) throws -> String {
  let folder = FileManager.default.temporaryDirectory.appending(path: "vitrine-dzsave-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  let name = URL(filePath: file).lastPathComponent
  let measure = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "measure").path
  let target = folder.appending(path: "pyramid").path
  let line = try output(measure, ["vips", "dzsave", file, target, "--tile-size", "512", "--overlap", "0"])
  let fields = line.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
  guard fields.count == 4, fields[3] == 0 else { return "| \(name) | cannot | | |" }
  return "| \(name) | \(milliseconds(.microseconds(Int(fields[1])))) | \(number(fields[0] / 1e6))"
    + " | \(Int(fields[2]) / 1000) |"
}
