@_exported import CoreGraphics
@_exported import Foundation
@_exported import QuartzCore
@_exported import Symbols
@_exported import _KitShared

extension NSLayoutConstraint {
  /// How strongly a constraint holds.
  public typealias Priority = _LayoutPriority
}
