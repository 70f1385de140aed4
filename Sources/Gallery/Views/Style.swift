import CGTK
import VitrineGTK

/// The look of the gallery, in the colours of the desktop's theme, dark or light.
@MainActor
enum Style {
  static func load() { css(text) }

  /// Follows the desktop's wish for dark or light, as far as GTK knows it.
  private static let text = """
    .gallery gridview { background: none; padding: 10px; }
    .gallery gridview > child { padding: 8px 5px; border-radius: 12px; }
    .cell .picture { border-radius: 6px; }
    .cell .name { font-size: 12px; opacity: 0.75; }
    .damage { background: alpha(#1d1e20, 0.88); color: #f6d32d; border-radius: 6px; padding: 4px; margin: 4px; }
    .origins .cell { outline: 3px solid transparent; outline-offset: 2px; border-radius: 6px; }
    .origins .cell.from-memory { outline-color: #33d17a; }
    .origins .cell.from-disk { outline-color: #3584e4; }
    .origins .cell.from-revalidated { outline-color: #9141ac; }
    .origins .cell.from-network { outline-color: #ff7800; }
    .origins .cell.from-local { outline-color: #f6d32d; }
    .legend, .statistics, .toast, .message {
      background: alpha(#1d1e20, 0.88); color: white; border-radius: 10px; padding: 8px 14px;
    }
    .statistics { font-family: monospace; font-size: 12px; }
    .toast { margin-bottom: 24px; }
    .photograph { background: mix(@theme_bg_color, black, 0.25); }
    window.fullscreen .photograph { background: black; }
    window.fullscreen.solid-csd { padding: 0; border: none; }
    .info { border-left: 1px solid alpha(currentColor, 0.15); }
    .fact { opacity: 0.65; font-size: 11px; }
    .subtitle { font-size: 11px; opacity: 0.7; }
    .empty { opacity: 0.7; }
    """
}
