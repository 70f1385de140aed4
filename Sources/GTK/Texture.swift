import CGTK
import CVitrineGTK
public import Vitrine

extension Bitmap {
  /// Makes a `GdkTexture` of the pixels, without copying them.
  ///
  /// The caller owns the reference.
  ///
  /// The texture retains the pixels. A bitmap that is not in sRGB is converted first. May be called on any thread.
  ///
  /// - Complexity: O(1), or O(pixels) with a conversion.
  public func makeTexture() -> OpaquePointer {
    // GDK takes components as sRGB.
    guard colorSpace == .sRGB else { return unsafe converted(to: .sRGB).makeTexture() }
    return unsafe withUnsafeBytes { pixels in
      // The owner is released when GDK is done with the bytes; until then it keeps the pixels in place.
      let owner = unsafe Unmanaged.passRetained(PixelOwner(self))
      let bytes = unsafe g_bytes_new_with_free_func(
        pixels.baseAddress,
        gsize(byteCount),
        releaseObject,
        owner.toOpaque(),
      )
      defer { unsafe g_bytes_unref(bytes) }
      // Straight alpha is what decoders deliver, and what draws fastest.
      let format = alpha == .premultiplied ? GDK_MEMORY_R8G8B8A8_PREMULTIPLIED : GDK_MEMORY_R8G8B8A8
      return unsafe gdk_memory_texture_new(gint(width), gint(height), format, bytes, gsize(bytesPerRow))
    }
  }
}

private final class PixelOwner: Sendable {
  let bitmap: Bitmap

  init(_ bitmap: Bitmap) {
    self.bitmap = bitmap
  }
}

/// Owns a reference to the texture of a bitmap.
@safe
final class Texture {
  let pointer: OpaquePointer
  let bitmap: Bitmap

  init(_ bitmap: Bitmap) {
    self.bitmap = bitmap
    unsafe pointer = bitmap.makeTexture()
  }

  deinit { unsafe g_object_unref(UnsafeMutableRawPointer(pointer)) }

  /// Draws into a rectangle.
  func draw(into snapshot: OpaquePointer, _ rectangle: PictureRectangle) {
    var bounds = rectangle.bounds
    // GTK copies the rectangle and takes a reference to the texture.
    unsafe gtk_snapshot_append_texture(snapshot, pointer, &bounds)
  }
}
