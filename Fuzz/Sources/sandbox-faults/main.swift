// sandbox-faults CODECS SECONDS HOSTILE HONEST: decodes all files of the folder HOSTILE in a sandbox, then those of HONEST for
// SECONDS while its processes are killed at random moments. CODECS is the path of vitrine-codecs. Fails if a result is
// wrong, if more images are lost than processes, or if descriptors, memory or processes are left afterwards.
import Foundation
import VitrineImaging
import VitrineSandbox

let arguments = CommandLine.arguments
guard arguments.count == 5, let seconds = Double(arguments[2]) else { exit(64) }
var failures: [String] = []

func files(_ folder: String) -> [String] {
  let names = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
  return names.sorted().map { "\(folder)/\($0)" }.filter { (try? Data(contentsOf: URL(filePath: $0))) != nil }
}

let hostile = files(arguments[3])
let honest = files(arguments[4]).compactMap { try? Data(contentsOf: URL(filePath: $0)) }
let before = Facts()
try await run()
// The system takes its time to end a process.
for _ in 0..<100 where !children().isEmpty { try await Task.sleep(for: .milliseconds(50)) }
let after = Facts()
print("before: \(before)\nafter:  \(after)")
if after.children > 0 { failures.append("\(after.children) processes are left") }
if after.descriptors > before.descriptors { failures.append("descriptors are left: \(openFiles())") }
if after.sharedMappings > 0 { failures.append("\(after.sharedMappings) shared mappings are left") }
if after.megabytes > before.megabytes + 64 { failures.append("memory is left") }
for failure in failures { print("sandbox-faults: \(failure)") }
@MainActor
func run() async throws {
  let sandbox = try Sandbox {
    $0.program = arguments[1]
    $0.timeLimit = .seconds(5)
  }
  try await assault(sandbox)
  try await kill(sandbox)
}

/// Decodes hostile files: each gives an image or an error, and the program lives.
@MainActor
func assault(_ sandbox: Sandbox) async throws {
  let (start, width) = (ContinuousClock.now, 4)
  let decoders = sandbox.decoders
  let results = await withTaskGroup(of: [String: Int].self) { group in
    for lane in 0..<width {
      group.addTask {
        var results: [String: Int] = [:]
        for index in stride(from: lane, to: hostile.count, by: width) {
          guard let data = try? Data(contentsOf: URL(filePath: hostile[index])) else { continue }
          let sizes: [TargetSize] = [.pixels(300, 300), .pixels(64, 48, .fill), .pixels(width: 1000)]
          var options = DecodeOptions(size: sizes[index % 3])
          options.acceptsPartial = index % 2 == 0
          do throws(ImageError) {
            _ = try await decoders.byDecoding(data, options)
            results["decoded", default: 0] += 1
          } catch {
            results["\(error.code)", default: 0] += 1
            if error.code == .decoderFailed || error.code == .outOfTime {
              print("\(hostile[index].split(separator: "/").last ?? ""): \(error)")
            }
          }
        }
        return results
      }
    }
    var all: [String: Int] = [:]
    for await part in group { all.merge(part, uniquingKeysWith: +) }
    return all
  }
  let elapsed = (ContinuousClock.now - start) / .seconds(1)
  print("\(hostile.count) hostile files in \(Int(elapsed)) s: \(results.sorted { $0.value > $1.value })")
  print("\(sandbox.counts), \(Facts())")
  if results.values.reduce(0, +) != hostile.count { failures.append("files without a result") }
}

/// Decodes honest files while processes are killed; each image is right, or is that of a killed process.
@MainActor
func kill(_ sandbox: Sandbox) async throws {
  let decoders = sandbox.decoders
  let options = DecodeOptions(size: .pixels(200, 200))
  var expected: [Int] = []
  for file in honest { expected.append(digest(try? await decoders.byDecoding(file, options))) }
  let known = expected
  let end = ContinuousClock.now + .seconds(seconds)
  let killer = Task {
    var kills = 0
    while ContinuousClock.now < end {
      try? await Task.sleep(for: .milliseconds(Int.random(in: 1...40)))
      guard let victim = children().randomElement() else { continue }
      Foundation.kill(victim, SIGKILL)
      kills += 1
    }
    return kills
  }
  let (right, wrong, lost) = await withTaskGroup(of: (Int, Int, Int).self) { group in
    for lane in 0..<8 {
      group.addTask {
        var (right, wrong, lost, index) = (0, 0, 0, lane)
        while ContinuousClock.now < end {
          index = (index + 1) % honest.count
          do throws(ImageError) {
            let image = try await decoders.byDecoding(honest[index], options)
            if digest(image) == known[index] { right += 1 } else { wrong += 1 }
          } catch {
            if error.code == .decoderFailed {
              lost += 1
              if !error.detail.contains("killed from outside") { print("\(error)") }
            } else if known[index] != 0 {
              wrong += 1
            }
          }
        }
        return (right, wrong, lost)
      }
    }
    var sums = (0, 0, 0)
    for await part in group { sums = (sums.0 + part.0, sums.1 + part.1, sums.2 + part.2) }
    return sums
  }
  let kills = await killer.value
  print("\(kills) kills in \(Int(seconds)) s: \(right) images right, \(lost) lost, \(wrong) wrong; \(sandbox.counts)")
  if wrong > 0 { failures.append("\(wrong) images were wrong") }
  if lost > kills { failures.append("\(lost) images were lost for \(kills) kills") }
  if right == 0 { failures.append("no image was decoded") }
}

/// A digest of the pixels; 0 for no image.
func digest(_ image: ImageContainer?) -> Int {
  guard let bitmap = image?.bitmap else { return 0 }
  return bitmap.withUnsafeBytes { bytes in
    var hasher = Hasher()
    hasher.combine(bitmap.width)
    hasher.combine(bytes: bytes)
    return hasher.finalize()
  }
}

exit(failures.isEmpty ? 0 : 1)
