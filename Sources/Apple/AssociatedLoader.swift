#if !os(watchOS)
import Vitrine
#if os(macOS)
import AppKit
#else
import UIKit
#endif

extension ImageViewLoader {
  // The addresses of these bytes are the keys of the associations.
  private static let key = UnsafeRawPointer(UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1))
  private static let partsKey = UnsafeRawPointer(UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1))

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

  /// Returns the loader of one of several pictures of an object, such as the image of a state of a button, and makes
  /// picture and loader when they are first asked for.
  ///
  /// The object retains both, and neither retains the object.
  static func of<Host: PictureHost>(
    _ part: some Hashable,
    of owner: AnyObject,
    _ makeHost: () -> Host,
  ) -> (loader: ImageViewLoader, host: Host) {
    // The key is never read through.
    let known = unsafe objc_getAssociatedObject(owner, partsKey) as? PictureParts
    let parts = known ?? PictureParts()
    if known == nil { unsafe objc_setAssociatedObject(owner, partsKey, parts, .OBJC_ASSOCIATION_RETAIN_NONATOMIC) }
    if let (host, loader) = parts.loaders[AnyHashable(part)], let host = host as? Host { return (loader, host) }
    let host = makeHost()
    let loader = ImageViewLoader(host)
    parts.loaders[AnyHashable(part)] = (host, loader)
    return (loader, host)
  }
}

/// The pictures of an object that has several.
@MainActor
private final class PictureParts {
  var loaders: [AnyHashable: (host: any PictureHost, loader: ImageViewLoader)] = [:]
}
#endif
