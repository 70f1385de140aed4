import CGTK
import Vitrine
import VitrineGTK
import VitrineRuntime

/// A window with pictures in all states, whose accessible objects `Scripts/check/accessible-window.py` reads as a screen
/// reader does.
///
/// Its argument is a picture. When its pictures are there it prints `ready`.
@main
@MainActor
enum AccessibleWindow {
  private static var waiting = 4

  static func main() {
    let path = CommandLine.arguments.dropFirst().first ?? ""
    exit(Application(arguments: []).run { show(path, in: $0) })
  }

  private static func show(_ path: String, in application: Application) {
    let pipeline = ImagePipeline.ephemeral
    let window = application.window(title: "Pictures", width: 700, height: 500)
    let box = Widget.box(GTK_ORIENTATION_VERTICAL, spacing: 6)
    window.add(box)
    func picture(_ name: String, _ description: String = "") -> RemotePicture {
      let picture = RemotePicture(pipeline, width: 120, height: 80).append(to: box)
      picture.alternativeText = name
      picture.alternativeDescription = description
      picture.showsProgress = true
      picture.showsRetry = true
      return picture
    }
    func report(_ content: ImageSlot.Content) {
      switch content {
      case .image, .failure: waiting -= 1
      default: return
      }
      // Whoever reads it waits for it; print(_:) would keep it.
      if waiting == 0 { _ = unsafe write(1, "ready\n", 6) }
    }

    let photo = ImageRequest(.file(path))
    let loaded = picture("A cat", "A cat on a wall")
    let failed = picture("A picture that failed")
    let endless = picture("A picture that is loading")
    let late = picture("")
    box.add(list(photo, pipeline, report).expands(horizontally: false))
    for each in [loaded, failed, late] { each.onChange = report }
    loaded.load(photo, placeholder: .symbol("image-x-generic-symbolic"))
    failed.load(ImageRequest(.file("/there/is/none.png")), failure: .symbol("image-missing-symbolic"))
    endless.load(
      ImageRequest(
        .closure(id: "endless") {
          let (stream, continuation) = AsyncStream<Data>.makeStream()
          defer { continuation.finish() }
          for await data in stream { return data }
          return Data()
        }
      ),
      placeholder: .symbol("image-x-generic-symbolic"),
    )
    late.load(photo)
    // Text and description may come after the image.
    late.alternativeText = "A dog"
    late.alternativeDescription = "A dog in a garden"
    window.present()
  }

  /// A list whose one row has a picture and nothing else.
  private static func list(
    _ photo: ImageRequest,
    _ pipeline: ImagePipeline,
    _ report: @escaping @MainActor (ImageSlot.Content) -> Void,
  ) -> Widget {
    let factory = unsafe RemotePictureFactory(pipeline, width: 48, height: 48) { _ in photo }
    factory.onSetup = { cell in
      cell.onBind = { cell in cell.picture.alternativeText = cell.text ?? "" }
      cell.picture.onChange = report
    }
    return Widget(of: gtk_list_view_get_type()).show(StringList(["A bird"]), factory)
  }
}
