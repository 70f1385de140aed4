import VitrineImaging
import VitrineRuntime

/// An option of a command: a row of the table from which parsing, `--help`, manual pages and completions come.
struct Option: Sendable {
  let name: String
  /// The value, or `nil` if it takes none.
  let value: Value?
  /// Its help text.
  ///
  /// Completions show the part before the first `;`.
  let help: String

  struct Value: Sendable {
    /// The name of the value in texts, such as `SECONDS`.
    let placeholder: String
    let kind: ValueKind
  }

  /// Makes an option without a value.
  init(_ name: String, _ help: String...) { (self.name, value, self.help) = (name, nil, help.joined(separator: " ")) }

  /// Makes an option with a value.
  init(_ name: String, _ placeholder: String, _ kind: ValueKind, _ help: String...) {
    (self.name, self.help) = (name, help.joined(separator: " "))
    value = Value(placeholder: placeholder, kind: kind)
  }
}

/// The kind of a value or an argument, by which it is parsed and completed.
enum ValueKind: Sendable {
  /// A file or a folder.
  case file
  case folder
  /// One of some words.
  case words([String])
  case number(ClosedRange<Int>)
  case text
  /// The name of a command.
  case command

  /// The words for the cases of a type.
  static func words<Choice: RawRepresentable<String> & CaseIterable>(for _: Choice.Type) -> ValueKind {
    .words(Choice.allCases.map(\.rawValue))
  }
}

extension Option {
  static let filesFrom = Option(
    "--files-from",
    "LIST",
    .file,
    "reads further sources from the file LIST, one a line; - for standard input;",
    "ignores blank lines; may be repeated",
  )
  static let zero = Option("-0", "reads a LIST whose sources end in zero bytes, as from find -print0")
  static let json = Option(
    "--json",
    "prints one JSON object a line for each source, in order, all with the same keys;",
    "error and stage are null on success",
  )
  /// The same option for `cache`, which has no sources.
  static let jsonOfCache = Option(
    "--json",
    "prints one JSON object a line, all with the same keys; error is null on success",
  )
  static let quiet = Option("--quiet", "hides the progress bar of a terminal; errors are still printed")

  static let hashes = Option(
    "--hashes",
    "also prints a ThumbHash and a BlurHash of each image, which serve as placeholders;",
    "decodes the image",
  )
  static let colors = Option(
    "--colors",
    "also prints the average color of each image, its dominant one, and a palette of up to",
    "\(ImageColors.paletteCount) colors with their shares of the visible pixels; decodes the image",
  )

  static let help = Option("--help", "shows this text")
  static let version = Option("--version", "shows the version")

