@_exported import CoreGraphics
@_exported import Foundation
@_exported import QuartzCore
@_exported import Symbols
@_exported import _KitShared

extension IndexPath {
  /// Makes the path of a row.
  public init(row: Int, section: Int) {
    self.init(item: row, section: section)
  }

  /// The number of the row in its section.
  public var row: Int {
    get { item }
    set { item = newValue }
  }
}
