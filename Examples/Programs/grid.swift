// grid FILE OR URL...: a grid of pictures; the selected one beside it, to be enlarged.
import Foundation
import VitrineGTK

@main
@MainActor
enum Grid {
  static func main() {
    let app = Application("org.example.Grid")
    app.onOpen = { app, files in show(files, in: app) }
    exit(app.run { _ in print("usage: grid FILE OR URL...") })
  }

  static func show(_ pictures: [URL], in app: Application) {
    let cells = RemotePictureFactory(width: 160, height: 160, failure: .symbol("image-missing"), prefetch: 40) { item in
      item.text.map { ImageRequest(url: $0) }
    }
    let photograph = ZoomPicture()
    let list = StringList(pictures.map(\.absoluteString), selection: .single)
    list.onSelect { selected in
      if let index = selected.first { photograph.load(pictures[index], placeholder: .cached) }
    }
    let grid = Widget.scrolled(Widget(of: gtk_grid_view_get_type()).show(list, cells)).minimumSize(width: 360)
    app.window(title: "Pictures", width: 1100, height: 700)
      .add(.box(GTK_ORIENTATION_HORIZONTAL, [grid, Widget(photograph).expands()]))
  }
}
