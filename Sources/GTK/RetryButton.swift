import CGTK
import CVitrineGTK

/// A button over a failed picture that loads it again.
@MainActor
@safe
final class RetryButton {
  /// The button, which its parent owns.
  let widget: UnsafeMutablePointer<GtkWidget>

  /// Makes a hidden button without a parent.
  init(_ onClick: @escaping @MainActor () -> Void) {
    unsafe widget = gtk_button_new_from_icon_name("view-refresh-symbolic")
    unsafe gtk_widget_add_css_class(widget, "vitrine-retry")
    unsafe gtk_widget_add_css_class(widget, "circular")
    unsafe gtk_widget_add_css_class(widget, "osd")
    unsafe gtk_widget_set_tooltip_text(widget, Self.title)
    unsafe vitrine_gtk_set_label(widget, Self.title)
    // GTK describes a widget by its tooltip: screen readers would say the same twice.
    unsafe vitrine_gtk_set_description(widget, "")
    // At the bottom, clear of the failure's icon in the middle.
    unsafe gtk_widget_set_halign(widget, GTK_ALIGN_CENTER)
    unsafe gtk_widget_set_valign(widget, GTK_ALIGN_END)
    unsafe gtk_widget_set_margin_bottom(widget, 6)
    // As wide as it is high: Adwaita's round buttons are 30x32 points.
    unsafe gtk_widget_set_size_request(widget, Self.side, Self.side)
    unsafe gtk_widget_set_visible(widget, 0)
    unsafe Signals.connect(UnsafeMutableRawPointer(widget), "clicked", onClick)
  }

  private static let title = "Try again"
  /// The width and the height, in points.
  private static let side: gint = 34

  /// True if the button is offered.
  var isShown: Bool {
    get { unsafe gtk_widget_get_visible(widget) != 0 }
    set { unsafe gtk_widget_set_visible(widget, newValue ? 1 : 0) }
  }
}
