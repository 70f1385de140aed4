import CGTK
import VitrineGTK

/// The windows over another window, which waits for them.
@MainActor
enum Dialogs {
  /// The open windows, which are kept only here.
  private static var windows: [Widget] = []

  /// Shows a window over another one until it is closed, by Escape too.
  static func present(_ window: Widget, over owner: Widget) {
    window.set("transient-for", owner)
    window.set("modal", true)
    windows.append(window)
    window.onKey(GTK_PHASE_CAPTURE) { [weak window] key, _ in
      guard Int32(key) == GDK_KEY_Escape else { return false }
      window?.close()
      return true
    }
    window.on(
      "close-request",
      answering: { [weak window] () -> Bool in
        windows.removeAll { $0 === window }
        return false
      },
    )
    window.present()
  }
}
