import VitrineRuntime

/// A mistake in the arguments, or a failure that ends the program.
struct Mistake: Error {
  let message: String
}

/// The arguments of the program.
struct Options {
  enum Subject: String, CaseIterable {
    /// Cells of a grid that scrolls.
    case cells
    /// Animations: their speed, and the cost of 50 at once.
    case animations
    /// Photographs that are moved about.
    case pan
    /// The server of the pictures, a process of its own.
    case serve
  }

  enum Style: String {
    /// Cells of VitrineGTK.
    case vitrine
    /// The same, with all images in memory before they are shown.
    case memory
    /// The obvious first attempt: load in bind, never cancel, never check.
    case naive
  }

  static let usage = """
    bench-gtk cells FOLDER... --cache-dir DIR [--styles LIST] [--size N] [--count N] [--latency MS] [--fill] [--output FILE]
    bench-gtk animations FILE... [--output FILE]
    bench-gtk pan FILE... --cache-dir DIR

    Measures widgets of VitrineGTK in a window. The pictures of cells are served over HTTP by a second process.

      --cache-dir DIR    the folder of the disk caches
      --styles LIST      some of vitrine,memory,naive, shown in this order; defaults to vitrine
      --size N           the side of a picture in points; defaults to 188
      --count N          the number of pictures; the files are repeated, each time under another URL
      --latency MS       the maximum delay of a response; defaults to 0
      --fill             download everything at the end, so that the next run needs no server
      --output FILE      a screenshot

    The exit status is 3 if a limit is missed.
    """

  let subject: Subject
  /// The files of the pictures, and folders of such files.
  private(set) var sources: [String] = []
  private(set) var styles: [Style] = [.vitrine]
  /// The file of the screenshot; `nil` for none.
  private(set) var output: String?
  private(set) var cacheFolder: String?
  /// The side of a picture, in points.
  private(set) var size = 188
  /// The number of pictures to show; `nil` for each file once.
  private(set) var count: Int?
  private(set) var fillsCache = false
  /// The maximum delay of a response, in milliseconds.
  private(set) var latency = 0

  init(_ arguments: some Sequence<String>) throws(Mistake) {
    var rest = Array(arguments)[...]
    guard let subject = rest.popFirst().flatMap(Subject.init) else { throw Mistake(message: Self.usage) }
    self.subject = subject
    while let argument = rest.popFirst() {
      switch argument {
      case "--styles": styles = try Self.styles(argument, &rest)
      case "--output": output = try Self.value(argument, &rest)
      case "--cache-dir": cacheFolder = try Self.value(argument, &rest)
      case "--size": size = try Self.number(argument, &rest, in: 16...2048)
      case "--count": count = try Self.number(argument, &rest, in: 1...1_000_000)
      case "--fill": fillsCache = true
      case "--latency": latency = try Self.number(argument, &rest, in: 0...10_000)
      case _ where argument.hasPrefix("-"): throw Mistake(message: "unknown option \(argument)")
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
}
