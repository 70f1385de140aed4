import CoreGraphics
import Foundation

/// A view that a collection uses again.
@MainActor
open class UICollectionReusableView: UIView {
  /// The name under which it is used again.
  open internal(set) var reuseIdentifier: String?
  /// How often it was used again.
  public private(set) var _reuseCount = 0

  /// Makes a view.
  public override init(frame: CGRect) {
    super.init(frame: frame)
  }

  /// Makes an empty view: these stubs read no archives.
  public required init?(coder: NSCoder) {
    super.init(coder: coder)
  }

  /// Makes a view of a class known only at run time.
  public required convenience init(_registeredFor identifier: String) {
    self.init(frame: .zero)
    reuseIdentifier = identifier
  }

  /// Makes the view ready to be used again.
  open func prepareForReuse() {
    _reuseCount += 1
  }
}

/// A cell of a collection.
@MainActor
open class UICollectionViewCell: UICollectionReusableView, _RecycledCell {
  /// What runs when the state of a cell has changed.
  public typealias ConfigurationUpdateHandler = (_ cell: UICollectionViewCell, _ state: UICellConfigurationState) ->
    Void

  private let content = _CellContent()
  /// The view with everything in it.
  open var contentView: UIView { content.contentView }
  /// Whether it is selected.
  open var isSelected = false { didSet { setNeedsUpdateConfiguration() } }
  /// Whether it is highlighted.
  open var isHighlighted = false { didSet { setNeedsUpdateConfiguration() } }
  /// Whether the description follows the state by itself.
  open var automaticallyUpdatesContentConfiguration = true
  /// What runs when the state has changed.
  open var configurationUpdateHandler: ConfigurationUpdateHandler? { didSet { setNeedsUpdateConfiguration() } }

  /// Makes a cell.
  public override init(frame: CGRect) {
    super.init(frame: frame)
    content.fill(self)
  }

  /// Makes an empty cell: these stubs read no archives.
  public required init?(coder: NSCoder) {
    super.init(coder: coder)
    content.fill(self)
  }

  open override func prepareForReuse() {
    super.prepareForReuse()
    isSelected = false
    isHighlighted = false
  }

  /// The description of the content.
  open var contentConfiguration: (any UIContentConfiguration)? {
    get { content.configuration }
    set { content.apply(newValue, in: self) }
  }

  /// The state.
  open var configurationState: UICellConfigurationState {
    var state = UICellConfigurationState(traitCollection: traitCollection)
    state.isSelected = isSelected
    state.isHighlighted = isHighlighted
    return state
  }

  /// Notes that the state has changed.
  open func setNeedsUpdateConfiguration() {
    content.setNeedsUpdate(of: self)
  }

  /// Suits the content to a state.
  open func updateConfiguration(using state: UICellConfigurationState) {}

  open override func layoutSubviews() {
    let state = configurationState
    if content.update(to: state, in: self, automatically: automaticallyUpdatesContentConfiguration) {
      updateConfiguration(using: state)
      configurationUpdateHandler?(self, state)
    }
    super.layoutSubviews()
  }
}
