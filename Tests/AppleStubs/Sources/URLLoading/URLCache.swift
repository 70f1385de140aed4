public import Foundation
import Synchronization

// Sendable, since nothing in it changes after its creation.
/// A stored response with its body.
open class CachedURLResponse: NSObject, @unchecked Sendable {
  private let head: URLResponse
  private let body: Data
  private let policy: URLCache.StoragePolicy
  /// The time when it was stored.
  let created = Date()

  /// Creates a stored response that may go anywhere.
  public convenience init(response: URLResponse, data: Data) {
    self.init(response: response, data: data, storagePolicy: .allowed)
  }

  /// Creates a stored response.
  public init(
    response: URLResponse,
    data: Data,
    userInfo: [AnyHashable: Any]? = nil,
    storagePolicy: URLCache.StoragePolicy,
  ) {
    head = response
    body = data
    policy = storagePolicy
  }

  /// The response.
  open var response: URLResponse { head }
  /// The body.
  open var data: Data { body }
  /// The place where it may be stored.
  open var storagePolicy: URLCache.StoragePolicy { policy }
}

// Sendable, since a lock guards what changes.
/// A cache of responses, kept in memory.
///
/// The session stores whole 200 responses to GET that have a `Cache-Control` field with a `max-age`, and serves them
/// as long as they are fresh. It never revalidates.
open class URLCache: NSObject, @unchecked Sendable {
  /// The places where a response may be stored.
  public enum StoragePolicy: UInt, Sendable {
    /// Anywhere.
    case allowed = 0
    /// In memory.
    case allowedInMemoryOnly = 1
    /// Nowhere.
    case notAllowed = 2
  }

  private struct State {
    var memory: Int
    var disk: Int
    var entries: [String: CachedURLResponse] = [:]
    /// The keys, the oldest first.
    var order: [String] = []
    var usage: Int { entries.values.reduce(0) { $0 + $1.data.count } }

    mutating func remove(_ key: String) {
      entries[key] = nil
      order.removeAll { $0 == key }
    }

    mutating func trim() {
      while usage > memory, let oldest = order.first { remove(oldest) }
    }
  }

  private static let common = Mutex(URLCache(memoryCapacity: 512_000, diskCapacity: 10_000_000))
  private let state: Mutex<State>

  /// Creates an empty cache, which never uses the disk here.
  public init(memoryCapacity: Int, diskCapacity: Int, directory directoryURL: URL? = nil) {
    state = Mutex(State(memory: memoryCapacity, disk: diskCapacity))
  }

  /// The cache of the default configuration.
  open class var shared: URLCache {
    get { common.withLock { $0 } }
    set { common.withLock { $0 = newValue } }
  }

  /// The maximum number of bytes in memory.
  open var memoryCapacity: Int {
    get { state.withLock { $0.memory } }
    set {
      state.withLock { state in
        state.memory = newValue
        state.trim()
      }
    }
  }

  /// The maximum number of bytes on disk.
  open var diskCapacity: Int {
    get { state.withLock { $0.disk } }
    set { state.withLock { $0.disk = newValue } }
  }

  /// The number of bytes in memory.
  open var currentMemoryUsage: Int { state.withLock { $0.usage } }
  /// The number of bytes on disk, which is always 0 here.
  open var currentDiskUsage: Int { 0 }

  /// Returns the stored response to a request.
  open func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
    state.withLock { $0.entries[key(of: request)] }
  }

  /// Stores a response.
  open func storeCachedResponse(_ cachedResponse: CachedURLResponse, for request: URLRequest) {
    guard cachedResponse.storagePolicy != .notAllowed else { return }
    let key = key(of: request)
    state.withLock { state in
      state.remove(key)
      guard cachedResponse.data.count <= state.memory else { return }
      state.entries[key] = cachedResponse
      state.order.append(key)
      state.trim()
    }
  }

  /// Removes the stored response to a request.
  open func removeCachedResponse(for request: URLRequest) {
    state.withLock { $0.remove(key(of: request)) }
  }

  /// Removes all responses.
  open func removeAllCachedResponses() {
    state.withLock { state in
      state.entries = [:]
      state.order = []
    }
  }

  private func key(of request: URLRequest) -> String {
    "\(request.httpMethod ?? "GET") \(request.url?.absoluteString ?? "")"
  }
}

extension CachedURLResponse {
  /// Returns `true` as long as its `max-age` lasts.
  var isFresh: Bool {
    guard let head = response as? HTTPURLResponse, let age = head.maximumAge else { return false }
    return Date().timeIntervalSince(created) < age
  }
}

extension HTTPURLResponse {
  /// The time for which it may be stored, if it may.
  var maximumAge: TimeInterval? {
    guard statusCode == 200, value(forHTTPHeaderField: "Vary") == nil,
      let control = value(forHTTPHeaderField: "Cache-Control")?.lowercased()
    else { return nil }
    let parts = control.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    guard !parts.contains("no-store"), !parts.contains("no-cache") else { return nil }
    let age = parts.first { $0.hasPrefix("max-age=") }.flatMap { TimeInterval($0.dropFirst(8)) }
    return age.flatMap { $0 > 0 ? $0 : nil }
  }
}
