import CoreGraphics
import Foundation

/// A row of a table.
@MainActor
open class UITableViewCell: UIView, _RecycledCell {
  /// How a row is arranged.
  public enum CellStyle: Int, Sendable {
    /// A picture and a text.
    case `default` = 0
    /// With text at the right.
    case value1 = 1
    /// With text at the left.
    case value2 = 2
    /// With text below.
    case subtitle = 3
  }

  /// What runs when the state of a row has changed.
  public typealias ConfigurationUpdateHandler = (_ cell: UITableViewCell, _ state: UICellConfigurationState) -> Void

  private let style: CellStyle
  private let content = _CellContent()
  /// The name under which it is used again.
  public let reuseIdentifier: String?
  /// The view with everything in it.
  open var contentView: UIView { content.contentView }
  /// The picture.
  open private(set) lazy var imageView: UIImageView? = add(UIImageView())
  /// The text.
  open private(set) lazy var textLabel: UILabel? = add(UILabel())
  /// Whether it is selected.
  open var isSelected = false { didSet { setNeedsUpdateConfiguration() } }
  /// Whether it is highlighted.
  open var isHighlighted = false { didSet { setNeedsUpdateConfiguration() } }
  /// Whether the description follows the state by itself.
  open var automaticallyUpdatesContentConfiguration = true
  /// What runs when the state has changed.
  open var configurationUpdateHandler: ConfigurationUpdateHandler? { didSet { setNeedsUpdateConfiguration() } }
  /// How often it was used again.
  public private(set) var _reuseCount = 0

  /// Makes a row.
  public init(style: UITableViewCell.CellStyle, reuseIdentifier: String?) {
    self.style = style
    self.reuseIdentifier = reuseIdentifier
    super.init(frame: CGRect(x: 0, y: 0, width: 320, height: 44))
    content.fill(self)
  }

  /// Makes a row of the default style.
  public override convenience init(frame: CGRect) {
    self.init(style: .default, reuseIdentifier: nil)
    self.frame = frame
  }

  /// Makes an empty row: these stubs read no archives.
  public required init?(coder: NSCoder) {
    style = .default
    reuseIdentifier = nil
    super.init(coder: coder)
    content.fill(self)
  }

  /// Makes a row of a class known only at run time.
  public required convenience init(_registeredFor identifier: String) {
    self.init(style: .default, reuseIdentifier: identifier)
  }

  /// Makes the row ready to be used again.
  open func prepareForReuse() {
    _reuseCount += 1
    isSelected = false
    isHighlighted = false
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
    guard content.configuration == nil else { return }
    let height = bounds.height
    let hasImage = imageView?.image != nil
    imageView?.frame = CGRect(x: 16, y: 0, width: hasImage ? height : 0, height: hasImage ? height : 0)
    let start = hasImage ? 32 + height : 16
    textLabel?.frame = CGRect(x: start, y: 0, width: max(0, bounds.width - start), height: height)
  }

  private func add<View: UIView>(_ view: View) -> View {
    content.plain.addSubview(view)
    return view
  }
}
