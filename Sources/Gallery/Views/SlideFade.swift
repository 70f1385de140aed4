import CGTK
import VitrineGTK

/// The former picture of a slideshow over the next one, until that is there; then it fades out.
@MainActor
@safe
final class SlideFade {
  private let picture = Widget(of: gtk_picture_get_type())
  private let page: PhotoPage
  private var timer: Repeating?
  /// The time of the animation in the style sheet, in milliseconds.
  private static let duration = 700

  init(over page: PhotoPage) {
    self.page = page
    picture.set("can-target", false)
    picture.addClass("slide")
    picture.isShown = false
    page.widget.add(picture)
  }

  /// Shows what is seen of the photograph over it, unless the desktop wants no motion.
  func hold() {
    let settings = unsafe gtk_settings_get_default().map { unsafe GTKObject($0) }
    guard settings?.get("gtk-enable-animations") ?? true else { return end() }
    let view = unsafe GTKObject(gtk_widget_paintable_new(page.view.widget.pointer), isOwned: true)
    let still = unsafe GTKObject(gdk_paintable_get_current_image(cast(view.object)), isOwned: true)
    timer = nil
    picture.removeClass("leaving")
    picture.set("paintable", still)
    picture.isShown = true
  }

  /// Lets the former picture fade.
  func release() {
    guard picture.isShown, timer == nil else { return }
    picture.addClass("leaving")
    timer = Repeating(every: Self.duration) { [weak self] in
      self?.hide()
      return false
    }
  }

  func end() {
    timer = nil
    hide()
  }

  private func hide() {
    picture.isShown = false
    picture.set("paintable", nil as GTKObject?)
  }
}
