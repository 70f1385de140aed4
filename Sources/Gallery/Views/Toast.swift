import CGTK
import VitrineGTK

/// A message that goes away by itself, with a button to undo what it tells of.
@MainActor
final class Toast {
  let widget: Widget
  private let label = Widget.label()
  private let button: Widget
  private var timer: Repeating?
  /// The time for which a message is shown, in milliseconds.
  private static let duration = 6000

  init() {
    // As wide as its text, if the window has room for that.
    label.set("wrap", true)
    label.set("natural-wrap-mode", GTK_NATURAL_WRAP_NONE)
    label.set("max-width-chars", 60)
    button = .button(translated("Undo"))
    button.set("action-name", Command.undo.action)
    let box = Widget.box(GTK_ORIENTATION_HORIZONTAL, spacing: 12, [label, button])
    box.addClass("toast")
    widget = Widget(of: gtk_revealer_get_type())
    widget.add(box).aligned(GTK_ALIGN_CENTER, GTK_ALIGN_END)
    widget.isShown = false
  }

  func show(_ text: String, canUndo: Bool = false) {
    label.text = text
    button.isShown = canUndo
    widget.isShown = true
    widget.set("reveal-child", true)
    timer = Repeating(every: Self.duration) { [weak self] in
      self?.hide()
      return false
    }
  }

  func hide() {
    widget.set("reveal-child", false)
    widget.isShown = false
  }
}
