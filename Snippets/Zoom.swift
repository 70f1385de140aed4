// Shows a photograph of any size in a GTK 4 program.
#if canImport(VitrineGTK)
import Foundation
import VitrineGTK

@MainActor
func show(_ url: URL, in window: Widget, zoom label: Widget) {
  // snippet.show
  let photograph = ZoomPicture()
  photograph.showsRetry = true
  photograph.alternativeText = "The harbour at night"
  photograph.changed = { [unowned photograph] in
    label.text = "\(Int(photograph.zoom * 100)) %"
  }
  window.add(Widget(photograph))
  photograph.load(url, placeholder: .cached, failure: .symbol("image-missing"))
  // snippet.hide
}
#endif
