import CGTK
import VitrineGTK
import VitrineGalleryModel

/// Shows one picture after the other in full screen; the screen does not go blank meanwhile.
///
/// A picture fades into the next one, unless the desktop wants less motion. It ends with Escape, with full screen, and with the
/// page of the photograph.
@MainActor
@safe
final class Slideshow {
  private(set) var isRunning = false
  private unowned let window: GalleryWindow
  private var timer: Repeating?
  private var inhibition: guint = 0
  private let fade: SlideFade
  /// The pictures that are yet to come in random order.
  private var rest: [ItemID] = []

  init(_ window: GalleryWindow) {
    self.window = window
    fade = SlideFade(over: window.photo)
  }

  func toggle() { isRunning ? stop() : start() }

  private func start() {
    let list = window.grid.list
    guard list.pictures.count > 1, let first = list.pictures.first else { return }
    isRunning = true
    if window.page != .photo { window.open(window.subjects.first { !$0.isFolder } ?? first) }
    window.window.set("fullscreened", true)
    window.setSwitch(.slideshow, true)
    // Returns 0 where the desktop has no such service.
    unsafe inhibition = gtk_application_inhibit(
      cast(window.application.pointer),
      cast(window.window.pointer),
      GTK_APPLICATION_INHIBIT_IDLE,
      Command.slideshow.title,
    )
    wait()
  }

  func stop() {
    guard isRunning else { return }
    isRunning = false
    (timer, rest) = (nil, [])
    if inhibition != 0 { unsafe gtk_application_uninhibit(cast(window.application.pointer), inhibition) }
    inhibition = 0
    fade.end()
    window.setSwitch(.slideshow, false)
  }

  private func wait() {
    timer = Repeating(every: window.state.interval.seconds * 1000) { [weak self] in
      self?.goOn()
      return false
    }
  }

  /// Fades the former picture out once the next one is there, or has failed.
  func photographChanged() {
    if window.photo.view.isLoaded || window.photo.view.error != nil { fade.release() }
  }

  /// Goes on once the picture is there, or has failed; from the last one to the first.
  private func goOn() {
    guard isRunning, let current = window.photo.item else { return }
    defer { wait() }
    guard window.photo.view.isLoaded || window.photo.view.error != nil else { return }
    let all = window.grid.list.pictures
    guard !all.isEmpty else { return stop() }
    fade.hold()
    if window.state.shuffles {
      if rest.isEmpty { rest = all.map(\.id).filter { $0 != current.id }.shuffled() }
      if let next = rest.popLast(), let item = window.grid.list[next], let place = window.position(of: item) {
        window.move(to: place)
      }
    } else {
      let position = window.position(of: current) ?? -1
      window.move(to: (position + 1) % all.count)
    }
  }
}
