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
    .cell .name { font-size: 0.85em; opacity: 0.85; }
    .gallery gridview > child:selected .name { opacity: 1; color: @theme_selected_fg_color; }
    .gallery gridview > child:selected { background-color: shade(@theme_selected_bg_color, 0.8); }
    .damage { background: alpha(#1d1e20, 0.88); color: #f6d32d; border-radius: 6px; padding: 4px; margin: 4px; }
    .folder { background: alpha(#1d1e20, 0.8); color: white; border-radius: 6px; padding: 4px; margin: 4px; }
    .folder.large { background: none; color: inherit; opacity: 0.6; }
    .path { padding: 4px 8px; }
    .path button { padding: 2px 8px; background: none; border: none; box-shadow: none; }
    .origins .cell { outline: 3px solid transparent; outline-offset: 2px; border-radius: 6px; }
    .origins .cell.from-memory { outline-color: #33d17a; }
    .origins .cell.from-disk { outline-color: #3584e4; }
    .origins .cell.from-revalidated { outline-color: #9141ac; }
    .origins .cell.from-network { outline-color: #ff7800; }
    .origins .cell.from-local { outline-color: #f6d32d; }
    .legend, .statistics, .toast, .message, .controls, .crop {
      background: alpha(#1d1e20, 0.88); color: white; border-radius: 10px; padding: 8px 14px;
    }
    .statistics { font-family: monospace; font-size: 0.85em; }
    .toast, .controls, .crop { margin-bottom: 24px; }
    .toast { margin-left: 12px; margin-right: 12px; }
    .controls button { background: none; border: none; box-shadow: none; color: white; }
    .controls button:hover, .controls button:checked { background: alpha(white, 0.2); }
    .controls button:disabled { opacity: 0.4; }
    .slide.leaving { animation: slide-leaves 700ms ease-in-out forwards; }
    @keyframes slide-leaves { from { opacity: 1; } to { opacity: 0; } }
    .photograph { background: mix(@theme_bg_color, black, 0.25); }
    window.fullscreen .photograph { background: black; }
    window.fullscreen.solid-csd { padding: 0; border: none; }
    .info { border-left: 1px solid alpha(currentColor, 0.15); background: @theme_bg_color; }
    /* GTK's theme takes 12 points from the numbers of pages of shortcuts, which have 8. */
    stackswitcher > button.circular > label { margin: 0; }
    .fact { opacity: 0.8; font-size: 0.8em; }
    .histogram { background: alpha(#1d1e20, 0.88); border-radius: 4px; }
    .subtitle { font-size: 0.8em; opacity: 0.85; }
    .empty { opacity: 0.85; }
    """
}
