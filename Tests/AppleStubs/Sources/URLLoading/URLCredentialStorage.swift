public import Foundation
import Synchronization

// Sendable, since a lock guards what changes.
/// The credentials of a session, kept in memory.
open class URLCredentialStorage: NSObject, @unchecked Sendable {
  private struct Entry {
    var byUser: [String: URLCredential] = [:]
    var standard: URLCredential?
  }

  private static let common = URLCredentialStorage()
  private let entries = Mutex<[URLProtectionSpace.Key: Entry]>([:])

  /// Creates an empty storage.
  override public init() {}

  /// The storage of the default configuration.
  open class var shared: URLCredentialStorage { common }

  /// Returns the credentials of a space by user.
  open func credentials(for space: URLProtectionSpace) -> [String: URLCredential]? {
    entries.withLock { $0[space.key]?.byUser }
  }

  /// Stores a credential.
  open func set(_ credential: URLCredential, for space: URLProtectionSpace) {
    entries.withLock { $0[space.key, default: Entry()].byUser[credential.user ?? ""] = credential }
  }

  /// Removes a credential.
  open func remove(_ credential: URLCredential, for space: URLProtectionSpace) {
    entries.withLock { entries in
      entries[space.key]?.byUser[credential.user ?? ""] = nil
      if entries[space.key]?.standard?.user == credential.user { entries[space.key]?.standard = nil }
    }
  }

  /// Returns the credential that the default handling sends.
  open func defaultCredential(for space: URLProtectionSpace) -> URLCredential? {
    entries.withLock { $0[space.key]?.standard }
  }

  /// Stores the credential that the default handling sends.
  open func setDefaultCredential(_ credential: URLCredential, for space: URLProtectionSpace) {
    entries.withLock { entries in
      entries[space.key, default: Entry()].standard = credential
      entries[space.key]?.byUser[credential.user ?? ""] = credential
    }
  }
}
