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
      // Decoders deliver straight alpha, which also draws fastest.
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
@MainActor
@safe
final class Texture {
  let pointer: OpaquePointer
  let bitmap: Bitmap
  /// The texture of the pixels without their alpha, for drawing in software.
  private var opaque: OpaquePointer?

  init(_ bitmap: Bitmap) {
    self.bitmap = bitmap
    unsafe pointer = bitmap.makeTexture()
    unsafe opaque = nil
  }

  isolated deinit {
    unsafe g_object_unref(UnsafeMutableRawPointer(pointer))
    if let opaque = unsafe opaque { unsafe g_object_unref(UnsafeMutableRawPointer(opaque)) }
  }

  /// Draws into a rectangle.
  ///
  /// - Parameters:
  ///   - snapshot: The drawing.
  ///   - rectangle: The place.
  ///   - isBySoftware: True if GTK's renderer draws in software; defaults to `false`. It converts a texture anew for
  ///     each frame: 188 pixels a side take it 163 microseconds with an alpha channel, and 44 without one.
  func draw(into snapshot: OpaquePointer, _ rectangle: PictureRectangle, isBySoftware: Bool = false) {
    var bounds = rectangle.bounds
    if isBySoftware, unsafe opaque == nil { unsafe opaque = bitmap.makeOpaqueTexture() }
    // GTK copies the rectangle and takes a reference to the texture.
    unsafe gtk_snapshot_append_texture(snapshot, isBySoftware ? opaque ?? pointer : pointer, &bounds)
  }
}

extension Bitmap {
  /// Returns a texture with a copy of the pixels without alpha; the caller owns the reference.
  ///
  /// Returns `nil` if there is something to see through, or another colour space than GDK's.
  ///
  /// - Complexity: O(pixels), a fraction of a nanosecond for each.
  fileprivate func makeOpaqueTexture() -> OpaquePointer? {
    guard alpha == .opaque, colorSpace == .sRGB else { return nil }
    let count = gsize(3 * width * height)
    // It has room for as many pixels, three bytes each; the bytes own it.
    let copy = unsafe g_malloc(count)
    unsafe withUnsafeBytes { unsafe vitrine_gtk_drop_alpha($0.baseAddress, bytesPerRow, copy, width, height) }
    let bytes = unsafe g_bytes_new_take(copy, count)
    defer { unsafe g_bytes_unref(bytes) }
    return unsafe gdk_memory_texture_new(gint(width), gint(height), GDK_MEMORY_R8G8B8, bytes, gsize(3 * width))
  }
}
