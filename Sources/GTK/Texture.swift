import CGTK
import CVitrineGTK
import Vitrine
public import VitrineImaging

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
      let bytes = unsafe PixelOwner(self).bytes(pixels)
      defer { unsafe g_bytes_unref(bytes) }
      // Decoders deliver straight alpha, which also draws fastest.
      let format = alpha == .premultiplied ? GDK_MEMORY_R8G8B8A8_PREMULTIPLIED : GDK_MEMORY_R8G8B8A8
      return unsafe gdk_memory_texture_new(gint(width), gint(height), format, bytes, gsize(bytesPerRow))
    }
  }
}

extension HighRangeBitmap {
  /// A Boolean value that indicates whether the GTK that runs, 4.16 or later, can be told that pixels are brighter than
  /// white.
  static let hasTextures = vitrine_gtk_has_color_states() != 0

  /// Makes a `GdkTexture` of the pixels, without copying them; returns `nil` before GTK 4.16.
  ///
  /// The caller owns the reference. The texture retains the pixels. What is brighter than the surface on which it is drawn
  /// can show is cut off there. May be called on any thread. Complexity: O(1).
  public func makeTexture() -> OpaquePointer? {
    unsafe withUnsafeBytes { pixels in
      let bytes = unsafe PixelOwner(self).bytes(pixels)
      defer { unsafe g_bytes_unref(bytes) }
      return unsafe vitrine_gtk_high_range_texture(bytes, CInt(width), CInt(height))
    }
  }
}

extension ImageRequest {
  /// Returns the request for an image that is brighter than white on a display, or `nil` if the display or GTK shows none.
  func brightened(for headroom: Double) -> ImageRequest? {
    guard headroom > 1, HighRangeBitmap.hasTextures else { return nil }
    var request = self
    request.dynamicRange = .high
    request.processors.append(.highRange(headroom: min(headroom, 65_504)))
    return request
  }
}

/// Keeps the pixels of a texture.
private final class PixelOwner<Pixels: Sendable>: Sendable {
  private let pixels: Pixels

  init(_ pixels: Pixels) {
    self.pixels = pixels
  }

  /// Returns the memory of the pixels, which stays in place until GDK is done with it and releases this object.
  func bytes(_ memory: UnsafeRawBufferPointer) -> OpaquePointer? {
    unsafe g_bytes_new_with_free_func(
      memory.baseAddress,
      gsize(memory.count),
      releaseObject,
      Unmanaged.passRetained(self).toOpaque(),
    )
  }
}

/// Owns a reference to the texture of an image.
@MainActor
@safe
final class Texture {
  let pointer: OpaquePointer
  /// The image, as it is without the pixels that are brighter than white.
  let bitmap: Bitmap
  /// True if the texture has pixels that are brighter than white.
  let hasHighRange: Bool
  /// The texture of the pixels without their alpha, for drawing in software.
  private var opaque: OpaquePointer?

  init(_ bitmap: Bitmap, _ highRange: HighRangeBitmap? = nil) {
    self.bitmap = bitmap
    let brighter = unsafe highRange?.makeTexture()
    hasHighRange = unsafe brighter != nil
    unsafe pointer = brighter ?? bitmap.makeTexture()
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
    let isBySoftware = isBySoftware && !hasHighRange
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
