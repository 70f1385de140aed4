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
    let model = gtk_string_list_new(nil)
    for picture in pictures { gtk_string_list_append(model, picture.absoluteString) }
    let selection = gtk_single_selection_new(model)

    let avatars = RemotePictureFactory(width: 48, height: 48, prefetch: 40) { item in
      item.text.map { ImageRequest(url: $0) }
    }
    avatars.onSetup = { cell in
      let row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12)
      cell.picture.append(to: row)
      cell.picture.shape = .circle
      let name = gtk_label_new(nil).append(to: row)
      cell.onBind = { cell in setProperty(name, "label", pictures[cell.position].lastPathComponent) }
      cell.child = row
    }

    let window = app.window(title: "\(pictures.count) pictures", width: 900, height: 600)
    let columns = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0).append(to: window)
    let list = gtk_scrolled_window_new().append(to: columns)
    gtk_widget_set_size_request(list, 320, -1)
    gtk_list_view_new(selection, avatars.retained()).append(to: list)

    let detail = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12).append(to: columns)
    let photo = RemotePicture(mode: .fit).append(to: detail)
    gtk_widget_set_hexpand(photo.widget, 1)
    gtk_widget_set_vexpand(photo.widget, 1)
    photo.showsProgress = true
    photo.showsRetry = true
    func showSelection() {
      let index = Int(gtk_single_selection_get_selected(selection))
      guard pictures.indices.contains(index) else { return }
      photo.alternativeText = pictures[index].lastPathComponent
      photo.load(pictures[index], placeholder: .color(.init(0x303030)), failure: .symbol("image-missing"))
    }
    connect(selection, "notify::selected") { showSelection() }
    showSelection()
  }

  static func pictures(of place: URL) -> [URL] {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: place.path) else { return [place] }
    let pictures = names.sorted().map { place.appending(path: $0) }
    return pictures.filter { ImageFormat(fileExtension: $0.pathExtension) != nil }
  }
}
