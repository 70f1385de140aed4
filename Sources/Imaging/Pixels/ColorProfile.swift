public import VitrineRuntime

/// An ICC colour profile as stored in a file.
public struct ColorProfile: Sendable, Hashable {
  /// The profile's bytes (ICC.1).
  public let data: Data

  /// Makes a profile from its bytes.
  public init(data: Data) {
    self.data = data
  }
}
