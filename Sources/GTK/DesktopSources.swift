import CGTK
import CVitrineGTK
public import Vitrine
import VitrineRuntime

extension ImageSource {
  /// A picture of the program's GResource, by its path, such as `/org/example/cat.png`.
  ///
  /// It is looked up when it is loaded; a path that no registered resource has fails with `.unreadable`. The pipeline's
  /// decoders read it, so an SVG takes one for that format.
  public static func gresource(_ path: String) -> ImageSource {
    .closure(id: "resource:\(path)") { try DesktopSources.resource(path) }
  }

  /// An icon of the desktop's theme, drawn by GTK.
  ///
  /// A symbolic icon (`folder-symbolic`) is drawn in the colour. It is drawn on the main thread when it is loaded, and
  /// is not drawn again when the theme changes; `Placeholder.symbol` follows the theme. A name that the theme has
  /// not fails with `.unreadable`.
  ///
  /// - Parameters:
  ///   - name: The name of the icon, as in the desktop's naming specification.
  ///   - side: The length of a side in device pixels, 1 to 1024.
  ///   - color: The colour of a symbolic icon. Defaults to black.
  /// - Returns: The source.
  public static func icon(_ name: String, side: Int, color: PixelColor = PixelColor(0x000000)) -> ImageSource {
    .closure(id: "icon:\(name) \(side) \(color)") { try await DesktopSources.icon(name, side, color) }
  }
}

/// The sources of a desktop besides files and URLs: resources and icons.
enum DesktopSources {
  /// A reason for which a source has no bytes.
  struct Problem: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
  }

  /// Returns the bytes of a resource.
  ///
  /// May be called on any thread.
  static func resource(_ path: String) throws(Problem) -> Data {
    guard let bytes = unsafe g_resources_lookup_data(path, G_RESOURCE_LOOKUP_FLAGS_NONE, nil) else {
      throw Problem("no resource of the program has this path")
    }
    defer { unsafe g_bytes_unref(bytes) }
    return unsafe data(bytes)
  }

  private static func data(_ bytes: OpaquePointer) -> Data {
    var count: gsize = 0
    // The pointer is valid while the bytes are, and is copied here.
    guard let start = unsafe g_bytes_get_data(bytes, &count) else { return Data() }
    return unsafe Data(bytes: start, count: Int(count))
  }

  /// Returns an icon as PNG.
  @MainActor
  static func icon(_ name: String, _ side: Int, _ color: PixelColor) throws(Problem) -> Data {
    guard (1...1024).contains(side) else { throw Problem("a side of \(side) pixels is not within 1 to 1024") }
    guard let display = unsafe gdk_display_get_default() else { throw Problem("there is no display") }
    let theme = unsafe gtk_icon_theme_get_for_display(display)
    guard unsafe gtk_icon_theme_has_icon(theme, name) != 0 else { throw Problem("the theme has no such icon") }
    let paintable = unsafe gtk_icon_theme_lookup_icon(
      theme,
      name,
      nil,
      gint(side),
      1,
      GTK_TEXT_DIR_NONE,
      GtkIconLookupFlags(rawValue: 0),
    )
    guard let paintable = unsafe paintable else { throw Problem("the theme has no such icon") }
    defer { unsafe g_object_unref(UnsafeMutableRawPointer(paintable)) }
    let snapshot = unsafe gtk_snapshot_new()
    var colors = (GdkRGBA(color), GdkRGBA(color), GdkRGBA(color), GdkRGBA(color))
    // A `GtkIconPaintable` draws itself in the four colours of symbolic icons, and any other icon as it is.
    unsafe withUnsafePointer(to: &colors) { colors in
      unsafe colors.withMemoryRebound(to: GdkRGBA.self, capacity: 4) { colors in
        unsafe gtk_symbolic_paintable_snapshot_symbolic(
          paintable,
          snapshot,
          Double(side),
          Double(side),
          colors,
          4,
        )
      }
    }
    // The call frees the snapshot.
    guard let node = unsafe gtk_snapshot_free_to_node(snapshot) else { throw Problem("the icon is empty") }
    defer { unsafe gsk_render_node_unref(node) }
    return unsafe try png(node, side)
  }

  @MainActor
  private static func png(_ node: OpaquePointer, _ side: Int) throws(Problem) -> Data {
    guard let renderer = unsafe gsk_cairo_renderer_new() else { throw Problem("GTK has no renderer") }
    defer { unsafe g_object_unref(UnsafeMutableRawPointer(renderer)) }
    guard unsafe gsk_renderer_realize(renderer, nil, nil) != 0 else { throw Problem("GTK's renderer did not start") }
    defer { unsafe gsk_renderer_unrealize(renderer) }
    var viewport = PictureRectangle(width: Double(side), height: Double(side)).bounds
    let texture = unsafe gsk_renderer_render_texture(renderer, node, &viewport)
    guard let texture = unsafe texture else { throw Problem("GTK did not draw the icon") }
    defer { unsafe g_object_unref(UnsafeMutableRawPointer(texture)) }
    guard let bytes = unsafe gdk_texture_save_to_png_bytes(texture) else { throw Problem("GTK did not draw the icon") }
    defer { unsafe g_bytes_unref(bytes) }
    return unsafe data(bytes)
  }
}

extension Bitmap {
  /// Copies the pixels of a texture.
  init(texture: OpaquePointer) {
    let (width, height) = unsafe (Int(gdk_texture_get_width(texture)), Int(gdk_texture_get_height(texture)))
    unsafe self.init(width: width, height: height, alpha: .premultiplied) { pixels in
      // GDK writes `height` rows of `4 * width` bytes, which is all there is: words of blue, green, red and alpha.
      let bytes = unsafe pixels.bindMemory(to: UInt8.self)
      unsafe gdk_texture_download(texture, bytes.baseAddress, gsize(4 * width))
      for start in stride(from: 0, to: bytes.count, by: 4) {
        let word = unsafe pixels.loadUnaligned(fromByteOffset: start, as: UInt32.self)
        unsafe bytes[start] = UInt8(truncatingIfNeeded: word >> 16)
        unsafe bytes[start + 1] = UInt8(truncatingIfNeeded: word >> 8)
        unsafe bytes[start + 2] = UInt8(truncatingIfNeeded: word)
        unsafe bytes[start + 3] = UInt8(truncatingIfNeeded: word >> 24)
      }
    }
  }
}
