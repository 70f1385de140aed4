import Foundation

/// The name of a custom state.
public struct UIConfigurationStateCustomKey: Hashable, RawRepresentable, Sendable {
  /// The name.
  public let rawValue: String

  /// Makes a key from its name.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }
}

/// The state a content is made for.
@MainActor
@preconcurrency
public protocol UIConfigurationState {
}

/// The state of a cell.
@MainActor
@preconcurrency
public struct UICellConfigurationState: UIConfigurationState {
  /// The traits.
  public var traitCollection: UITraitCollection
  /// Whether it is highlighted.
  public var isHighlighted = false
  /// Whether it is selected.
  public var isSelected = false

  /// Makes a plain state for traits.
  public init(traitCollection: UITraitCollection) {
    self.traitCollection = traitCollection
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

/// The content of a cell: a plain view, or the view of a description, which follows the cell's state.
@MainActor
final class _CellContent {
  let plain = UIView()
  private var view: (any UIView & UIContentView)?
  private var isDue = false
  private(set) var configuration: (any UIContentConfiguration)?

  /// The view with everything in it.
  var contentView: UIView { view ?? plain }

  /// Puts the plain view into a new cell.
  func fill(_ cell: UIView) {
    plain.frame = cell.bounds
    plain.autoresizingMask = [.flexibleWidth, .flexibleHeight]
    cell.addSubview(plain)
  }

  /// Takes another description, and keeps the view if the view can show it.
  func apply(_ new: (any UIContentConfiguration)?, in cell: UIView) {
    configuration = new
    cell.setNeedsLayout()
    if let new, let view, view.supports(new) {
      view.configuration = new
      return
    }
    let former = contentView
    view = new?.makeContentView()
    guard former !== contentView else { return }
    contentView.frame = former.frame
    contentView.autoresizingMask = [.flexibleWidth, .flexibleHeight]
    former.removeFromSuperview()
    cell.insertSubview(contentView, at: 0)
  }

  /// Notes that the state of the cell has changed.
  func setNeedsUpdate(of cell: UIView) {
    isDue = true
    cell.setNeedsLayout()
  }

  /// Suits the description to the state, if the state has changed, and returns whether it has.
  func update(to state: UICellConfigurationState, in cell: UIView, automatically: Bool) -> Bool {
    guard isDue else { return false }
    isDue = false
    if automatically, let configuration { apply(configuration.updated(for: state), in: cell) }
    return true
  }
}
