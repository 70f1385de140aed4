// Shows a grid of pictures in a GTK 4 program.
#if canImport(VitrineGTK)
import Foundation
import VitrineGTK

@MainActor
func makeGrid(of model: OpaquePointer) -> UnsafeMutablePointer<GtkWidget>? {
  // snippet.show
  let factory = RemotePictureFactory(width: 188, height: 188) { item in
    ImageRequest(url: String(cString: gtk_string_object_get_string(OpaquePointer(item))))
  }
  let grid = gtk_grid_view_new(gtk_no_selection_new(model), factory.retained())
  // snippet.hide
  return grid
}

@MainActor
func makePicture(_ url: URL, in box: UnsafeMutablePointer<GtkBox>) {
  // snippet.show
  let picture = RemotePicture(width: 300, height: 200)
  gtk_box_append(box, picture.widget)
  picture.load(ImageRequest(url: url), placeholder: .color(.init(0x303030)), failure: .symbol("image-missing"))
  // snippet.hide
}
#endif
