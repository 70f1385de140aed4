import Foundation

extension NSImage {
  /// The size of a symbol beside text.
  public enum SymbolScale: Int, Sendable {
    /// Small.
    case small = 1
    /// Medium.
    case medium = 2
    /// Large.
    case large = 3
  }

  /// Settings of a symbol.
  open class SymbolConfiguration: NSObject, @unchecked Sendable {
    // Sendable by hand: all fields are constants.

    /// The values that were set.
    public struct _Values: Hashable, Sendable {
      /// The size in points.
      public var pointSize: CGFloat?
      /// The text whose size it takes.
      public var textStyle: NSFont.TextStyle?
      /// The boldness.
      public var weight: NSFont.Weight?
      /// The size beside text.
      public var scale: SymbolScale?
      /// The colour from which the others are made.
      public var hierarchicalColor: NSColor?
      /// The colours, layer by layer.
      public var paletteColors: [NSColor]?
      /// Whether it wants its own colours.
      public var prefersMulticolor = false
      /// Whether it wants one colour.
      public var prefersMonochrome = false
      /// Whether it wants shades of one colour.
      public var prefersHierarchical = false

      /// Makes values of which none is set.
      public init() {}

      var hasColors: Bool {
        hierarchicalColor != nil || paletteColors != nil || prefersMonochrome || prefersHierarchical
      }
    }

    /// The values that were set.
    public let _values: _Values

    /// Makes settings of values.
    public required init(_values: _Values) {
      self._values = _values
      super.init()
    }

    /// Makes settings of which none is set.
    public override convenience init() {
      self.init(_values: _Values())
    }

    convenience init(_ change: (inout _Values) -> Void) {
      var values = _Values()
      change(&values)
      self.init(_values: values)
    }

    /// Makes settings with a size in points and a boldness.
    public convenience init(pointSize: CGFloat, weight: NSFont.Weight) {
      self.init {
        $0.pointSize = pointSize
        $0.weight = weight
      }
    }

    /// Makes settings with a size in points, a boldness, and a size beside text.
    public convenience init(pointSize: CGFloat, weight: NSFont.Weight, scale: NSImage.SymbolScale) {
      self.init {
        $0.pointSize = pointSize
        $0.weight = weight
        $0.scale = scale
      }
    }

    /// Makes settings with the size of a text.
    public convenience init(textStyle style: NSFont.TextStyle) {
      self.init { $0.textStyle = style }
    }

    /// Makes settings with the size of a text, and a size beside it.
    public convenience init(textStyle style: NSFont.TextStyle, scale: NSImage.SymbolScale) {
      self.init {
        $0.textStyle = style
        $0.scale = scale
      }
    }

    /// Makes settings with a size beside text.
    public convenience init(scale: NSImage.SymbolScale) {
      self.init { $0.scale = scale }
    }

    /// Makes settings with colours made from one.
    public convenience init(hierarchicalColor: NSColor) {
      self.init { $0.hierarchicalColor = hierarchicalColor }
    }

    /// Makes settings with colours, layer by layer.
    public convenience init(paletteColors: [NSColor]) {
      self.init { $0.paletteColors = paletteColors }
    }

    /// Settings with the symbol's own colours.
    open class func preferringMulticolor() -> Self {
      var values = _Values()
      values.prefersMulticolor = true
      return Self(_values: values)
    }

    /// Settings with one colour.
    open class func preferringMonochrome() -> Self {
      var values = _Values()
      values.prefersMonochrome = true
      return Self(_values: values)
    }

    /// Settings with shades of one colour.
    open class func preferringHierarchical() -> Self {
      var values = _Values()
      values.prefersHierarchical = true
      return Self(_values: values)
    }

    /// These settings with those of another one on top.
    open func applying(_ configuration: NSImage.SymbolConfiguration) -> Self {
      let other = configuration._values
      var values = _values
      if other.pointSize != nil || other.textStyle != nil {
        values.pointSize = other.pointSize
        values.textStyle = other.textStyle
      }
      values.weight = other.weight ?? values.weight
      values.scale = other.scale ?? values.scale
      if other.hasColors {
        values.hierarchicalColor = other.hierarchicalColor
        values.paletteColors = other.paletteColors
        values.prefersMonochrome = other.prefersMonochrome
        values.prefersHierarchical = other.prefersHierarchical
        values.prefersMulticolor = false
      }
      if other.prefersMulticolor {
        values.prefersMulticolor = true
        values.prefersMonochrome = false
      }
      return Self(_values: values)
    }

    open override func isEqual(_ object: Any?) -> Bool {
      (object as? SymbolConfiguration)?._values == _values
    }

    open override var hash: Int { _values.hashValue }
  }
}
