import VitrineImaging
import VitrineRuntime

/// An option of a command, as the command line is parsed and as `--help` shows it.
struct Option {
  let name: String
  /// The placeholder of its value in the help text, or `nil` if it takes none.
  let value: String?
  /// The lines of its help text.
  let help: [String]

  init(_ name: String, _ value: String? = nil, _ help: String...) {
    (self.name, self.value, self.help) = (name, value, help)
  }
}

extension Option {
  static let filesFrom = Option(
    "--files-from",
    "LIST",
    "reads further sources from the file LIST, one a line; - for standard input;",
    "ignores blank lines; may be repeated",
  )
  static let zero = Option("-0", nil, "reads a LIST whose sources end in zero bytes, as from find -print0")
  static let json = Option(
    "--json",
    nil,
    "prints one JSON object a line for each source, in order, all with the same keys;",
    "error and stage are null on success",
  )
  /// The same option for `cache`, which has no sources.
  static let jsonOfCache = Option(
    "--json",
    nil,
    "prints one JSON object a line, all with the same keys; error is null on success",
  )
  static let quiet = Option("--quiet", nil, "hides the progress bar of a terminal; errors are still printed")

  static let hash = Option(
    "--hash",
    nil,
    "also prints a ThumbHash and a BlurHash of each image, which serve as placeholders;",
    "decodes the image",
  )

  static let help = Option("--help", nil, "shows this text")

  static let output = Option(
    "-o",
    "OUT",
    "a folder if it exists as one, ends in /, or there are several sources; otherwise a file;",
    "- for standard output, with one source only; missing folders are created;",
    "in a folder, symbolic links are replaced and not followed",
  )
  static let size = Option(
    "--size",
    "WxH",
    "the box in pixels; 400 means 400x400, 400x and x400 bound one side; full size by default",
  )
  static let mode = Option(
    "--mode",
    "MODE",
    "fit (default): inside the box; fill: covers it, cropped; exact: stretched",
  )
  static let operations = Option(
    "--do",
    "OPERATIONS",
    "changes the image, as in 'crop:400:300:smart|blur:4|watermark:logo.png:se'; see below",
  )
  static let format = Option(
    "--format",
    "FORMAT",
    "\(ImageFormat.written.map(\.name).listed("or"));",
    "by default that of OUT's extension, otherwise gif for animations,",
    "png for images with transparency and jpeg for others",
  )
  static let quality = Option(
    "--quality",
    "Q",
    "1 to 100, for \(ImageFormat.written { $0.loss == .always || $0.loss == .either }.listed()),",
    "each on its own scale; 85 by default for jpeg and webp",
  )
  static let lossless = Option(
    "--lossless",
    nil,
    "keeps every pixel, also in \(ImageFormat.written { $0.loss == .either }.listed());",
    "without --format it writes png, and webp for animations",
  )
  static let subsampling = Option(
    "--subsampling",
    "S",
    "the resolution of color in jpeg: 444 (full), 422, or 420 (half in both directions, default)",
  )
  static let progressive = Option("--progressive", nil, "writes jpeg that appears in scans of growing detail")
  static let metadata = Option(
    "--metadata",
    "WHAT",
    "strip (default), keep, or some of copyright, author, capture-time, camera, exposure, location and",
    "gain-map, separated by commas; where a picture was taken is kept only by keep and location",
  )
  static let dynamicRange = Option(
    "--dynamic-range",
    "RANGE",
    "standard (default), or high: jpeg has a gain map, which makes a photograph brighter than white",
    "on displays that can show that",
  )
  static let animated = Option(
    "--animated",
    nil,
    "writes all frames of an animation, in gif by default;",
    "\(ImageFormat.written { $0.motion == .sometimes || $0.motion == .mostly }.listed()) move",
  )
  static let damaged = Option(
    "--damaged",
    "HOW",
    "error (default): a damaged image fails; show: its decoded part is written, as a success that",
    "standard error mentions; the rest is transparent in png and webp, and white in jpeg",
  )
  static let jobs = Option(
    "--jobs",
    "N",
    "the maximum number of concurrent images, and of threads that decode; by default the number of",
    "cores, and 6 for URLs",
  )

  static let qualityMode = Option("--quality-mode", "MODE", "fast, balanced (default) or best")
  static let frame = Option("--frame", "N", "the frame of an animation, counted from 0")

  static let timeLimit = Option(
    "--time-limit",
    "SECONDS",
    "the maximum time to decode one image; 60 by default, 0 for no limit",
  )

  static let noCache = Option("--no-cache", nil, "uses no cache")
  static let shared = Option(
    "--shared",
    "URL",
    "also uses a cache that machines share, as redis://user:password@host:port/database;",
    "by default that of the variable VITRINE_SHARED, which other users cannot read",
  )
  static let durable = Option(
    "--durable",
    "URL",
    "also uses a cache in a bucket, as s3://bucket/prefix, with the keys, the region and the endpoint",
    "of the environment; by default that of the variable VITRINE_DURABLE",
  )
  static let offline = Option("--offline", nil, "loads only from the cache, even stale images")
  static let reload = Option("--reload", nil, "loads from the server, ignoring what is cached")
  static let header = Option("--header", "'K: V'", "a header field for each request; may be repeated")
  static let trace = Option(
    "--trace",
    "FILE",
    "writes when each stage of each request ran and waited, for ui.perfetto.dev",
  )

  static let cacheFolder = Option(
    "--cache-dir",
    "DIR",
    "the folder of the cache; by default $XDG_CACHE_HOME/vitrine or ~/.cache/vitrine",
  )
  static let sizeLimit = Option(
    "--size-limit",
    "BYTES",
    "the maximum size of the cache, such as 64K, 500M or 2G; 300M by default",
  )
}

extension ImageFormat {
  /// Returns the names of the formats that can be written and whose rows fulfil a condition.
  fileprivate static func written(_ isIncluded: (Row) -> Bool) -> [String] {
    written.filter { isIncluded($0.row) }.map(\.name)
  }
}

extension [String] {
  /// The texts as a part of a sentence, such as "a, b and c".
  func listed(_ word: String = "and") -> String {
    dropLast().joined(separator: ", ") + (count > 1 ? " \(word) " : "") + (last ?? "")
  }
}
