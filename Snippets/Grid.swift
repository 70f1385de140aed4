// Shows a grid of pictures in a GTK 4 program.
#if canImport(VitrineGTK)
import Foundation
import VitrineGTK

@MainActor
func makeGrid(of model: OpaquePointer) -> UnsafeMutablePointer<GtkWidget>? {
  // snippet.show
  let factory = RemotePictureFactory(
    width: 188,
    height: 188,
    placeholder: .color(.init(0x303030)),
    failure: .symbol("image-missing-symbolic"),
    prefetch: 40,
  ) { item in
    item.text.map { ImageRequest(url: $0) }
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

@MainActor
func tell(of picture: RemotePicture, in label: UnsafeMutablePointer<GtkWidget>) {
  // snippet.show
  picture.onChange = { content in
    switch content {
    case .image(let response, _): setProperty(label, "label", "\(response.image.width) pixels wide")
    case .failure(let error, _): setProperty(label, "label", "\(error)")
    case .empty, .placeholder, .preview: setProperty(label, "label", "Loading")
    }
  }
  // snippet.hide
}
#endif
