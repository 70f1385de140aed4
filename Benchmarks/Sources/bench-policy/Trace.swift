import Contest
import Foundation

/// A sequence of requested entries with their sizes.
struct Trace {
  let name: String
  let requests: [(id: Int, size: Int)]

  /// A Boolean value that indicates whether entries differ in size.
  var isSized: Bool { requests.contains { $0.size != requests[0].size } }

  /// The size of all distinct entries in bytes, or their number if they have no sizes.
  var footprint: Int { Dictionary(requests.map { ($0.id, $0.size) }) { $1 }.values.reduce(0, +) }

  /// All `*.txt.gz` files of a folder, with a request `id bytes` in each line.
  static func all(in folder: URL) throws -> [Trace] {
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    return try files.filter { $0.lastPathComponent.hasSuffix(".txt.gz") }
      .sorted { $0.lastPathComponent < $1.lastPathComponent }
      .map { try Trace(unpacking: $0) }
  }

  private init(unpacking file: URL) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["gzip", "-dc", file.path]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    var ids: [Substring: Int] = [:]
    var requests: [(id: Int, size: Int)] = []
    for line in text.split(separator: "\n") {
      let fields = line.split(separator: " ")
      guard fields.count == 2, let size = Int(fields[1]) else { throw BenchmarkError("\(file.path): \(line)") }
      let id = ids[fields[0]] ?? ids.count
      ids[fields[0]] = id
      requests.append((id, size))
    }
    guard process.terminationStatus == 0, !requests.isEmpty else { throw BenchmarkError("\(file.path): not a trace") }
    self.init(name: String(file.lastPathComponent.dropLast(".txt.gz".count)), requests: requests)
  }

  init(name: String, requests: [(id: Int, size: Int)]) {
    (self.name, self.requests) = (name, requests)
  }

  /// Synthetic traces: images of which few are popular, and a feed that is scrolled back and forth.
  static func made() -> [Trace] {
    var random = SplitMix(state: 1)
    func size(_ id: Int) -> Int {
      var own = SplitMix(state: UInt64(id))
      return Int(exp(Double.random(in: log(20_000)...log(4_000_000), using: &own)))
    }
    // Zipf's law: the k-th is requested 1/k^0.9 times as often as the first.
    var sums = [0.0]
    for rank in 1...20_000 { sums.append(sums[rank - 1] + pow(Double(rank), -0.9)) }
    let zipf = (0..<100_000).map { _ -> (id: Int, size: Int) in
      let wanted = Double.random(in: 0..<sums[20_000], using: &random)
      var (low, high) = (1, 20_000)
      while low < high {
        let middle = (low + high) / 2
        if sums[middle] > wanted { high = middle } else { low = middle + 1 }
      }
      return (low, size(low))
    }
    // A row has a new photograph, and the avatar of one of 300 people, some of whom post more than others.
    var feed: [(id: Int, size: Int)] = []
    var (row, farthest) = (0, 0)
    func see(_ row: Int) {
      var own = SplitMix(state: UInt64(row) &+ 1 << 40)
      let person = Int(300 * pow(Double.random(in: 0..<1, using: &own), 2))
      feed += [
        (1_000_000 + person, 57_600), (row, [1_440_000, 2_880_000, 5_832_000].randomElement(using: &own) ?? 0),
      ]
    }
    while feed.count < 100_000 {
      let goesBack = Int.random(in: 0..<4, using: &random) == 0
      for _ in 0..<Int.random(in: 5...60, using: &random) {
        row = goesBack ? max(0, row - 1) : row + 1
        see(row)
      }
      farthest = max(farthest, row)
      if Int.random(in: 0..<20, using: &random) == 0 {
        row = max(0, farthest - Int.random(in: 0...400, using: &random))
      }
    }
    return [Trace(name: "made: zipf", requests: zipf), Trace(name: "made: feed", requests: feed)]
  }
}

/// A generator with the same numbers in every run.
private struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
