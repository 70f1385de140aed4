import Foundation

extension UIImage {
  /// Settings of a symbol.
  open class SymbolConfiguration: UIImage.Configuration, @unchecked Sendable {
    // Sendable by hand, as in the SDK: all fields are constants.

    /// The values that were set.
    public struct _Values: Hashable, Sendable {
      /// The size in points.
      public var pointSize: CGFloat?
      /// The text whose size it takes.
      public var textStyle: UIFont.TextStyle?
      /// The boldness.
      public var weight = SymbolWeight.unspecified
      /// The size beside text.
      public var scale = SymbolScale.unspecified
      /// The colour from which the others are made.
      public var hierarchicalColor: UIColor?
      /// The colours, layer by layer.
      public var paletteColors: [UIColor]?
      /// Whether it wants its own colours.
      public var prefersMulticolor = false
      /// Whether it wants one colour.
      public var prefersMonochrome = false
      /// How it shows its variable value.
      public var variableValueMode: SymbolVariableValueMode?
      /// How it is coloured.
      public var colorRenderingMode: SymbolColorRenderingMode?

      /// Makes values of which none is set.
      public init() {}

      func applying(_ other: _Values) -> _Values {
        var result = self
        if other.pointSize != nil || other.textStyle != nil {
          result.pointSize = other.pointSize
          result.textStyle = other.textStyle
        }
        if other.weight != .unspecified { result.weight = other.weight }
        if other.scale != .unspecified { result.scale = other.scale }
        if other.hierarchicalColor != nil || other.paletteColors != nil || other.prefersMonochrome {
          result.hierarchicalColor = other.hierarchicalColor
          result.paletteColors = other.paletteColors
          result.prefersMonochrome = other.prefersMonochrome
          result.prefersMulticolor = false
        }
        if other.prefersMulticolor {
          result.prefersMulticolor = true
          result.prefersMonochrome = false
        }
        result.variableValueMode = other.variableValueMode ?? result.variableValueMode
        result.colorRenderingMode = other.colorRenderingMode ?? result.colorRenderingMode
        return result
      }
    }

    /// The values that were set.
    public let _values: _Values

    /// Makes settings of values.
    public required init(_values: _Values, traits: UITraitCollection?) {
      self._values = _values
      super.init(_traits: traits)
    }

    /// Makes settings for traits.
    public required convenience init(_traits: UITraitCollection?) {
      self.init(_values: _Values(), traits: _traits)
    }

    convenience init(_ change: (inout _Values) -> Void) {
      var values = _Values()
      change(&values)
      self.init(_values: values, traits: nil)
    }

    /// Makes settings with a size in points.
    public convenience init(pointSize: CGFloat) {
      self.init { $0.pointSize = pointSize }
    }

    /// Makes settings with a boldness.
    public convenience init(weight: UIImage.SymbolWeight) {
      self.init { $0.weight = weight }
    }

    /// Makes settings with a size in points, a boldness, and a size beside text.
    public convenience init(pointSize: CGFloat, weight: UIImage.SymbolWeight, scale: UIImage.SymbolScale) {
      self.init {
        $0.pointSize = pointSize
        $0.weight = weight
        $0.scale = scale
      }
    }

    /// Makes settings with the size of a text.
    public convenience init(textStyle: UIFont.TextStyle) {
      self.init(textStyle: textStyle, scale: .unspecified)
    }

    /// Makes settings with the size of a text, and a size beside it.
    public convenience init(textStyle: UIFont.TextStyle, scale: UIImage.SymbolScale) {
      self.init {
        $0.textStyle = textStyle
        $0.scale = scale
      }
    }

    /// Makes settings with colours made from one.
    public convenience init(hierarchicalColor: UIColor) {
      self.init { $0.hierarchicalColor = hierarchicalColor }
    }

    /// Makes settings with colours, layer by layer.
    public convenience init(paletteColors: [UIColor]) {
      self.init { $0.paletteColors = paletteColors }
    }

    /// Settings with the symbol's own colours.
    open class func preferringMulticolor() -> Self {
      var values = _Values()
      values.prefersMulticolor = true
      return Self(_values: values, traits: nil)
    }

    /// Settings of which none is set.
    open class var unspecified: UIImage.SymbolConfiguration {
      SymbolConfiguration(_values: _Values(), traits: nil)
    }

    override func _combined(with other: UIImage.Configuration?) -> UIImage.Configuration {
      let values = (other as? SymbolConfiguration).map { _values.applying($0._values) } ?? _values
      return SymbolConfiguration(_values: values, traits: other?.traitCollection ?? traitCollection)
    }

    open override func isEqual(_ object: Any?) -> Bool {
      guard let other = object as? SymbolConfiguration else { return false }
      return super.isEqual(object) && other._values == _values
    }

    open override var hash: Int { _values.hashValue }

    var _pointLength: CGFloat {
      let size = _values.pointSize ?? _values.textStyle.map { UIFont.preferredFont(forTextStyle: $0).pointSize } ?? 17
      switch _values.scale {
      case .small: return size * 0.8
      case .large: return size * 1.3
      case .default, .unspecified, .medium: return size
      }
    }
  }
}
