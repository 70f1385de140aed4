#if !os(watchOS)
import Vitrine
#if os(macOS)
import AppKit
#else
import UIKit
#endif

extension ImageViewLoader {
  /// The address of this byte is the key of the association.
  private static let key = UnsafeRawPointer(UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1))

  /// Returns the loader of a view, and makes it when it is first asked for.
  ///
  /// The view retains it, and it does not retain the view.
  static func of(_ host: any PictureHost) -> ImageViewLoader {
    // The key is never read through.
    if let loader = unsafe objc_getAssociatedObject(host, key) as? ImageViewLoader { return loader }
    let loader = ImageViewLoader(host)
    unsafe objc_setAssociatedObject(host, key, loader, .OBJC_ASSOCIATION_RETAIN_NONATOMIC)
    return loader
  }
}
#endif