  static let output = Option(
    "-o",
    "OUT",
    .file,
    "the output; a folder if it exists as one, ends in /, or there are several sources; otherwise a file;",
    "- for standard output, with one source only; missing folders are created;",
    "in a folder, symbolic links are replaced and not followed",
  )
  static let size = Option(
    "--size",
    "WxH",
    .text,
    "the box in pixels; 400 means 400x400, 400x and x400 bound one side; full size by default",
  )
  static let mode = Option(
    "--mode",
    "MODE",
    .words(for: TargetSize.Mode.self),
    "how the image takes the box; fit (default): inside it; fill: covers it, cropped; exact: stretched",
  )
  static let operations = Option(
    "--do",
    "OPERATIONS",
    .text,
    "changes the image, as in 'crop:400:300:smart|blur:4|watermark:logo.png:se'; see below",
  )
  static let format = Option(
    "--format",
    "FORMAT",
    .words(ImageFormat.written.map(\.name)),
    "the format of the output; \(ImageFormat.written.map(\.name).listed("or"));",
    "by default that of OUT's extension, otherwise gif for animations,",
    "png for images with transparency and jpeg for others",
  )
  static let quality = Option(
    "--quality",
    "Q",
    .number(1...100),
    "the quality of the output; 1 to 100, for \(ImageFormat.written { $0.loss == .always || $0.loss == .either }.listed()),",
    "each on its own scale; 85 by default for jpeg and webp",
  )
  static let lossless = Option(
    "--lossless",
    "keeps every pixel, also in \(ImageFormat.written { $0.loss == .either }.listed());",
    "without --format it writes png, and webp for animations",
  )
  static let subsampling = Option(
    "--subsampling",
    "S",
    .words(for: ImageEncoding.Subsampling.self),
    "the resolution of color in jpeg: 444 (full), 422, or 420 (half in both directions, default)",
  )
  static let progressive = Option("--progressive", "writes jpeg that appears in scans of growing detail")
  static let metadata = Option(
    "--metadata",
    "WHAT",
    .words(["strip", "keep"] + MetadataPolicy.Field.allCases.map(\.rawValue)),
    "the metadata that the output keeps; strip (default), keep, or some of copyright, author, capture-time, camera, exposure, location and",
    "gain-map, separated by commas; where a picture was taken is kept only by keep and location",
  )
  static let dynamicRange = Option(
    "--dynamic-range",
    "RANGE",
    .words(for: DynamicRange.self),
    "the range of brightness; standard (default), or high: jpeg has a gain map, which makes a photograph brighter than white",
    "on displays that can show that",
  )
  static let animated = Option(
    "--animated",
    "writes all frames of an animation, in gif by default;",
    "\(ImageFormat.written { $0.motion == .sometimes || $0.motion == .mostly }.listed()) move",
  )
  static let damaged = Option(
    "--damaged",
    "HOW",
    .words(for: DamagedImages.self),
    "the fate of a damaged image; error (default): it fails; show: its decoded part is written, as a success that",
    "standard error mentions; the rest is transparent in png and webp, and white in jpeg",
  )
  static let jobs = Option(
    "--jobs",
    "N",
    .number(1...1024),
    "the maximum number of concurrent images, and of threads that decode; by default the number of",
    "cores, and 6 for URLs",
  )

  static let qualityMode = Option(
    "--quality-mode",
    "MODE",
    .words(for: DecodeQuality.self),
    "the effort of decoding and scaling; fast, balanced (default) or best",
  )
  static let frame = Option("--frame", "N", .number(0...Int.max), "the frame of an animation, counted from 0")

  static let timeLimit = Option(
    "--time-limit",
    "SECONDS",
    .number(0...86_400),
    "the maximum time to decode one image; 60 by default, 0 for no limit",
  )

  static let noCache = Option("--no-cache", "uses no cache")
  static let shared = Option(
    "--shared",
    "URL",
    .text,
    "also uses a cache that machines share, as redis://user:password@host:port/database;",
    "by default that of the variable VITRINE_SHARED, which other users cannot read",
  )
  static let durable = Option(
    "--durable",
    "URL",
    .text,
    "also uses a cache in a bucket, as s3://bucket/prefix, with the keys, the region and the endpoint",
    "of the environment; by default that of the variable VITRINE_DURABLE",
  )
  static let offline = Option("--offline", "loads only from the cache, even stale images")
  static let reload = Option("--reload", "loads from the server, ignoring what is cached")
  static let header = Option("--header", "'K: V'", .text, "a header field for each request; may be repeated")
  static let trace = Option(
    "--trace",
    "FILE",
    .file,
    "writes when each stage of each request ran and waited, for ui.perfetto.dev",
  )

  static let cacheFolder = Option(
    "--cache-dir",
    "DIR",
    .folder,
    "the folder of the cache; by default $XDG_CACHE_HOME/vitrine or ~/.cache/vitrine",
  )
  static let sizeLimit = Option(
    "--size-limit",
    "BYTES",
    .text,
    "the maximum size of the cache, such as 64K, 500M or 2G; 300M by default",
  )
}

/// The choices of `--damaged`.
enum DamagedImages: String, CaseIterable {
  case error, show
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
