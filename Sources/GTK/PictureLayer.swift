import CGTK
import CVitrineGTK
import Vitrine

/// The appearance of an image, followed by the frames.
struct Fade {
  /// The time that an image takes to appear, in microseconds; the same as in the style sheet.
  private static let duration = 200_000.0

  private enum State {
    case none
    /// The first frame has not been drawn; the style sheet's animation begins with it too.
    case waiting
    case running(since: gint64)
  }

  private var state = State.none

  var isRunning: Bool {
    if case .none = state { false } else { true }
  }

  mutating func begin() { state = .waiting }
  mutating func end() { state = .none }

  /// Returns the share of the fade that is over, from 0 to 1; `nil` after its end.
  mutating func progress(at now: gint64) -> Double? {
    switch state {
    case .none: return nil
    case .waiting:
      state = .running(since: now)
      return 0
    case .running(let since):
      let progress = Double(now - since) / Self.duration
      guard progress < 1 else {
        state = .none
        return nil
      }
      return max(0, progress)
    }
  }
}

/// The image itself: a widget of its own, so that a style sheet can animate it.
final class PictureLayer: DrawnWidget {
  weak var view: PictureView?
  private var fadeClass: String?
  private var turn = false

  init() {
    super.init(cssName: "vitrine-image")
  }

  /// Restarts the animation.
  ///
  /// The two class names do the same; changing the name restarts it even within one frame.
  func beginFade() {
    endFade()
    let name = turn ? "arriving" : "arriving-again"
    turn.toggle()
    fadeClass = name
    unsafe gtk_widget_add_css_class(widget, name)
  }

  func endFade() {
    guard let name = fadeClass else { return }
    fadeClass = nil
    unsafe gtk_widget_remove_css_class(widget, name)
  }

  override func draw(into snapshot: OpaquePointer) {
    guard let view, let image = view.image else { return }
    unsafe view.draw(image, .image, into: snapshot)
  }
}
