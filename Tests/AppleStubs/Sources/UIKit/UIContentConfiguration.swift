import Foundation

/// The name of a custom state.
public struct UIConfigurationStateCustomKey: Hashable, RawRepresentable, Sendable {
  /// The name.
  public let rawValue: String

  /// Makes a key from its name.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// Makes a key from its name.
  public init(_ rawValue: String) {
    self.rawValue = rawValue
  }
}

/// The state a content is made for.
@MainActor
@preconcurrency
public protocol UIConfigurationState {
  /// The traits.
  var traitCollection: UITraitCollection { get set }
  /// A custom state.
  subscript(key: UIConfigurationStateCustomKey) -> AnyHashable? { get set }
  /// Makes a plain state for traits.
  init(traitCollection: UITraitCollection)
}

/// The state of a cell.
@MainActor
@preconcurrency
public struct UICellConfigurationState: UIConfigurationState {
  /// The traits.
  public var traitCollection: UITraitCollection
  /// Whether it is off.
  public var isDisabled = false
  /// Whether it is highlighted.
  public var isHighlighted = false
  /// Whether it is selected.
  public var isSelected = false
  /// Whether it has the focus.
  public var isFocused = false
  /// Whether it is edited.
  public var isEditing = false
  /// Whether it is expanded.
  public var isExpanded = false
  private var custom: [UIConfigurationStateCustomKey: AnyHashable] = [:]

  /// Makes a plain state for traits.
  public init(traitCollection: UITraitCollection) {
    self.traitCollection = traitCollection
  }

  /// A custom state.
  public subscript(key: UIConfigurationStateCustomKey) -> AnyHashable? {
    get { custom[key] }
    set { custom[key] = newValue }
  }
}

/// The description of a content, from which a view is made.
@MainActor
@preconcurrency
public protocol UIContentConfiguration {
  /// Makes the view.
  func makeContentView() -> any UIView & UIContentView
  /// The description for a state.
  func updated(for state: any UIConfigurationState) -> Self
}

/// A view that shows what a description says.
@MainActor
@preconcurrency
public protocol UIContentView: NSObjectProtocol {
  /// The description.
  var configuration: any UIContentConfiguration { get set }
  /// Whether it can show another description.
  func supports(_ configuration: any UIContentConfiguration) -> Bool
}

extension UIContentView {
  /// Whether the description has the type of the present one: the method is optional.
  public func supports(_ configuration: any UIContentConfiguration) -> Bool {
    type(of: configuration) == type(of: self.configuration)
  }
}

/// The content of a cell that has a description.
@MainActor
final class _ContentHost {
  private(set) var view: (any UIView & UIContentView)?
  var configuration: (any UIContentConfiguration)?

  /// Takes another description, and keeps the view if the view can show it.
  func apply(_ new: (any UIContentConfiguration)?, in contentView: UIView) -> UIView {
    configuration = new
    guard let new else {
      view?.removeFromSuperview()
      view = nil
      return contentView
    }
    if let view, view.supports(new) {
      view.configuration = new
      return view
    }
    let made = new.makeContentView()
    made.frame = contentView.frame
    made.autoresizingMask = [.flexibleWidth, .flexibleHeight]
    let parent = contentView.superview
    contentView.removeFromSuperview()
    parent?.insertSubview(made, at: 0)
    view = made
    return made
  }
}
