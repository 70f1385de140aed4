import CGTK
import Vitrine
import VitrineGTK

/// Prints a picture on one page, as large as it fits, by the dialog of the desktop.
@MainActor
@safe
final class Printing {
  /// The print that is under way, which is kept only here.
  private static var current: Printing?

  private let operation: GTKObject
  private let texture: GTKObject

  /// Opens the dialog, and prints if the user wants it.
  ///
  /// - Parameters:
  ///   - bitmap: The picture.
  ///   - name: The name of the job.
  ///   - window: The window below.
  static func print(_ bitmap: Bitmap, name: String, in window: Widget) {
    let printing = Printing(bitmap, name)
    current = printing
    var error: UnsafeMutablePointer<GError>?
    // Both outlive the call; the operation keeps itself while it goes on.
    _ = unsafe gtk_print_operation_run(
      cast(printing.operation.object),
      GTK_PRINT_OPERATION_ACTION_PRINT_DIALOG,
      cast(window.pointer),
      &error,
    )
    if let error = unsafe error { unsafe g_error_free(error) }
  }

  private init(_ bitmap: Bitmap, _ name: String) {
    texture = unsafe GTKObject(bitmap.makeTexture(), isOwned: true)
    operation = unsafe GTKObject(gtk_print_operation_new(), isOwned: true)
    operation.set("n-pages", 1)
    operation.set("job-name", name)
    // A wide picture is printed on a wide page.
    let setup = unsafe GTKObject(gtk_page_setup_new(), isOwned: true)
    if bitmap.width > bitmap.height {
      unsafe gtk_page_setup_set_orientation(OpaquePointer(setup.object), GTK_PAGE_ORIENTATION_LANDSCAPE)
    }
    operation.set("default-page-setup", setup)
    operation.set("embed-page-setup", true)
    unsafe operation.on("draw-page") { [weak self] (context: OpaquePointer, _: Int) in
      unsafe self?.draw(context, width: bitmap.width, height: bitmap.height)
    }
    operation.on("done") { (_: Int) in Self.current = nil }
  }

  private func draw(_ context: OpaquePointer, width: Int, height: Int) {
    // The context owns both for the page.
    let (page, high) = unsafe (gtk_print_context_get_width(context), gtk_print_context_get_height(context))
    guard let cairo = unsafe gtk_print_context_get_cairo_context(context), page > 0, high > 0 else { return }
    let surface = unsafe cairo_image_surface_create(CAIRO_FORMAT_ARGB32, gint(width), gint(height))
    defer { unsafe cairo_surface_destroy(surface) }
    // A surface for which there is no memory has no pixels.
    guard let pixels = unsafe cairo_image_surface_get_data(surface) else { return }
    unsafe gdk_texture_download(
      OpaquePointer(texture.object),
      pixels,
      gsize(cairo_image_surface_get_stride(surface)),
    )
    unsafe cairo_surface_mark_dirty(surface)
    let scale = min(page / Double(width), high / Double(height))
    unsafe cairo_translate(cairo, (page - Double(width) * scale) / 2, (high - Double(height) * scale) / 2)
    unsafe cairo_scale(cairo, scale, scale)
    unsafe cairo_set_source_surface(cairo, surface, 0, 0)
    unsafe cairo_paint(cairo)
  }
}
