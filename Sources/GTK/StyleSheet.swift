import CGTK
import CVitrineGTK
import VitrineRuntime

/// Adds rules of the program to the appearance of all its widgets.
///
/// ```swift
/// css("vitrine-picture { border-radius: 12px; }")
/// ```
/// They win over the theme, and later rules over earlier ones. A rule that GTK does not understand is left out, and
/// reported on standard error with its line. A display must be open, as it is once an ``Application`` runs.
@MainActor
public func css(_ rules: String) {
  let added = StyleSheet.add(rules, priority: GTK_STYLE_PROVIDER_PRIORITY_APPLICATION) { mistake in
    let line = Array("CSS \(mistake)\n".utf8)
    // As many bytes as there are.
    _ = unsafe write(2, line, line.count)
  }
  assert(added, "css(_:) was called before there is a display")
}

/// Style sheets, and the default appearance of pictures, which the program's own style sheet may override.
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
    guard !isLoaded else { return }
    // The lowest priority, below themes, so that any rule of the program wins.
    isLoaded = add(rules, priority: GTK_STYLE_PROVIDER_PRIORITY_FALLBACK) { assertionFailure($0) }
  }

  /// Adds rules to the default display; returns `false` if there is none.
  static func add(_ rules: String, priority: Int32, onMistake: @escaping @MainActor (String) -> Void) -> Bool {
    guard let display = unsafe gdk_display_get_default() else { return false }
    let provider = unsafe gtk_css_provider_new()
    defer { unsafe g_object_unref(UnsafeMutableRawPointer(provider)) }
    // GTK owns both arguments. It counts lines and characters from 0.
    unsafe connect(provider, "parsing-error") { (section: OpaquePointer, error: UnsafeMutablePointer<GError>) in
      guard let start = unsafe gtk_css_section_get_start_location(section), let text = unsafe error.pointee.message
      else {
        return
      }
      unsafe onMistake(
        "line \(start.pointee.lines + 1), column \(start.pointee.line_chars + 1): \(String(cString: text))"
      )
    }
    unsafe vitrine_gtk_load_css(provider, rules)
    // The display takes a reference.
    unsafe gtk_style_context_add_provider_for_display(display, OpaquePointer(provider), guint(priority))
    return true
  }
}
