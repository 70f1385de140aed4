// sqlite-cache DATABASE URL...: keeps images in a database of SQLite.
import CSQLite
import Foundation
import Vitrine
import VitrineCaching

/// Values in a table, by name.
final class SQLiteCache: SimpleDataCache {
  struct Failure: Error { let message: String }

  private var database: OpaquePointer?

  init(path: String) throws {
    guard sqlite3_open(path, &database) == SQLITE_OK else { throw failure }
    try run("CREATE TABLE IF NOT EXISTS cache(name TEXT PRIMARY KEY, value BLOB)")
  }

  deinit { sqlite3_close(database) }

  func read(_ name: String) throws -> Data? { try run("SELECT value FROM cache WHERE name = ?", name) }
  func write(_ data: Data, _ name: String) throws { try run("REPLACE INTO cache VALUES (?, ?)", name, data) }
  func remove(_ prefix: String) throws { try run("DELETE FROM cache WHERE name GLOB ? || '*'", prefix) }
  func removeAll() throws { try run("DELETE FROM cache") }

  /// Runs a statement, and returns the first value of its first row.
  @discardableResult
  private func run(_ text: String, _ name: String? = nil, _ value: Data? = nil) throws -> Data? {
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    guard sqlite3_prepare_v2(database, text, -1, &statement, nil) == SQLITE_OK else { throw failure }
    // SQLite copies what is bound.
    let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    if let name { sqlite3_bind_text(statement, 1, name, -1, copies) }
    _ = value?.withUnsafeBytes { sqlite3_bind_blob(statement, 2, $0.baseAddress, Int32($0.count), copies) }
    switch sqlite3_step(statement) {
    case SQLITE_ROW:
      let count = Int(sqlite3_column_bytes(statement, 0))
      return sqlite3_column_blob(statement, 0).map { Data(bytes: $0, count: count) } ?? Data()
    case SQLITE_DONE: return nil
    default: throw failure
    }
  }

  private var failure: Failure { Failure(message: String(cString: sqlite3_errmsg(database))) }
}

@main
enum SQLitePictures {
  static func main() async throws {
    let cache = try AdaptedDataCache(SQLiteCache(path: CommandLine.arguments[1])) { print("sqlite-cache: \($0)") }
    let pipeline = ImagePipeline { $0.diskCache = cache }
    for url in CommandLine.arguments.dropFirst(2) {
      let response = try await pipeline.imageTask(for: url).response
      print(response.origin, response.image.width, response.image.height)
    }
    await pipeline.cache.flush()
  }
}
