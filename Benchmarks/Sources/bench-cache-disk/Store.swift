import Foundation

/// A contestant: a store on disk of bytes by key.
protocol Store: AnyObject {
  static var name: String { get }
  /// Opens the folder, until it knows its size and can answer.
  init(in folder: URL) async throws
  func put(_ bytes: Data, _ key: String) async throws
  /// Returns when the system has all data that was put.
  func finishWriting() async throws
  func get(_ key: String) async throws -> Data?
  func evictQuarter(of keys: [String]) async throws
  func close() async throws
}

struct BenchmarkError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
