import CoreGraphics
import Foundation

/// A view that is used with a finger.
@MainActor
open class UIControl: UIView {
  /// How a control is.
  public struct State: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt

    /// Makes a state of bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// As it mostly is.
    public static let normal = State([])
    /// While a finger is on it.
    public static let highlighted = State(rawValue: 1)
    /// While it takes no touches.
    public static let disabled = State(rawValue: 2)
    /// Once it is chosen.
    public static let selected = State(rawValue: 4)
  }
}
