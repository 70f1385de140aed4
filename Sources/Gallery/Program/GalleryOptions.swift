import VitrineRuntime

/// The options of the gallery as an application.
struct GalleryOptions {
  /// Folders, files and URLs.
  var sources: [String] = []
  /// The folder of the disk cache; `nil` for the default one.
  var cacheFolder: String?
  /// True if the program is one of its own, whether another one runs or not.
  var isAlone = false
  /// True if the time of the first screen is printed.
  var printsTimes = false

  /// True if the program shows what helps to develop it.
  var isForDevelopers = false

  struct Mistake: Error {
    let message: String
  }

  static let usage = """
    Shows pictures: a grid of folders, files and URLs, in which each can be opened.

    vitrine-gallery [SOURCE...] [--cache-dir DIR] [--new-instance] [--times]

    SOURCE is a folder, a picture, a URL, a text file of URLs (one a line), or - for URLs on standard input. If a gallery
    is running, it opens them.

      --cache-dir DIR    the folder of the disk cache; defaults to $XDG_CACHE_HOME/vitrine-gallery
      --new-instance     be a program of its own, even if a gallery is running
      --times            print when the first screen was complete
      --developer        offer statistics, and colours by where pictures come from
      --version          print the version

    """

  init(_ arguments: [String]) throws(Mistake) {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--cache-dir":
        guard let folder = rest.popFirst() else { throw Mistake(message: "\(argument) needs a value") }
        cacheFolder = folder
      case "--new-instance": isAlone = true
      case "--times": printsTimes = true
      case "--developer": isForDevelopers = true
      case "--":
        sources += rest
        rest = []
      case "-":
        while let line = readLine() { if !line.isEmpty, !line.hasPrefix("#") { sources.append(line) } }
      case _ where argument.hasPrefix("-"): throw Mistake(message: "unknown option \(argument)")
      default: sources.append(argument)
      }
    }
  }
}
