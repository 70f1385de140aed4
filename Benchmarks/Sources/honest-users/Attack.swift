import Foundation
import Synchronization
import Vitrine
import VitrineTesting

/// Attacks the program for some seconds, and returns whether its honest users were served in time and all came back.
func runAttack(for seconds: Int, with bombs: URL) async throws -> Bool {
  let scratch = FileManager.default.temporaryDirectory
    .appending(path: "vitrine-honest-users-\(ProcessInfo.processInfo.processIdentifier)")
  defer { try? FileManager.default.removeItem(at: scratch) }
  let photographs = scratch.appending(path: "photographs")
  try FileManager.default.createDirectory(at: photographs, withIntermediateDirectories: true)
  for number in 0..<8 {
    let photograph = try Bitmap.testPattern(width: 1600, height: 1200 + number).encoded(as: .jpeg)
    try photograph.write(to: photographs.appending(path: "\(number).jpg"))
  }
  let stuck = (0..<4).map { StuckDecoder($0) }
  for decoder in stuck { try decoder.file.write(to: bombs.appending(path: "\(decoder.formats[0])")) }

  let hosts = try Hosts(photographs: photographs, bombs: bombs)
  defer { hosts.stop() }
  var addressGuard = AddressGuard()
  addressGuard.ports = nil
  addressGuard.allowed = [IPNetwork("127.0.0.0/8")].compactMap { $0 }
  let program = try Thumbnails(cache: scratch.appending(path: "cache"), addressGuard: addressGuard, decoders: stuck)

  // Warm: what honest users ask for is in memory and on disk.
  for number in 0..<8 { _ = try await program.thumbnail(of: hosts.url("\(number).jpg")) }
  await program.pipeline.cache.flush()
  let before = Holdings()

  let end = ContinuousClock.now + .seconds(seconds)
  let answers = Answers()
  let special = try specialFiles(in: scratch)
  // These abort the program inside librsvg; SVG from strangers belongs into a process of its own.
  let fatal = ["convolve-21.svg", "convolve-101.svg"]
  let names = try FileManager.default.contentsOfDirectory(atPath: bombs.path).filter { !fatal.contains($0) }.sorted()
  let attackers = Task {
    await withTaskGroup { group in
      // Eight clients that send one hostile file after another, never the same URL twice.
      for client in 0..<8 {
        group.addTask {
          var number = client
          while !Task.isCancelled {
            let url = hosts.url("bombs/\(names[number * 7 % names.count])?\(number)")
            await answers.add("a hostile file") { try await program.thumbnail(of: url) }
            number += 8
          }
        }
      }
      for path in special {
        group.addTask {
          while !Task.isCancelled {
            await answers.add("no regular file") { try await program.thumbnail(of: URL(filePath: path)) }
            try? await Task.sleep(for: .milliseconds(50))
          }
        }
      }
      // In the first half, in portions as they come from a network.
      let portions = 1000
      for number in 0..<100_000 {
        let url = hosts.drippingURL(number)
        group.addTask { await answers.add("a host that drips") { try await program.thumbnail(of: url) } }
        if number % (100_000 / portions) == 0 { try? await Task.sleep(for: .seconds(seconds) / 2 / portions) }
      }
    }
  }

  let memory = Client("in memory", limit: .milliseconds(200))
  let disk = Client("on disk", limit: .milliseconds(200))
  let decode = Client("loaded and decoded", limit: .seconds(1))
  memory.run(every: .milliseconds(20), until: end) { _ = try await program.thumbnail(of: hosts.url("\($0 % 8).jpg")) }
  disk.run(every: .milliseconds(50), until: end) {
    _ = try await program.thumbnail(of: hosts.url("\($0 % 8).jpg"), from: .disk)
  }
  decode.run(every: .milliseconds(250), until: end) {
    _ = try await program.thumbnail(of: hosts.url("\($0 % 8).jpg?\($0)"), from: .none)
  }
  var most = Holdings()
  while ContinuousClock.now < end {
    try await Task.sleep(for: .milliseconds(500))
    let now = Holdings()
    most = Holdings(threads: max(most.threads, now.threads), megabytes: max(most.megabytes, now.megabytes))
  }
  attackers.cancel()
  for decoder in stuck { decoder.release() }
  await attackers.value
  // Threads that wait for work end after a while.
  let patience = ContinuousClock.now + .seconds(60)
  var after = Holdings()
  func isBack() -> Bool { after.threads <= before.threads && after.megabytes <= before.megabytes + 100 }
  while ContinuousClock.now < patience, !isBack() {
    try await Task.sleep(for: .seconds(1))
    after = Holdings()
  }

  print("\(seconds) s of hostile files, \(special.count) special files and 100,000 tasks for hosts that drip:")
  for (kind, count) in answers.sorted { print("  \(count) x \(kind)") }
  let isServed = [memory, disk, decode].map { $0.report() }.allSatisfy { $0 }
  print("memory: \(before.megabytes) MB before, \(most.megabytes) at most, \(after.megabytes) after")
  print("threads: \(before.threads) before, \(most.threads) at most, \(after.threads) after")
  return isServed && isBack()
}

/// Paths of what is no regular file.
private func specialFiles(in folder: URL) throws -> [String] {
  let fifos = try (0..<4).map { number in
    let path = folder.appending(path: "fifo-\(number)").path
    guard mkfifo(path, 0o600) == 0 else { throw POSIXError(.EIO) }
    return path
  }
  return fifos + ["/dev/zero", "/dev/random", "/dev/stdin", folder.path]
}

/// What attackers were answered.
private final class Answers: Sendable {
  private let counts = Mutex<[String: Int]>([:])

  var sorted: [(key: String, value: Int)] { counts.withLock { $0 }.sorted { $0.key < $1.key } }

  func add(_ kind: String, _ request: () async throws -> Data) async {
    var answer = "decoded"
    do {
      _ = try await request()
    } catch {
      answer = (error as? LoadError).map { "\($0.code), \($0.detail)" } ?? "\(error)"
    }
    counts.withLock { $0["\(kind): \(answer)", default: 0] += 1 }
  }
}
