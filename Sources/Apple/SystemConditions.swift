import Network
public import Vitrine
import VitrineRuntime

extension ImagePipeline.Configuration {
  /// Has requests follow the state of the network, as the system reports it.
  ///
  /// Without a network nothing is asked for and stored images are served. In Low Data Mode only requests with
  /// ``Vitrine/ImageRequest/allowsExpensiveNetworkAccess`` are sent. Sets ``networkAccess``.
  ///
  /// ```swift
  /// let pipeline = ImagePipeline { $0.followNetworkConditions() }
  /// ```
  public mutating func followNetworkConditions() {
    let watch = NetworkWatch()
    networkAccess = { watch.access }
  }
}

/// The state of the network, from the first answer of the system on; it is taken for available until then.
private final class NetworkWatch: Sendable {
  private let monitor = NWPathMonitor()
  private let state: Lock<NetworkAccess>

  init() {
    let state = Lock(NetworkAccess.full)
    self.state = state
    monitor.pathUpdateHandler = { path in
      let access: NetworkAccess =
        if path.status == .unsatisfied {
          .offline("there is no network")
        } else if path.isConstrained {
          .expensive("Low Data Mode is on")
        } else {
          .full
        }
      state.withLock { $0 = access }
    }
    monitor.start(queue: DispatchQueue(label: "Vitrine.network"))
  }

  deinit { monitor.cancel() }

  var access: NetworkAccess { state.withLock { $0 } }
}

/// Tells whether the user wants to save power: at once, and after each change, for as long as it lives.
final class LowPowerWatch: @unchecked Sendable {
  // @unchecked: the token is set once, before anybody else has the watch, and given back once, to a center that any
  // thread may call.
  private var token: (any NSObjectProtocol)?
  private let onChange: @Sendable (Bool) -> Void

  init(_ onChange: @escaping @Sendable (Bool) -> Void) {
    self.onChange = onChange
    let center = NotificationCenter.default
    // The center may release the closure under its lock, and what `onChange` retains may have observers of its own.
    token = center.addObserver(forName: .NSProcessInfoPowerStateDidChange, object: nil, queue: nil) { [weak self] _ in
      self?.tell()
    }
    tell()
  }

  deinit {
    if let token { NotificationCenter.default.removeObserver(token) }
  }

  private func tell() { onChange(ProcessInfo.processInfo.isLowPowerModeEnabled) }
}
