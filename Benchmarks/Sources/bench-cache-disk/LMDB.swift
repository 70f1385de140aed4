import CLMDB
import Foundation

/// One memory-mapped B+ tree, with a transaction per put and no sync per commit.
final class LMDBStore: Store {
  static let name = "LMDB"
  private var environment: OpaquePointer?
  private var table: MDB_dbi = 0
  private(set) var entries = 0

  init(in folder: URL) async throws {
    mkdir(folder.path, 0o700)
    try check(mdb_env_create(&environment))
    try check(mdb_env_set_mapsize(environment, 4 << 30))
    try check(mdb_env_open(environment, folder.path, UInt32(MDB_NOSYNC | MDB_NOTLS), 0o600))
    try transaction(0) { transaction in
      try check(mdb_dbi_open(transaction, nil, 0, &table))
      var statistics = MDB_stat()
      try check(mdb_stat(transaction, table, &statistics))
      entries = statistics.ms_entries
    }
  }

  private func check(_ status: Int32) throws {
    guard status == 0 else { throw BenchmarkError(String(cString: mdb_strerror(status))) }
  }

  private func transaction(_ flags: Int32, _ body: (OpaquePointer?) throws -> Void) throws {
    var transaction: OpaquePointer?
    try check(mdb_txn_begin(environment, nil, UInt32(flags), &transaction))
    do {
      try body(transaction)
    } catch {
      mdb_txn_abort(transaction)
      throw error
    }
    try check(mdb_txn_commit(transaction))
  }

  private func with<Answer>(_ bytes: Data, _ body: (inout MDB_val) throws -> Answer) rethrows -> Answer {
    try bytes.withUnsafeBytes { bytes in
      var value = MDB_val(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
      return try body(&value)
    }
  }

  func put(_ bytes: Data, _ key: String) async throws {
    try transaction(0) { transaction in
      try with(Data(key.utf8)) { key in
        try with(bytes) { value in try check(mdb_put(transaction, table, &key, &value, 0)) }
      }
    }
  }

  func finishWriting() async throws {}

  func get(_ key: String) async throws -> Data? {
    var found: Data?
    try transaction(MDB_RDONLY) { transaction in
      try with(Data(key.utf8)) { key in
        var value = MDB_val()
        let status = mdb_get(transaction, table, &key, &value)
        // The bytes are valid only within the transaction.
        if status == 0 { found = Data(bytes: value.mv_data, count: value.mv_size) }
        if status != 0, status != MDB_NOTFOUND { try check(status) }
      }
    }
    return found
  }

  func evictQuarter(of keys: [String]) async throws {
    try transaction(0) { transaction in
      for key in keys.prefix(keys.count / 4) {
        try with(Data(key.utf8)) { key in try check(mdb_del(transaction, table, &key, nil)) }
      }
    }
  }

  func close() async throws { mdb_env_close(environment) }
}
