/// What is known about the network.
public struct NWPath: Equatable, Sendable, CustomDebugStringConvertible {
  /// The states of a network.
  public enum Status: Hashable, Sendable {
    /// It can be used.
    case satisfied
    /// It cannot be used.
    case unsatisfied
    /// It may be usable after a connection is made, such as that of a VPN.
    case requiresConnection
  }

  /// The reasons why a network cannot be used.
  public enum UnsatisfiedReason: Hashable, Sendable {
    /// No reason is known.
    case notAvailable
    /// The user denied cellular data.
    case cellularDenied
    /// The user denied Wi-Fi.
    case wifiDenied
    /// The user denied the local network.
    case localNetworkDenied
    /// A required VPN is not connected.
    case vpnInactive
  }

  /// The state.
  public let status: NWPath.Status
  /// The reason why it cannot be used.
  public let unsatisfiedReason: NWPath.UnsatisfiedReason
  /// The interfaces, the preferred one first.
  public let availableInterfaces: [NWInterface]
  /// Whether it is expensive, as a cellular network or a personal hotspot is.
  public let isExpensive: Bool
  /// Whether it is in Low Data Mode.
  public let isConstrained: Bool
  /// Whether it carries IPv4.
  public let supportsIPv4: Bool
  /// Whether it carries IPv6.
  public let supportsIPv6: Bool
  /// Whether names can be resolved.
  public let supportsDNS: Bool

  /// Creates a path for a test, by default one over Wi-Fi.
  public init(
    _status status: NWPath.Status = .satisfied,
    _unsatisfiedReason unsatisfiedReason: NWPath.UnsatisfiedReason = .notAvailable,
    _interfaces interfaces: [NWInterface] = [NWInterface(_type: .wifi, _name: "en0", _index: 1)],
    _isExpensive isExpensive: Bool = false,
    _isConstrained isConstrained: Bool = false,
    _supportsIPv4 supportsIPv4: Bool = true,
    _supportsIPv6 supportsIPv6: Bool = true,
    _supportsDNS supportsDNS: Bool = true,
  ) {
    self.status = status
    self.unsatisfiedReason = unsatisfiedReason
    availableInterfaces = interfaces
    self.isExpensive = isExpensive
    self.isConstrained = isConstrained
    self.supportsIPv4 = supportsIPv4
    self.supportsIPv6 = supportsIPv6
    self.supportsDNS = supportsDNS
  }

  /// A path that cannot be used.
  static let none = NWPath(
    _status: .unsatisfied,
    _interfaces: [],
    _supportsIPv4: false,
    _supportsIPv6: false,
    _supportsDNS: false,
  )

  /// The state in words.
  public var debugDescription: String {
    let names = availableInterfaces.map(\.name)
    return "\(status), interfaces: \(names), expensive: \(isExpensive), constrained: \(isConstrained)"
  }
}
