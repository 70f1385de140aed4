// mutate COUNT SEED FOLDER FILE...: writes COUNT spoiled copies of the files, by turns, into the folder. The same
// arguments give the same files.
import Foundation

struct Generator: RandomNumberGenerator {
  var state: UInt64

  // SplitMix64.
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

/// Where lengths and sizes stand, most often.
func place(_ count: Int, _ generator: inout Generator) -> Int {
  let range = Bool.random(using: &generator) ? 0..<min(count, 256) : 0..<count
  return Int.random(in: range, using: &generator)
}

func spoiled(_ file: [UInt8], _ other: [UInt8], _ generator: inout Generator) -> [UInt8] {
  var bytes = file
  for _ in 0..<Int.random(in: 1...4, using: &generator) where !bytes.isEmpty {
    let at = place(bytes.count, &generator)
    switch Int.random(in: 0..<8, using: &generator) {
    case 0: bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
    case 1: bytes[at] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &generator) ?? 0
    case 2: bytes[at] = .random(in: 0...255, using: &generator)
    case 3: bytes.removeLast(bytes.count - at)
    case 4: bytes.removeSubrange(at..<min(bytes.count, at + .random(in: 1...64, using: &generator)))
    case 5:
      let end = min(bytes.count, at + .random(in: 1...64, using: &generator))
      bytes.insert(contentsOf: bytes[at..<end], at: place(bytes.count, &generator))
    case 6:
      // A number of four bytes that is too large, or just so.
      let value =
        ([0, 1, 0xFFFF, 0x10000, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF] as [UInt32])
        .randomElement(using: &generator) ?? 0
      for index in 0..<4 where at + index < bytes.count {
        bytes[at + index] = UInt8(truncatingIfNeeded: value >> (24 - 8 * index))
      }
    default: bytes = Array(bytes[..<at]) + other[min(at, other.count)...]
    }
  }
  return bytes
}

let arguments = CommandLine.arguments
guard arguments.count > 4, let count = Int(arguments[1]), let seed = UInt64(arguments[2]) else { exit(64) }
let folder = URL(filePath: arguments[3])
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
let sources = arguments[4...].map { URL(filePath: $0) }
var generator = Generator(state: seed)
for index in 0..<count {
  let source = sources[index % sources.count]
  let alike = sources.filter { $0.pathExtension == source.pathExtension }
  let file = [UInt8](try Data(contentsOf: source))
  let other = [UInt8](try Data(contentsOf: alike.randomElement(using: &generator) ?? source))
  let bytes = spoiled(file, other, &generator)
  try Data(bytes).write(to: folder.appending(path: "\(index).\(source.pathExtension)"))
}
