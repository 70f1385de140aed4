import CGTK
import CVitrineGTK

/// The default appearance of pictures, which the program's own style sheet may override.
@MainActor
enum StyleSheet {
  private static let rules = """
    @keyframes vitrine-arrive { from { opacity: 0; } to { opacity: 1; } }
    @keyframes vitrine-arrive-again { from { opacity: 0; } to { opacity: 1; } }
    vitrine-image.arriving { animation: vitrine-arrive 200ms ease-out; }
    vitrine-image.arriving-again { animation: vitrine-arrive-again 200ms ease-out; }
    """

  private static var isLoaded = false

  static func load() {
    guard !isLoaded, let display = unsafe gdk_display_get_default() else { return }
    isLoaded = true
    let provider = unsafe gtk_css_provider_new()
    unsafe vitrine_gtk_load_css(provider, rules)
    // The lowest priority, below themes, so that any rule of the program wins. The display takes a reference.
    unsafe gtk_style_context_add_provider_for_display(
      display,
      OpaquePointer(provider),
      guint(GTK_STYLE_PROVIDER_PRIORITY_FALLBACK),
    )
    unsafe g_object_unref(UnsafeMutableRawPointer(provider))
  }
}
