import VitrineHTTP
import VitrineRuntime
import VitrineServingRequests

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
