// make bench NAME=s3: what requests of a cache in a bucket cost, in this process and on the clock.
//
// The server is SeaweedFS on the same machine, so that the times on the clock are those of a server without a network.
// Arguments: the path of `weed`, a folder to work in.

import Foundation
import Vitrine
import VitrineCaching
import VitrineS3

/// Prints a line and flushes it, even if the output is not a terminal.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

guard CommandLine.arguments.count > 2 else {
  say("bench-s3: the arguments are the path of weed and a folder")
  exit(2)
}
let (program, folder) = (CommandLine.arguments[1], CommandLine.arguments[2])
let port = Int.random(in: 20_000..<30_000)

let identities = #"""
  {"identities": [{"name": "bench", "credentials": [{"accessKey": "AKID", "secretKey": "secret"}],
    "actions": ["Admin", "Read", "List", "Write"]}]}
  """#
try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
try Data(identities.utf8).write(to: URL(filePath: folder + "/identities.json"))
let server = Process()
server.executableURL = URL(filePath: program)
server.arguments = [
  "mini", "-dir=\(folder)", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-s3.port=\(port)", "-master.port=\(port + 1)",
  "-volume.port=\(port + 2)", "-filer.port=\(port + 3)", "-admin.port=\(port + 4)", "-s3.port.iceberg=0",
  "-s3.port.lance=0", "-webdav=false", "-admin.ui=false", "-s3.config=\(folder)/identities.json", "-bucket=bench",
]
(server.standardOutput, server.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
try server.run()
defer {
  kill(server.processIdentifier, SIGKILL)
  try? FileManager.default.removeItem(atPath: folder)
}

func processorTime() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

func makeClient(_ change: (inout S3Configuration) -> Void = { _ in }) throws -> S3Client {
  var configuration = S3Configuration(
    endpoint: try HTTPURL("http://127.0.0.1:\(port)"),
    credentials: .fixed(S3Credentials(accessKeyID: "AKID", secretAccessKey: "secret")),
  )
  change(&configuration)
  return try S3Client(configuration)
}

@Sendable
func key(_ number: Int, _ size: Int) -> CacheKey {
  CacheKey {
    $0.append("url")
    $0.append("https://images.example.org/\(size)/\(number).jpg")
  }
}

func entry(_ number: Int, _ size: Int) -> CachedData {
  var state = UInt64(number) | 1
  let data = Data(
    (0..<size).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return UInt8(truncatingIfNeeded: state >> 56)
    }
  )
  return CachedData(data: data, metadata: Data(count: 300), contentID: ContentID(of: data), stored: Date())
}

func pad(_ text: String, _ width: Int) -> String { String(repeating: " ", count: max(0, width - text.count)) + text }

/// Makes calls, so many at a time, and prints what one costs.
func measure(_ name: String, count: Int, width: Int, _ body: @escaping @Sendable (Int) async -> Bool) async {
  let (start, used) = (ContinuousClock.now, processorTime())
  var times: [Duration] = []
  var failures = 0
  await withTaskGroup(of: (Duration, Bool).self) { group in
    for number in 0..<count {
      if number >= width, let (time, isGood) = await group.next() {
        times.append(time)
        if !isGood { failures += 1 }
      }
      group.addTask {
        let start = ContinuousClock.now
        let isGood = await body(number)
        return (ContinuousClock.now - start, isGood)
      }
    }
    for await (time, isGood) in group {
      times.append(time)
      if !isGood { failures += 1 }
    }
  }
  let (time, processor) = (ContinuousClock.now - start, processorTime() - used)
  times.sort()
  func milliseconds(_ time: Duration) -> String { String(format: "%.2f", time / .milliseconds(1)) }
  let cells = [
    pad(milliseconds(times[count / 2]), 6), pad(milliseconds(times[count * 99 / 100]), 7),
    pad(String(format: "%.0f", Double(count) / (time / .seconds(1))), 6),
    pad(String(format: "%.0f", processor / Double(count) * 1e6), 6), pad("\(failures)", 3),
  ]
  say("| \(name) | \(width) | \(cells.joined(separator: " | ")) |")
}

let waiting = try makeClient { ($0.maxAttempts, $0.retryDelay) = (100, .milliseconds(200)) }
let first = try S3DataCache(waiting, bucket: "bench", prefix: "ready/")
for _ in 0..<30 {
  await first.store(entry(1, 10), for: key(1, 10))
  if first.counts.stores > 0 { break }
  try await Task.sleep(for: .milliseconds(300))
}

say("# A cache in a bucket\n")
say("- SeaweedFS on the same machine, without TLS: every body is hashed and signed")
say("- times of calls on the clock; CPU of this process for a call\n")
say("| call | at a time | median ms | p99 ms | calls/s | CPU us | failed |")
say("|---|---|---|---|---|---|---|")
let cache = try S3DataCache(makeClient(), bucket: "bench", prefix: "v1/")
for (size, count) in [(20_000, 1000), (200_000, 400)] {
  let entries = (0..<50).map { entry($0, size) }
  for width in [1, 16] {
    await measure("store \(size / 1000) KB", count: count, width: width) { number in
      let before = cache.counts.drops
      await cache.store(entries[number % 50], for: key(number, size))
      return cache.counts.drops == before
    }
    await measure("entry \(size / 1000) KB", count: count, width: width) { number in
      await cache.entry(for: key(number, size))?.data.count == size
    }
  }
  await measure("head", count: count, width: 1) { number in await cache.contentID(for: key(number, size)) != nil }
  await measure("renew", count: count, width: 1) { number in
    let content = entries[number % 50].contentID
    return await cache.renew(key(number, size), contentID: content, expires: nil, metadata: Data(count: 300))
  }
}
await measure("miss", count: 1000, width: 1) { number in await cache.entry(for: key(number, 1)) == nil }
await measure("miss", count: 2000, width: 16) { number in await cache.entry(for: key(number, 1)) == nil }
let start = ContinuousClock.now
await cache.removeAll()
say("\nAll 1,400 entries removed in \(ContinuousClock.now - start), \(cache.counts.failures) failures in all.")
