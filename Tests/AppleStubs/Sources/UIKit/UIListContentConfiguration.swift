import CoreGraphics
import Foundation

/// The description of a row with a picture and text.
@MainActor
@preconcurrency
public struct UIListContentConfiguration: UIContentConfiguration, Hashable {
  /// How the picture is shown.
  public struct ImageProperties: Hashable, Sendable {
    /// The settings of a symbol.
    public var preferredSymbolConfiguration: UIImage.SymbolConfiguration?
    /// The tint.
    public var tintColor: UIColor?
    /// The radius of the corners.
    public var cornerRadius: CGFloat = 0
    /// The largest size, where zero sets no limit.
    public var maximumSize = CGSize.zero
    /// The size that is kept free.
    public var reservedLayoutSize = CGSize.zero
    /// Whether it keeps its colours when the screen turns them round.
    public var accessibilityIgnoresInvertColors = false

    /// The size kept free that is usual for symbols.
    public static let standardDimension: CGFloat = .greatestFiniteMagnitude

    init() {}
  }

  /// The picture.
  public var image: UIImage?
  /// How the picture is shown.
  public var imageProperties = ImageProperties()
  /// The text.
  public var text: String?
  /// The lesser text.
  public var secondaryText: String?
  /// The space between the picture and the text.
  public var imageToTextPadding: CGFloat = 16
  private let style: String

  private init(style: String) {
    self.style = style
  }

  /// The description of a plain row.
  public static func cell() -> UIListContentConfiguration { UIListContentConfiguration(style: "cell") }

  /// The description of a row with text below.
  public static func subtitleCell() -> UIListContentConfiguration { UIListContentConfiguration(style: "subtitle") }

  /// The description of a row with text beside.
  public static func valueCell() -> UIListContentConfiguration { UIListContentConfiguration(style: "value") }

  /// Makes the view.
  public func makeContentView() -> any UIView & UIContentView {
    UIListContentView(configuration: self)
  }

  /// The same description: it looks alike in all states here.
  public func updated(for state: any UIConfigurationState) -> UIListContentConfiguration { self }
}

/// The view of a row with a picture and text.
@MainActor
open class UIListContentView: UIView, UIContentView {
  private var current: UIListContentConfiguration
  /// The view with the picture.
  public let _imageView = UIImageView()
  /// The view with the text.
  public let _textLabel = UILabel()
  /// The view with the lesser text.
  public let _secondaryTextLabel = UILabel()

  /// Makes a view of a description.
  public init(configuration: UIListContentConfiguration) {
    current = configuration
    super.init(frame: .zero)
    for view in [_imageView, _textLabel, _secondaryTextLabel] { addSubview(view) }
    show()
  }

  /// Makes nothing: these stubs read no archives.
  public required init?(coder: NSCoder) {
    nil
  }

  /// The description.
  open var configuration: any UIContentConfiguration {
    get { current }
    set {
      guard let new = newValue as? UIListContentConfiguration else { return }
      current = new
      show()
    }
  }

  open override func layoutSubviews() {
    super.layoutSubviews()
    var size = current.image?.size ?? .zero
    let limit = current.imageProperties.maximumSize
    let ratios = [(limit.width, size.width), (limit.height, size.height)].map { limit, length in
      limit > 0 && length > limit ? limit / length : 1
    }
    let ratio = min(ratios[0], ratios[1])
    size = CGSize(width: size.width * ratio, height: size.height * ratio)
    _imageView.frame = CGRect(origin: CGPoint(x: 16, y: (bounds.height - size.height) / 2), size: size)
    let start = _imageView.frame.maxX + (size.width > 0 ? current.imageToTextPadding : 0)
    let text = _textLabel.intrinsicContentSize
    _textLabel.frame = CGRect(x: start, y: 0, width: text.width, height: bounds.height)
    _secondaryTextLabel.frame = CGRect(x: start, y: bounds.height, width: text.width, height: 0)
  }

  private func show() {
    if _imageView.image !== current.image { _imageView.image = current.image }
    _imageView.preferredSymbolConfiguration = current.imageProperties.preferredSymbolConfiguration
    _imageView.tintColor = current.imageProperties.tintColor
    _imageView.layer.cornerRadius = current.imageProperties.cornerRadius
    _textLabel.text = current.text
    _secondaryTextLabel.text = current.secondaryText
    setNeedsLayout()
  }
}
