import Foundation
import VitrineGTK
import VitrineSandbox

/// A list of pictures beside the selected one, of the folders, files and URLs that are the arguments.
@main
@MainActor
enum HelloGTK {
  static func main() throws {
    // A file that takes over its decoder has taken over a process that can do nothing else.
    ImagePipeline.shared = try ImagePipeline { $0.decoders = try .sandboxed() }
    let app = Application("org.example.HelloGTK")
    app.onOpen = { app, files in show(files.flatMap(pictures), in: app) }
    exit(app.run { _ in print("usage: hello-gtk FOLDER, FILE OR URL...") })
  }

  static func show(_ pictures: [URL], in app: Application) {
    css("listview row { padding: 6px; }")
    let avatars = RemotePictureFactory(width: 48, height: 48, prefetch: 40) { item in
      item.text.map { ImageRequest(url: $0) }
    }
    avatars.onSetup = { cell in
      cell.picture.shape = .circle
      let name = Widget.label()
      cell.onBind = { cell in name.text = pictures[cell.position].lastPathComponent }
      cell.child = .box(GTK_ORIENTATION_HORIZONTAL, spacing: 12, [Widget(cell.picture), name])
    }
    let photo = RemotePicture(mode: .fit)
    photo.showsProgress = true
    photo.showsRetry = true
    let list = StringList(pictures.map(\.absoluteString), selection: .single)
    list.onSelect { selected in
      guard let picture = selected.first.map({ pictures[$0] }) else { return }
      photo.alternativeText = picture.lastPathComponent
      photo.load(picture, placeholder: .color(.init(0x303030)), failure: .symbol("image-missing"))
    }
    let names = Widget.scrolled(Widget(of: gtk_list_view_get_type()).show(list, avatars)).minimumSize(width: 320)
    app.window(title: "\(pictures.count) pictures", width: 900, height: 600)
      .add(.box(GTK_ORIENTATION_HORIZONTAL, [names, Widget(photo).expands()]))
  }

  static func pictures(of place: URL) -> [URL] {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: place.path) else { return [place] }
    let pictures = names.sorted().map { place.appending(path: $0) }
    return pictures.filter { ImageFormat(fileExtension: $0.pathExtension) != nil }
  }
}
