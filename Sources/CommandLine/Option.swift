import VitrineRuntime

/// An option of a command: what the command line is read by and what `--help` says.
struct Option {
  let name: String
  /// What stands for its value in the help; `nil` where it takes none.
  let value: String?
  /// What it does, in lines.
  let help: [String]

  init(_ name: String, _ value: String? = nil, _ help: String...) {
    (self.name, self.value, self.help) = (name, value, help)
  }
}

extension Option {
  static let filesFrom = Option(
    "--files-from",
    "LIST",
    "further sources, one a line of the file LIST; - for standard input;",
    "blank lines are passed over; may be repeated",
  )
  static let zero = Option("-0", nil, "the sources in LIST end in a zero byte each, as find -print0 writes them")
  static let json = Option(
    "--json",
    nil,
    "one JSON object a line for each source, in their order, all with the same keys;",
    "error and stage are null where all went well",
  )
  /// The same option; `cache` has no sources.
  static let jsonOfCache = Option(
    "--json",
    nil,
    "one JSON object a line, all with the same keys; error is null where all went well",
  )
  static let quiet = Option("--quiet", nil, "no progress, which else is shown on a terminal; errors are still told")

  static let help = Option("--help", nil, "this text")

  static let output = Option(
    "-o",
    "OUT",
    "a folder if it is one, ends in /, or there are several sources; else a file;",
    "- for standard output, of one source; folders that are missing are made;",
    "in a folder a symbolic link is replaced and not followed",
  )
  static let size = Option(
    "--size",
    "WxH",
    "the box in pixels; 400 is 400x400, 400x and x400 bound one side; full size without it",
  )
  static let mode = Option(
    "--mode",
    "MODE",
    "fit (default): inside the box; fill: covers it, cropped; exact: stretched",
  )
  static let format = Option(
    "--format",
    "FORMAT",
    "png, jpeg or webp; else by OUT's extension; else png where something is transparent,",
    "jpeg where nothing is",
  )
  static let quality = Option("--quality", "Q", "1 to 100, for jpeg and webp; 85 by default")
  static let jobs = Option(
    "--jobs",
    "N",
    "how many images at once; as many as there are cores by default, 6 for URLs",
  )

  static let qualityMode = Option("--quality-mode", "MODE", "fast, balanced (default) or best")
  static let frame = Option("--frame", "N", "which frame of an animation, from 0")

  static let noCache = Option("--no-cache", nil, "without a cache")
  static let offline = Option("--offline", nil, "from the cache only, however old")
  static let reload = Option("--reload", nil, "from the server, whatever the cache has")
  static let header = Option("--header", "'K: V'", "sent with each request; may be repeated")
  static let trace = Option(
    "--trace",
    "FILE",
    "when which stage of which request ran and waited, for ui.perfetto.dev",
  )

  static let cacheFolder = Option(
    "--cache-dir",
    "DIR",
    "where the cache is; $XDG_CACHE_HOME/vitrine or ~/.cache/vitrine by default",
  )
  static let sizeLimit = Option(
    "--size-limit",
    "BYTES",
    "the most that it takes up, such as 64K, 500M or 2G; 300M by default",
  )
}
