#if !os(watchOS)
import Vitrine
#if os(macOS) || os(Linux)
import AppKit
#endif
#if !os(macOS)
import UIKit
#endif

/// The range of brightness in which a view loads and shows images.
///
/// ```swift
/// imageView.vitrine.dynamicRange = .constrainedHigh  // highlights glow, and do not outshine what is beside them
/// ```
public enum DisplayRange: Sendable, Hashable, CaseIterable {
  /// As each request says (``Vitrine/ImageRequest/dynamicRange``), and as the surroundings of the view show it.
  case unspecified
  /// Up to the white of a page.
  case standard
  /// A little brighter than that, for images among other content.
  case constrainedHigh
  /// As bright as the file says and the display can.
  case high

  /// The range in which images are decoded; `nil` for that of each request.
  var decoded: DynamicRange? {
    switch self {
    case .unspecified: nil
    case .standard: .standard
    case .constrainedHigh, .high: .high
    }
  }

  #if !os(macOS)
  var uiRange: UIImage.DynamicRange {
    switch self {
    case .unspecified: .unspecified
    case .standard: .standard
    case .constrainedHigh: .constrainedHigh
    case .high: .high
    }
  }
  #endif

  #if os(macOS) || os(Linux)
  var nsRange: NSImage.DynamicRange {
    switch self {
    case .unspecified: .unspecified
    case .standard: .standard
    case .constrainedHigh: .constrainedHigh
    case .high: .high
    }
  }
  #endif
}
#endif
