import VitrineRuntime

/// The options of the measurements.
struct Options {
  enum Style: String {
    /// Cells of VitrineGTK.
    case vitrine
    /// The same, with all images in memory before they are shown.
    case memory
    /// The obvious first attempt: load in bind, never cancel, never check.
    case naive
  }

  /// Folders, files, URLs, or text files of URLs.
  var sources: [String] = []
  var isHeadless = false
  /// True if animations are to be measured.
  var measuresAnimations = false
  /// True if photographs are to be moved about and measured.
  var measuresPanning = false
  /// The styles to show one after the other.
  ///
  /// More than one makes the run headless.
  var styles: [Style] = [.vitrine]
  var output = "gallery.png"
  var cacheFolder: String?
  /// The side of a picture, in points.
  var size = 188
  /// The number of pictures to show; the sources are repeated, or cut off.
  ///
  /// Defaults to `nil`: all of them, once.
  var count: Int?
  /// True if everything is downloaded after the tour, so that the next one needs no server.
  var fillsCache = false
  /// The number of pictures that are loaded ahead of the scroll.
  var prefetch = 40
  /// The maximum delay of the answers of the gallery's own server, in milliseconds.
  var latency = 0

  /// The options that ask for a measurement; without one of them, the program is a gallery.
  private static let measuring: Set<String> = [
    "--measure", "--headless", "--animations", "--naive", "--compare", "--output", "-o", "--size", "--count", "--fill",
    "--prefetch", "--latency", "--styles", "--pan",
  ]

  /// Returns `true` if one of the arguments asks for a measurement.
  static func areForMeasuring(_ arguments: [String]) -> Bool {
    arguments.prefix { $0 != "--" }.contains { measuring.contains($0) }
  }

  struct Mistake: Error {
    let message: String
  }

  init(_ arguments: some Sequence<String>) throws(Mistake) {
    var rest = Array(arguments)[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--measure": break
      case "--headless": isHeadless = true
      case "--animations": (measuresAnimations, isHeadless) = (true, true)
      case "--pan": (measuresPanning, isHeadless) = (true, true)
      case "--naive": styles = [.naive]
      case "--compare": styles = [.vitrine, .memory, .naive]
      case "--styles": styles = try Self.styles(argument, &rest)
      case "--output", "-o": output = try Self.value(argument, &rest)
      case "--cache-dir": cacheFolder = try Self.value(argument, &rest)
      case "--size": size = try Self.number(argument, &rest, in: 16...2048)
      case "--count": count = try Self.number(argument, &rest, in: 1...1_000_000)
      case "--fill": fillsCache = true
      case "--prefetch": prefetch = try Self.number(argument, &rest, in: 0...10_000)
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

  private static func styles(_ name: String, _ rest: inout ArraySlice<String>) throws(Mistake) -> [Style] {
    let text = try value(name, &rest)
    let styles = text.split(separator: ",").map { Style(rawValue: String($0)) }
    guard !styles.isEmpty, !styles.contains(nil) else {
      throw Mistake(message: "\(name) takes some of vitrine,memory,naive, not '\(text)'")
    }
    return styles.compactMap { $0 }
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
    Shows pictures: a grid of folders, files and URLs, in which each can be opened.

    vitrine-gallery [SOURCE...] [--cache-dir DIR] [--new-instance] [--times]
    vitrine-gallery SOURCE... --measure [options]

    SOURCE is a folder, a picture, a URL, a text file of URLs (one a line), or - for URLs on standard input. If a gallery
    is running, it opens them.

      --cache-dir DIR    the folder of the disk cache; defaults to $XDG_CACHE_HOME/vitrine-gallery
      --new-instance     be a program of its own, even if a gallery is running
      --times            print when the first screen was complete

    Any of the following shows a plain grid instead, whose cells are measured. Local pictures are served over HTTP by a
    second process of the program, and everything is done under Xvfb if there is no display.

      --measure          scroll by hand in a window, or by itself without a display
      --headless         scroll under Xvfb, write a screenshot and print a report
      --naive            use the obvious first attempt: load in bind, never cancel, never check
      --compare          headless, with everything in memory and the obvious way, too, side by side in the report
      --styles LIST      headless, only these, in this order: some of vitrine,memory,naive
      --animations       headless, measure the animations among SOURCE: their speed, and the cost of 50 at once
      --pan              headless, move the photographs SOURCE about, a minute each, and measure it
      -o, --output FILE  the screenshot; defaults to gallery.png
      --size N           the side of a picture in points; defaults to 188
      --count N          the number of pictures; the sources are repeated, each time under another URL
      --fill             headless, download everything at the end, so that the next run needs no server
      --prefetch N       the number of pictures loaded ahead of the scroll; defaults to 40
      --latency MS       the maximum delay of the gallery's server; defaults to 0

    """
}
