import VitrineHTTP
import VitrineRuntime
import VitrineServingRequests

/// A generator whose numbers are the same in every run (SplitMix64).
struct SeededNumbers: RandomNumberGenerator {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

enum Situations {
  /// True if a run may take long.
  static let areAllWanted = ProcessInfo.processInfo.environment["VITRINE_ALL_SITUATIONS"] != nil
}

extension ThumbnailURLs {
  /// The URLs of a server with changed settings.
  init(changing change: (inout Configuration) throws -> Void) throws {
    var configuration = Configuration()
    try change(&configuration)
    try self.init(configuration)
  }

  /// Returns the refusal of a URL; `nil` if it is accepted.
  func refusal(of path: String, query: String? = nil, at now: Date = Date()) -> RequestError? {
    do throws(RequestError) {
      _ = try request(path: path, query: query, at: now)
      return nil
    } catch {
      return error
    }
  }
}

/// The key and the salt of imgproxy's documentation: `secret` and `hello`.
func documentedKey(size: Int = 32) throws -> SigningKey {
  try SigningKey(key: "736563726574", salt: "68656C6C6F", size: size)
}

/// A key that nobody else has.
func otherKey(_ digit: String) throws -> SigningKey {
  try SigningKey(key: String(repeating: digit, count: 32), salt: String(repeating: digit, count: 16))
}
