public import VitrineImaging
import VitrineCaching
import VitrineHTTP
import VitrineRuntime

/// An image in the memory cache, with what its freshness depends on.
///
/// It carries the content id and the expiry of the bytes that it was made of, so it is never served as fresh for longer
/// than they may be.
public struct CachedImage: Sendable {
  let response: ImageResponse
  /// Tells the bytes it was made of apart from other versions of the same image.
  let contentID: ContentID
  /// Until when it may be served without asking; `nil` for ever.
  let expires: Date?

  /// The pixels.
  public var image: Bitmap { response.image }

  func isFresh(at now: Date, _ policy: CachePolicy) -> Bool {
    switch policy {
    case .cacheFirst, .cacheOnly: true
    case .standard, .reload, .maxAge: expires.map { now < $0 } ?? true
    }
  }

  func with(_ image: Bitmap) -> CachedImage {
    CachedImage(response: response.with(image), contentID: contentID, expires: expires)
  }
}
