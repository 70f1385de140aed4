import Foundation

/// What is compared: a place on disk for bytes under keys.
protocol Store: AnyObject {
  static var name: String { get }
  /// Opens the folder, as far as to know how much there is and to answer.
  init(in folder: URL) async throws
  func put(_ bytes: Data, _ key: String) async throws
  /// Returns when what was put is in the hands of the system.
  func finishWriting() async throws
  func get(_ key: String) async throws -> Data?
  func evictQuarter(of keys: [String]) async throws
  func close() async throws
}

struct BenchmarkError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
