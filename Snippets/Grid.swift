// Shows a grid of pictures in a GTK 4 program.
#if canImport(VitrineGTK)
import Foundation
import VitrineGTK

@MainActor
func makeGrid(of list: StringList) -> Widget {
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
  let grid = Widget(of: gtk_grid_view_get_type()).show(list, factory)
  // snippet.hide
  return grid
}

@MainActor
func makePicture(_ url: URL, in box: Widget) {
  // snippet.show
  let picture = RemotePicture(width: 300, height: 200)
  box.add(Widget(picture))
  picture.load(ImageRequest(url: url), placeholder: .color(.init(0x303030)), failure: .symbol("image-missing"))
  // snippet.hide
}

@MainActor
func tell(of picture: RemotePicture, in label: Widget) {
  // snippet.show
  picture.onChange = { content in
    switch content {
    case .image(let response, _): label.text = "\(response.image.width) pixels wide"
    case .failure(let error, _): label.text = "\(error)"
    case .empty, .placeholder, .preview: label.text = "Loading"
    }
  }
  // snippet.hide
}
#endif
