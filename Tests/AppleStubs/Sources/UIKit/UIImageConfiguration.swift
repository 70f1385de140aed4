import Foundation

extension UIImage {
  /// Settings of a picture.
  open class Configuration: NSObject, @unchecked Sendable {
    // Sendable by hand, as in the SDK: all fields are constants.

    /// The traits it is for.
    public let traitCollection: UITraitCollection?

    /// Makes settings for traits.
    public required init(_traits: UITraitCollection?) {
      traitCollection = _traits
      super.init()
    }

    /// These settings with those of another one on top.
    open func applying(_ otherConfiguration: UIImage.Configuration?) -> Self {
      _combined(with: otherConfiguration) as? Self ?? self
    }

    func _combined(with other: UIImage.Configuration?) -> UIImage.Configuration {
      Configuration(_traits: other?.traitCollection ?? traitCollection)
    }

    open override func isEqual(_ object: Any?) -> Bool {
      guard let other = object as? Configuration, type(of: other) == type(of: self) else { return false }
      return other.traitCollection == traitCollection
    }

    open override var hash: Int { traitCollection?.hash ?? 0 }
  }

  /// The size of a symbol beside text.
  public enum SymbolScale: Int, Sendable {
    /// The one the system chooses.
    case `default` = -1
    /// Not set.
    case unspecified = 0
    /// Small.
    case small = 1
    /// Medium.
    case medium = 2
    /// Large.
    case large = 3
  }

  /// The boldness of a symbol.
  public enum SymbolWeight: Int, Sendable {
    /// Not set.
    case unspecified = 0
    /// The thinnest.
    case ultraLight = 1
    /// Thin.
    case thin
    /// Light.
    case light
    /// Regular.
    case regular
    /// Medium.
    case medium
    /// Half bold.
    case semibold
    /// Bold.
    case bold
    /// Heavy.
    case heavy
    /// The boldest.
    case black
  }

  /// How a symbol shows its variable value.
  public enum SymbolVariableValueMode: Int, Sendable {
    /// As the symbol likes.
    case automatic = 0
    /// By colour.
    case color
    /// By drawing.
    case draw
  }

  /// How a symbol is coloured.
  public enum SymbolColorRenderingMode: Int, Sendable {
    /// As the symbol likes.
    case automatic = 0
    /// Evenly.
    case flat
    /// In a gradient.
    case gradient
  }
}
