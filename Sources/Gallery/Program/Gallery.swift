import CVitrineGTK
import Vitrine
import VitrineGTK
import VitrineGalleryModel
import VitrineRuntime

/// The program.
@main
@MainActor
enum Gallery {
  static func main() {
    // Paths need not be UTF-8. The system keeps the arguments.
    let arguments = (1..<max(1, Int(CommandLine.argc))).compactMap { index in
      unsafe CommandLine.unsafeArgv[index].map { unsafe ByteString(cString: $0).fileText }
    }
    if arguments.contains("--help") || arguments.contains("-h") {
      print(GalleryOptions.usage)
      return
    }
    if arguments.contains("--version") {
      print("vitrine-gallery \(vitrineVersion)")
      return
    }
    // A write beyond the limit of a file's size is an error.
    signal(SIGXFSZ, SIG_IGN)
    // Each heap keeps the memory that its threads have freed: 15 MB less.
    vitrine_gtk_limit_heaps(2)
    do throws(GalleryOptions.Mistake) {
      exit(GalleryApplication(try GalleryOptions(arguments)).run())
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
