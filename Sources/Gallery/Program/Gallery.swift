import CVitrineGTK
import Vitrine
import VitrineGTK
import VitrineRuntime

/// The program: a gallery, or one of the measurements of Vitrine's cells in windows.
@main
@MainActor
enum Gallery {
  static func main() {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.contains("--help") || arguments.contains("-h") {
      print(Options.usage)
      return
    }
    if arguments.first == PictureServer.option { PictureServer.serve() }
    // A write beyond the limit of a file's size is an error.
    signal(SIGXFSZ, SIG_IGN)
    // Each keeps what its threads have freed: 15 MB less.
    vitrine_gtk_limit_heaps(2)
    do throws(Options.Mistake) {
      if Options.areForMeasuring(arguments) {
        Measurement.run(try Options(arguments), arguments)
      } else {
        exit(GalleryApplication(try GalleryOptions(arguments)).run())
      }
    } catch {
      fail(error.message, status: 64)
    }
  }

  static func fail(_ message: String, status: Int32) -> Never {
    let line = Array("vitrine-gallery: \(message)\n".utf8)
    // As many bytes as there are.
    _ = unsafe write(2, line, line.count)
    exit(status)
  }
}
