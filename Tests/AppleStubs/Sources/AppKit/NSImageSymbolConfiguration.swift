import Foundation

extension NSImage {
  /// Settings of a symbol.
  open class SymbolConfiguration: NSObject, @unchecked Sendable {
    // Sendable by hand: all fields are constants.

    /// The values that were set.
    public struct _Values: Hashable, Sendable {
      /// The size in points.
      public var pointSize: CGFloat?
      /// The boldness.
      public var weight: NSFont.Weight?

      /// Makes values of which none is set.
      public init() {}
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

    open override func isEqual(_ object: Any?) -> Bool {
      (object as? SymbolConfiguration)?._values == _values
    }

    open override var hash: Int { _values.hashValue }
  }
}
