import Foundation

/// Light or dark.
public enum UIUserInterfaceStyle: Int, Sendable {
  /// Not set.
  case unspecified = 0
  /// Light.
  case light = 1
  /// Dark.
  case dark = 2
}

/// What surrounds a view.
open class UITraitCollection: NSObject, @unchecked Sendable {
  // Sendable by hand, as in the SDK: all fields are constants.

  /// How many pixels make a point, where zero means not set.
  public let displayScale: CGFloat
  /// Light or dark.
  public let userInterfaceStyle: UIUserInterfaceStyle
  /// How bright images may show.
  public let imageDynamicRange: UIImage.DynamicRange

  init(displayScale: CGFloat, style: UIUserInterfaceStyle, range: UIImage.DynamicRange) {
    self.displayScale = displayScale
    userInterfaceStyle = style
    imageDynamicRange = range
    super.init()
  }

  /// Makes a collection with nothing set.
  public override convenience init() {
    self.init(displayScale: 0, style: .unspecified, range: .unspecified)
  }

  /// Makes a collection with only a scale.
  public convenience init(displayScale: CGFloat) {
    self.init(displayScale: displayScale, style: .unspecified, range: .unspecified)
  }

  /// Makes a collection from several, of which the later ones win.
  public convenience init(traitsFrom traitCollections: [UITraitCollection]) {
    self.init(
      displayScale: traitCollections.last { $0.displayScale != 0 }?.displayScale ?? 0,
      style: traitCollections.last { $0.userInterfaceStyle != .unspecified }?.userInterfaceStyle ?? .unspecified,
      range: traitCollections.last { $0.imageDynamicRange != .unspecified }?.imageDynamicRange ?? .unspecified,
    )
  }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? UITraitCollection else { return false }
    return displayScale == other.displayScale && userInterfaceStyle == other.userInterfaceStyle
      && imageDynamicRange == other.imageDynamicRange
  }

  open override var hash: Int {
    var hasher = Hasher()
    hasher.combine(displayScale)
    hasher.combine(userInterfaceStyle)
    hasher.combine(imageDynamicRange)
    return hasher.finalize()
  }
}

/// A trait that views can watch.
public protocol UITraitDefinition<Value> {
  /// The type of its values.
  associatedtype Value
  /// Its value in a collection, for comparison.
  static func _value(in traits: UITraitCollection) -> AnyHashable
}

/// The type of a trait.
public typealias UITrait = any UITraitDefinition.Type

/// A handler that was registered.
public protocol UITraitChangeRegistration: NSObjectProtocol {}

final class _TraitRegistration: NSObject, UITraitChangeRegistration {
  let traits: [UITrait]
  let run: @MainActor (UITraitCollection) -> Void

  init(traits: [UITrait], run: @escaping @MainActor (UITraitCollection) -> Void) {
    self.traits = traits
    self.run = run
  }
}

/// Something that has traits.
@MainActor
public protocol UITraitEnvironment: NSObjectProtocol {
  /// The traits.
  var traitCollection: UITraitCollection { get }
}

/// Something whose traits can be watched.
@MainActor
public protocol UITraitChangeObservable: AnyObject {
  /// Registers a handler.
  func _register(
    _ traits: [UITrait],
    _ run: @escaping @MainActor (UITraitCollection) -> Void,
  )
    -> any UITraitChangeRegistration
}

extension UITraitChangeObservable {
  /// What runs after a change, with the thing itself and the former traits.
  public typealias TraitChangeHandler<TraitEnvironment> = (
    _ traitEnvironment: TraitEnvironment, _ previousTraitCollection: UITraitCollection
  ) -> Void
}

/// A screen.
@MainActor
open class UIScreen: NSObject {
  /// The screen of the device.
  public static let main = UIScreen()

  /// How many pixels make a point.
  public internal(set) var scale: CGFloat = 2
  /// The size in points.
  public internal(set) var bounds = CGRect(x: 0, y: 0, width: 390, height: 844)
  /// How many frames a second it can show.
  public internal(set) var maximumFramesPerSecond = 60

  /// Its traits.
  open var traitCollection: UITraitCollection {
    UITraitCollection(displayScale: scale, style: .light, range: .standard)
  }
}
