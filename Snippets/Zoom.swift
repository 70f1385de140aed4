// Shows a photograph of any size in a GTK 4 program.
#if canImport(VitrineGTK)
import Foundation
import VitrineGTK

@MainActor
func show(_ url: URL, in window: UnsafeMutablePointer<GtkWidget>, zoom label: UnsafeMutablePointer<GtkWidget>) {
  // snippet.show
  let photograph = ZoomPicture()
  photograph.showsRetry = true
  photograph.alternativeText = "The harbour at night"
  photograph.changed = { [unowned photograph] in
    setProperty(label, "label", "\(Int(photograph.zoom * 100)) %")
  }
  append(photograph.widget, to: window)
  photograph.load(url, placeholder: .cached, failure: .symbol("image-missing"))
  // snippet.hide
}
#endif
