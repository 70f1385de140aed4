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

  /// The way an image is fitted into a box.
  enum Fit {
    /// By its mode, never larger than its pixels unless it has to cover the box.
    case image
    /// Like the image that it stands for: its own pixels are few.
    case placeholder
  }

  /// Draws into the box from 0, 0, at exactly the display's pixels if the texture has that many.
  func draw(
    into snapshot: OpaquePointer,
    width: Double,
    height: Double,
    scale: Double,
    mode: TargetSize.Mode,
    fit: Fit,
  ) {
    guard width > 0, height > 0 else { return }
    // In device pixels first, which decide whether a picture is sharp.
    let (boxWidth, boxHeight) = ((width * scale).rounded(), (height * scale).rounded())
    let (scaleX, scaleY) = (boxWidth / Double(bitmap.width), boxHeight / Double(bitmap.height))
    var (drawnWidth, drawnHeight) = (boxWidth, boxHeight)
    switch mode {
    case .exact: break
    case .fill:
      let factor = max(scaleX, scaleY)
      (drawnWidth, drawnHeight) = (Double(bitmap.width) * factor, Double(bitmap.height) * factor)
    case .fit:
      let most = fit == .image ? 1 : Double.infinity
      let factor = min(scaleX, scaleY, most)
      (drawnWidth, drawnHeight) = (Double(bitmap.width) * factor, Double(bitmap.height) * factor)
    }
    let (x, y) = (((boxWidth - drawnWidth) / 2).rounded(.down), ((boxHeight - drawnHeight) / 2).rounded(.down))
    var bounds = graphene_rect_t()
    // GTK copies the rectangle and takes a reference to the texture.
    unsafe graphene_rect_init(
      &bounds,
      Float(x / scale),
      Float(y / scale),
      Float(drawnWidth / scale),
      Float(drawnHeight / scale),
    )
    unsafe gtk_snapshot_append_texture(snapshot, pointer, &bounds)
  }
}
