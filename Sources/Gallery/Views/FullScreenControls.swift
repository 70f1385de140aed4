import CGTK
import VitrineGTK

/// The name and the buttons of full screen: they come with the pointer's moves, and go with the pointer when it rests.
@MainActor
final class FullScreenControls {
  let widget: Widget
  /// True in full screen.
  var isActive = false {
    didSet { if isActive != oldValue { isActive ? appear() : leave() } }
  }
  private let area: Widget
  private let title = Widget.label("", "controls-title")
  private var place: (x: Double, y: Double)?
  /// True while the pointer is over the buttons, which then stay.
  private var isOver = false
  private var timer: Repeating?
  /// The time after which the pointer rests, in milliseconds.
  private static let patience = 2000

  /// - Parameter area: The widget over which the pointer is followed and hidden.
  init(over area: Widget) {
    self.area = area
    let commands: [(Command, String)] = [
      (.back, "view-grid-symbolic"), (.previous, "go-previous-symbolic"), (.next, "go-next-symbolic"),
      (.zoomOut, "zoom-out-symbolic"), (.zoomIn, "zoom-in-symbolic"), (.slideshow, "media-playback-start-symbolic"),
      (.fullscreen, "view-restore-symbolic"),
    ]
    let buttons = commands.map { command, icon in Widget.button(icon: icon, command.title, action: command.action) }
    // After a click, keys are still for the photograph.
    for button in buttons { button.set("focus-on-click", false) }
    title.set("ellipsize", PANGO_ELLIPSIZE_MIDDLE)
    title.set("max-width-chars", 50)
    let row = Widget.box(GTK_ORIENTATION_HORIZONTAL, spacing: 6, buttons).aligned(GTK_ALIGN_CENTER)
    widget = Widget.box(GTK_ORIENTATION_VERTICAL, spacing: 6, [title, row])
    widget.addClass("controls").aligned(GTK_ALIGN_CENTER, GTK_ALIGN_END)
    widget.isShown = false
    area.onMotion { [weak self] in self?.moved(to: $0) }
    widget.onMotion { [weak self] in self?.isOver = $0 != nil }
  }

  /// Shows the name of the open photograph.
  func name(_ text: String) { title.text = text }

  private func moved(to new: (x: Double, y: Double)?) {
    defer { place = new }
    // GTK tells of the same place again when something else is under the pointer.
    guard isActive, let new else { return }
    if let place, abs(new.x - place.x) + abs(new.y - place.y) < 1 { return }
    appear()
  }

  private func appear() {
    area.setCursor(nil)
    widget.isShown = true
    timer = Repeating(every: Self.patience) { [weak self] in
      guard let self, !isOver else { return true }
      area.setCursor("none")
      widget.isShown = false
      return false
    }
  }

  private func leave() {
    timer = nil
    area.setCursor(nil)
    widget.isShown = false
  }
}
