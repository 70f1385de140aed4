import Testing
import VitrineAVIF
import VitrineHEIF
import VitrineJXL
import VitrineSVG
import VitrineTIFF
import VitrineImaging
import VitrineRuntime
import VitrineTesting

/// The tiny files beside the tests; their README says how they were made.
enum Fixture {
  static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures")

  static func data(_ name: String) throws -> Data {
    try Data(contentsOf: folder.appending(path: name))
  }

  /// What another decoder made of a fixture.
  static func reference(_ name: String) throws -> Bitmap {
    try Bitmap(decoding: data("\(name).reference.png"))
  }

  /// The names of the fixtures that end in `ending`, in order.
  static func names(_ ending: String) -> [String] {
    let all = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return all.filter { $0.hasSuffix(ending) }.sorted()
  }
}

/// Real files of others, in the folder that the environment names; tests that want them are skipped without it.
enum Corpus {
  static let folder = ProcessInfo.processInfo.environment["VITRINE_CORPUS"]

  static func data(_ path: String) throws -> Data {
    try Data(contentsOf: URL(filePath: "\(folder ?? "")/\(path)"))
  }

  static func files(ending endings: String...) -> [String] {
    guard let folder else { return [] }
    let all = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
    return all.filter { path in endings.contains { path.lowercased().hasSuffix($0) } }.sorted()
  }
}

/// The heavy codecs and no others, added as a user adds them.
let registry: DecoderRegistry = {
  var registry = DecoderRegistry([])
  registry.add(.avif)
  registry.add(.heif)
  registry.add(.jxl)
  registry.add(.svg)
  registry.add(.tiff)
  return registry
}()

func decode(
  _ data: Data,
  _ size: TargetSize? = nil,
  _ change: (inout DecodeOptions) -> Void = { _ in },
) throws(ImageError) -> ImageContainer {
  var options = DecodeOptions(size: size)
  change(&options)
  return try registry.decode(data, options)
}

/// The reason for which `body` fails; `nil`, and a failed test, when it does not.
func failure<R>(
  sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () throws -> R,
) -> ImageError? {
  #expect(throws: ImageError.self, sourceLocation: sourceLocation) { _ = try body() }
}

extension Bitmap {
  var size: [Int] { [width, height] }

  /// The pixels in rows, with nothing where nothing is seen: codecs may leave any colour there.
  var visible: Bitmap {
    .pixels(width: width, height: height, alpha: alpha) { x, y in self[x, y].w == 0 ? SIMD4() : self[x, y] }
  }
}

extension SIMD4<UInt8> {
  func isWithin(_ tolerance: Int, of other: Self) -> Bool {
    indices.allSatisfy { abs(Int(self[$0]) - Int(other[$0])) <= tolerance }
  }
}

/// The same random numbers every time: Vigna's SplitMix64.
struct SeededGenerator: RandomNumberGenerator {
  var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
    return z ^ z >> 31
  }
}
