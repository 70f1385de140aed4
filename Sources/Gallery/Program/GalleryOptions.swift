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

  init(_ arguments: [String]) throws(Options.Mistake) {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--cache-dir":
        guard let folder = rest.popFirst() else { throw Options.Mistake(message: "\(argument) needs a value") }
        cacheFolder = folder
      case "--new-instance": isAlone = true
      case "--times": printsTimes = true
      case "--":
        sources += rest
        rest = []
      case "-":
        while let line = readLine() { if !line.isEmpty, !line.hasPrefix("#") { sources.append(line) } }
      case _ where argument.hasPrefix("-"): throw Options.Mistake(message: "unknown option \(argument)")
      default: sources.append(argument)
      }
    }
  }
}
