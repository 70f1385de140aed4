public import Dispatch
import Synchronization

/// An observer of the network, which here is what ``_setPath(_:)`` says.
///
/// A path that did not change is not told again.
public final class NWPathMonitor: Sendable {
  private struct State {
    var handler: (@Sendable (NWPath) -> Void)?
    var queue: DispatchQueue?
    var current = NWPath.none
    /// The last path that was sent to the queue.
    var sent: NWPath?
    var streams: [Int: AsyncStream<NWPath>.Continuation] = [:]
    var nextStream = 0
    /// The number of the newest path that it took.
    var version = -1
    var isCancelled = false
  }

  private let isWanted: @Sendable (NWPath) -> Bool
  private let state = Mutex(State())

  /// Creates a monitor of all interfaces.
  public init() {
    isWanted = { _ in true }
  }

  deinit {
    Registry.shared.remove(self)
    for stream in state.withLock({ $0.streams }).values { stream.finish() }
  }

  /// The function that is called on the queue with the first path and each change.
  public var pathUpdateHandler: (@Sendable (_ newPath: NWPath) -> Void)? {
    get { state.withLock { $0.handler } }
    set { state.withLock { $0.handler = newValue } }
  }

  /// Starts the calls to the handler.
  public func start(queue: DispatchQueue) {
    let starts = state.withLock { state in
      guard state.queue == nil, !state.isCancelled else { return false }
      state.queue = queue
      return true
    }
    if starts { Registry.shared.add(self) }
  }

  /// Ends the calls to the handler for ever.
  public func cancel() {
    Registry.shared.remove(self)
    let streams = state.withLock { state in
      state.isCancelled = true
      defer { state.streams = [:] }
      return Array(state.streams.values)
    }
    for stream in streams { stream.finish() }
  }

  /// Sets the path that all started monitors see.
  public static func _setPath(_ path: NWPath) {
    Registry.shared.set(path)
  }

  /// Takes a path of the registry, unless it took a newer one.
  fileprivate func take(_ path: NWPath, _ version: Int) {
    let path = isWanted(path) ? path : .none
    state.withLock { state in
      guard !state.isCancelled, version >= state.version else { return }
      state.version = version
      guard state.sent != path else { return }
      state.sent = path
      if let queue = state.queue {
        // Paths keep their order, since the lock is held.
        queue.async { [weak self] in self?.tell(path) }
      } else {
        state.current = path
      }
      for stream in state.streams.values { stream.yield(path) }
    }
  }

  private func tell(_ path: NWPath) {
    let handler = state.withLock { state -> (@Sendable (NWPath) -> Void)? in
      guard !state.isCancelled else { return nil }
      state.current = path
      return state.handler
    }
    handler?(path)
  }
}

extension NWPathMonitor: AsyncSequence {
  /// A path.
  public typealias Element = NWPath

  /// The paths from the current one on.
  public struct Iterator: AsyncIteratorProtocol {
    /// A path.
    public typealias Element = NWPath

    /// Kept, since it feeds the stream.
    private let monitor: NWPathMonitor
    private var base: AsyncStream<NWPath>.Iterator

    fileprivate init(_ monitor: NWPathMonitor, _ base: AsyncStream<NWPath>.Iterator) {
      self.monitor = monitor
      self.base = base
    }

    /// Waits for the next path, or returns `nil` after the monitor was cancelled.
    public mutating func next() async -> NWPath? { await base.next() }
  }

  /// Starts the monitor, if it is not, and returns its paths.
  public func makeAsyncIterator() -> Iterator {
    let (stream, continuation) = AsyncStream.makeStream(of: NWPath.self)
    let isOver = state.withLock { state in
      guard !state.isCancelled else { return true }
      let id = state.nextStream
      state.nextStream += 1
      state.streams[id] = continuation
      if let sent = state.sent { continuation.yield(sent) }
      return false
    }
    if isOver { continuation.finish() } else { Registry.shared.add(self) }
    return Iterator(self, stream.makeAsyncIterator())
  }
}

/// The started monitors and their path.
private final class Registry: Sendable {
  private struct Entry {
    weak var monitor: NWPathMonitor?
  }

  private struct State {
    var path = NWPath()
    var version = 0
    var monitors: [ObjectIdentifier: Entry] = [:]
  }

  static let shared = Registry()
  private let state = Mutex(State())

  func add(_ monitor: NWPathMonitor) {
    let (path, version) = state.withLock { state in
      state.monitors[ObjectIdentifier(monitor)] = Entry(monitor: monitor)
      return (state.path, state.version)
    }
    monitor.take(path, version)
  }

  func remove(_ monitor: NWPathMonitor) {
    state.withLock { _ = $0.monitors.removeValue(forKey: ObjectIdentifier(monitor)) }
  }

  func set(_ path: NWPath) {
    let (monitors, version) = state.withLock { state in
      state.path = path
      state.version += 1
      return (state.monitors.values.compactMap(\.monitor), state.version)
    }
    for monitor in monitors { monitor.take(path, version) }
  }
}
