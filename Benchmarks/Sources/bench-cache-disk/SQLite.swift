import CSQLite
import Foundation

/// One table of blobs, in WAL mode without a sync per commit, with prepared statements.
class SQLiteStore: Store {
  class var name: String { "SQLite, a commit each" }
  private var database: OpaquePointer?
  private var insert: OpaquePointer?
  private var select: OpaquePointer?
  private(set) var bytes = 0

  required init(in folder: URL) async throws {
    mkdir(folder.path, 0o700)
    guard sqlite3_open(folder.appending(path: "cache.db").path, &database) == SQLITE_OK else {
      throw BenchmarkError("SQLite does not open")
    }
    try run("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-8192")
    try run("CREATE TABLE IF NOT EXISTS entries (id INTEGER PRIMARY KEY, key TEXT UNIQUE, size INTEGER, body BLOB)")
    sqlite3_prepare_v2(database, "INSERT OR REPLACE INTO entries (key, size, body) VALUES (?, ?, ?)", -1, &insert, nil)
    sqlite3_prepare_v2(database, "SELECT body FROM entries WHERE key = ?", -1, &select, nil)
    var sum: OpaquePointer?
    sqlite3_prepare_v2(database, "SELECT sum(size) FROM entries", -1, &sum, nil)
    if sqlite3_step(sum) == SQLITE_ROW { bytes = Int(sqlite3_column_int64(sum, 0)) }
    sqlite3_finalize(sum)
  }

  func run(_ statement: String) throws {
    guard sqlite3_exec(database, statement, nil, nil, nil) == SQLITE_OK else {
      throw BenchmarkError(String(cString: sqlite3_errmsg(database)))
    }
  }

  func put(_ bytes: Data, _ key: String) async throws {
    let status = bytes.withUnsafeBytes { bytes in
      sqlite3_bind_text(insert, 1, key, -1, unsafeBitCast(-1, to: sqlite3_destructor_type.self))
      sqlite3_bind_int64(insert, 2, Int64(bytes.count))
      sqlite3_bind_blob(insert, 3, bytes.baseAddress, Int32(bytes.count), nil)
      return sqlite3_step(insert)
    }
    sqlite3_reset(insert)
    guard status == SQLITE_DONE else { throw BenchmarkError(String(cString: sqlite3_errmsg(database))) }
  }

  func finishWriting() async throws {}

  func get(_ key: String) async throws -> Data? {
    sqlite3_bind_text(select, 1, key, -1, unsafeBitCast(-1, to: sqlite3_destructor_type.self))
    defer { sqlite3_reset(select) }
    guard sqlite3_step(select) == SQLITE_ROW, let bytes = sqlite3_column_blob(select, 0) else { return nil }
    return Data(bytes: bytes, count: Int(sqlite3_column_bytes(select, 0)))
  }

  func evictQuarter(of keys: [String]) async throws {
    try run("DELETE FROM entries WHERE id IN (SELECT id FROM entries ORDER BY id LIMIT \(keys.count / 4))")
  }

  func close() async throws {
    sqlite3_finalize(insert)
    sqlite3_finalize(select)
    sqlite3_close(database)
    database = nil
  }
}

/// The same with 64 entries per commit, for a caller that batches.
final class SQLiteBatchStore: SQLiteStore {
  override class var name: String { "SQLite, a commit per 64" }
  private var pending = 0

  override func put(_ bytes: Data, _ key: String) async throws {
    if pending == 0 { try run("BEGIN") }
    try await super.put(bytes, key)
    pending += 1
    if pending == 64 { try await finishWriting() }
  }

  override func finishWriting() async throws {
    if pending > 0 { try run("COMMIT") }
    pending = 0
  }
}
