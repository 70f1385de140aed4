import VitrineRuntime

/// What the command line says.
struct Options {
  enum Style: String {
    /// Cells of VitrineGTK.
    case vitrine
    /// What one writes first: load in bind, never cancel, never look again.
    case naive
  }

  /// A folder, files, addresses, or a text file of addresses.
  var sources: [String] = []
  var isHeadless = false
  /// The styles shown one after the other; only headless may have two.
  var styles: [Style] = [.vitrine]
  var output = "gallery.png"
  var cacheFolder: String?
  /// The side of a picture, in points.
  var size = 188
  /// How many pictures to show; the sources are repeated, or cut, to that.
  ///
  /// All of them, once, unless told.
  var count: Int?
  /// Whether everything is downloaded after the tour, so that the next one needs no server.
  var fillsCache = false
  /// The longest a picture's answer is held back by the gallery's own server, in milliseconds.
  var latency = 0

  struct Mistake: Error {
    let message: String
  }

  init(_ arguments: some Sequence<String>) throws(Mistake) {
    var rest = Array(arguments)[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--headless": isHeadless = true
      case "--naive": styles = [.naive]
      case "--compare": styles = [.vitrine, .naive]
      case "--output", "-o": output = try Self.value(argument, &rest)
      case "--cache-dir": cacheFolder = try Self.value(argument, &rest)
      case "--size": size = try Self.number(argument, &rest, in: 16...2048)
      case "--count": count = try Self.number(argument, &rest, in: 1...1_000_000)
      case "--fill": fillsCache = true
      case "--latency": latency = try Self.number(argument, &rest, in: 0...10_000)
      case "--":
        sources += rest
        rest = []
      case _ where argument.hasPrefix("-") && argument != "-": throw Mistake(message: "unknown option \(argument)")
      default: sources.append(argument)
      }
    }
    guard !sources.isEmpty else { throw Mistake(message: "no pictures given") }
  }

  private static func value(_ name: String, _ rest: inout ArraySlice<String>) throws(Mistake) -> String {
    guard let value = rest.popFirst() else { throw Mistake(message: "\(name) needs a value") }
    return value
  }

  private static func number(
    _ name: String,
    _ rest: inout ArraySlice<String>,
    in range: ClosedRange<Int>,
  ) throws(Mistake) -> Int {
    let text = try value(name, &rest)
    guard let number = Int(text), range.contains(number) else {
      throw Mistake(message: "\(name) takes a number from \(range.lowerBound) to \(range.upperBound), not '\(text)'")
    }
    return number
  }

  static let usage = """
    Shows pictures in a grid.

    vitrine-gallery SOURCE... [options]

    SOURCE is a folder, a picture, an address, a text file of addresses (one a line), or - for addresses on standard
    input. Pictures of the machine are served to the gallery over HTTP, by itself.

      --headless         scrolls by itself under Xvfb, writes a screenshot and prints what happened; also where there is
                         no display
      --naive            shows them the way one writes first: load in bind, no cancel, no check
      --compare          headless, both ways one after the other, beside each other in the table
      -o, --output FILE  the screenshot; gallery.png by default
      --cache-dir DIR    where encoded pictures are kept; $XDG_CACHE_HOME/vitrine-gallery by default
      --size N           the side of a picture in points; 188 by default
      --count N          how many pictures; the sources are repeated, each time under another address
      --fill             headless, at the end downloads what was not seen, so that the next run needs no server
      --latency MS       the longest that the gallery's server holds an answer back; 0 by default

    """
}
