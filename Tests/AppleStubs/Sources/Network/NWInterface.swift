/// A network interface.
public struct NWInterface: Hashable, Sendable, CustomDebugStringConvertible {
  /// The kinds of interfaces.
  public enum InterfaceType: Hashable, Sendable {
    /// A virtual or unknown interface.
    case other
    /// Wi-Fi.
    case wifi
    /// A cellular network.
    case cellular
    /// A cable.
    case wiredEthernet
    /// The machine itself.
    case loopback
  }

  /// The kind.
  public let type: NWInterface.InterfaceType
  /// The system's name.
  public let name: String
  /// The system's number.
  public let index: Int

  /// Creates an interface for a test.
  public init(_type type: NWInterface.InterfaceType, _name name: String, _index index: Int) {
    self.type = type
    self.name = name
    self.index = index
  }

  /// The system's name.
  public var debugDescription: String { name }
}
