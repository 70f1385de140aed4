import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineS3
import VitrineSandbox

/// One setting: its name, its meaning, and how it is read and shown.
struct Setting: Sendable {
  typealias Configuration = ThumbnailServer.Configuration

  let name: String
  let help: String
  var isSecret = false
  let set: @Sendable (inout Settings, String) throws(ConfigurationError) -> Void
  let show: @Sendable (Settings) -> String

  static func named(_ name: String) -> Setting? { all.first { $0.name == name } }

  static let all: [Setting] = listening + urls + sources + work + answers + program

  // Key paths of values are Sendable, which their type does not say.
  typealias Path<Value> = any WritableKeyPath<Configuration, Value> & Sendable

  static func custom(
    _ name: String,
    _ help: String,
    isSecret: Bool = false,
    set: @escaping @Sendable (inout Settings, String) throws(ConfigurationError) -> Void,
    show: @escaping @Sendable (Settings) -> String,
  ) -> Setting {
    Setting(name: Settings.prefix + name, help: help, isSecret: isSecret, set: set, show: show)
  }

  private static func text(_ name: String, _ path: Path<String?>, _ help: String, isSecret: Bool = false) -> Setting {
    custom(name, help, isSecret: isSecret) { (settings, value) throws(ConfigurationError) in
      settings.change { $0[keyPath: path] = SettingValues.optional(value) }
    } show: {
      $0.configuration[keyPath: path] ?? ""
    }
  }

  private static func integer(
    _ name: String,
    _ path: Path<Int>,
    _ range: ClosedRange<Int>,
    _ help: String,
  ) -> Setting {
    custom(name, help) { (settings, value) throws(ConfigurationError) in
      let number = try SettingValues.integer(value, range)
      settings.change { $0[keyPath: path] = number }
    } show: {
      "\($0.configuration[keyPath: path])"
    }
  }

  private static func bytes(_ name: String, _ path: Path<Int>, atLeast least: Int, _ help: String) -> Setting {
    custom(name, help) { (settings, value) throws(ConfigurationError) in
      let number = try SettingValues.bytes(value, atLeast: least)
      settings.change { $0[keyPath: path] = number }
    } show: {
      "\($0.configuration[keyPath: path])"
    }
  }

  private static func duration(_ name: String, _ path: Path<Duration>, _ help: String) -> Setting {
    custom(name, help) { (settings, value) throws(ConfigurationError) in
      let duration = try SettingValues.duration(value)
      settings.change { $0[keyPath: path] = duration }
    } show: {
      SettingValues.text($0.configuration[keyPath: path])
    }
  }

  private static func flag(_ name: String, _ path: Path<Bool>, _ help: String) -> Setting {
    custom(name, help) { (settings, value) throws(ConfigurationError) in
      let flag = try SettingValues.flag(value)
      settings.change { $0[keyPath: path] = flag }
    } show: {
      SettingValues.text($0.configuration[keyPath: path])
    }
  }

  /// Throws if a rule of the guard would be dropped, since the guard is off; its own name comes before, by the alphabet.
  private static func requireGuard(_ settings: Settings, unless isEmpty: Bool) throws(ConfigurationError) {
    guard isEmpty || settings.configuration.addressGuard != nil else {
      throw ConfigurationError("it needs VITRINE_ADDRESS_GUARD=on")
    }
  }

  // MARK: The table

  private static let listening: [Setting] = [
    custom("BIND", "The address to listen on; * for all; unix: and a path for a socket that is a file.") {
      (settings, value) throws(ConfigurationError) in
      guard !value[...].trimmingSpaces.isEmpty else { throw ConfigurationError("it names no address; * is all") }
      // Addresses of IPv6 have more colons, and no brackets.
      guard !value.hasPrefix(UnixSocket.prefix) else {
        guard value.hasPrefix(UnixSocket.prefix + "/") else {
          throw ConfigurationError("'\(value)' has no absolute path, as unix:/run/vitrine/server.sock has")
        }
        return settings.change { $0.host = value }
      }
      guard value.filter({ $0 == ":" }).count != 1, !value.contains("]") else {
        throw ConfigurationError("'\(value)' is more than an address; VITRINE_PORT is the port")
      }
      settings.change { $0.host = value == "*" ? "" : value }
    } show: {
      $0.configuration.host.isEmpty ? "*" : $0.configuration.host
    },
    integer("PORT", \.port, 0...65_535, "The port; 0 for a free one."),
    integer("THREADS", \.threads, 1...64, "The threads that read requests and write answers."),
    integer("MAX_CONNECTIONS", \.maxConnections, 1...100_000, "The maximum number of open connections."),
    bytes("MAX_HEAD_BYTES", \.maxHeadBytes, atLeast: 2048, "The maximum size of a request's head."),
    duration("HEAD_TIMEOUT", \.headTime, "The time for a new connection's first head."),
    duration("IDLE_TIMEOUT", \.idleTime, "The time for which a connection is kept between requests."),
    duration("SEND_TIMEOUT", \.sendTime, "The time to send an answer, beside a second for every 16 KiB."),
  ]

  private static let urls: [Setting] = [
    custom("PATH_PREFIX", "The beginning of the paths of images, such as /images; empty for none.") {
      (settings, value) throws(ConfigurationError) in
      let prefix = value.hasSuffix("/") ? String(value.dropLast()) : value
      guard prefix.isEmpty || prefix.hasPrefix("/"), prefix.utf8.allSatisfy({ (33...126).contains($0) && $0 != 63 })
      else {
        throw ConfigurationError("'\(value)' is not the beginning of a path, such as /images")
      }
      settings.change { $0.urls.pathPrefix = prefix }
    } show: {
      $0.configuration.urls.pathPrefix
    },
    custom("KEY", "Keys of signatures in hexadecimal, the old ones too, with commas.", isSecret: true) {
      (settings, value) throws(ConfigurationError) in
      settings.keys = SettingValues.list(value)
    } show: {
      $0.keys.joined(separator: ",")
    },
    custom("SALT", "A salt for each key, in hexadecimal.", isSecret: true) {
      (settings, value) throws(ConfigurationError) in
      settings.salts = SettingValues.list(value)
    } show: {
      $0.salts.joined(separator: ",")
    },
    custom("SIGNATURE_SIZE", "The bytes of a signature, from 8 to 32.") {
      (settings, value) throws(ConfigurationError) in
      settings.signatureSize = try SettingValues.integer(value, 8...32)
    } show: {
      "\($0.signatureSize)"
    },
    custom(
      "SOURCE_KEY",
      "The key of encrypted sources, 32, 48 or 64 hexadecimal digits; empty for none.",
      isSecret: true,
    ) {
      (settings, value) throws(ConfigurationError) in
      let key = value.isEmpty ? nil : try SourceKey(value)
      settings.change { $0.urls.sourceKey = key }
    } show: {
      $0.configuration.urls.sourceKey.map { "\($0)" } ?? ""
    },
    flag(
      "ALLOW_UNSIGNED",
      \.urls.allowsUnsigned,
      "Whether URLs without a signature are accepted although there are keys.",
    ),
    custom("PRESETS", "Presets as name=options, with spaces or semicolons between them.") {
      (settings, value) throws(ConfigurationError) in
      var presets: [String: String] = [:]
      for part in value.split(whereSeparator: { $0 == ";" || $0 == " " }) {
        let pair = part.split(separator: "=", maxSplits: 1)
        guard pair.count == 2 else { throw ConfigurationError("'\(part)' is not name=options") }
        presets[String(pair[0])] = String(pair[1])
      }
      settings.change { $0.urls.presets = presets }
    } show: { settings in
      settings.configuration.urls.presets.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(
        separator: ";"
      )
    },
    flag("ONLY_PRESETS", \.urls.allowsOnlyPresets, "Whether URLs name presets and nothing else."),
    integer("MAX_PIPELINES", \.urls.maxPipelines, 1...64, "The maximum number of pipelines in a URL."),
    integer("MAX_SIDE", \.urls.maxSide, 1...65_535, "The maximum width and height that may be asked for."),
    integer(
      "MAX_RESULT_SIDE",
      \.urls.maxResultSide,
      0...65_535,
      "The longest side of a result, to which longer ones are shrunk; 0 for any.",
    ),
    custom("AUTO_FORMATS", "The formats that are chosen by Accept.") { (settings, value) throws(ConfigurationError) in
      var formats: [ImageFormat] = []
      for name in SettingValues.list(value.lowercased()) {
        guard let format = ImageFormat.negotiated.first(where: { $0.name == name }) else {
          let names = ImageFormat.negotiated.map(\.name).joined(separator: ", ")
          throw ConfigurationError("'\(name)' is none of \(names)")
        }
        formats.append(format)
      }
      settings.change { $0.negotiation.formats = formats }
    } show: {
      $0.configuration.negotiation.formats.map(\.name).joined(separator: ",")
    },
    duration(
      "AUTO_FORMAT_TIME",
      \.negotiation.timeLimit,
      "The time of encoding within which such a format is chosen.",
    ),
    flag(
      "WIDTH_HINTS",
      \.negotiation.usesWidthHints,
      "Whether Sec-CH-Width and Width set a width that the URL leaves open.",
    ),
    flag(
      "DPR_HINTS",
      \.negotiation.usesPixelRatioHints,
      "Whether Sec-CH-DPR and DPR set a pixel ratio that the URL leaves open.",
    ),
    flag("SAVE_DATA", \.negotiation.usesSaveData, "Whether Save-Data lowers the quality."),
    custom("QUALITY", "The quality where the URL has none, from 1 to 100; 0 for the format's own.") {
      (settings, value) throws(ConfigurationError) in
      settings.quality = try SettingValues.integer(value, 0...100)
    } show: {
      "\($0.quality)"
    },
    custom("FORMAT_QUALITY", "The qualities of single formats, as avif=60,webp=75; they precede QUALITY.") {
      (settings, value) throws(ConfigurationError) in
      var qualities: [String: Int] = [:]
      for part in SettingValues.list(value) {
        let pair = part.split(separator: "=", maxSplits: 1)
        guard pair.count == 2, let format = ImageFormat.served.first(where: { $0.isNamed(pair[0].lowercased()) }) else {
          throw ConfigurationError("'\(part)' is not format=quality")
        }
        qualities[format.name] = try SettingValues.integer(String(pair[1]), 1...100)
      }
      let chosen = qualities
      settings.change { $0.urls.defaults.formatQualities = chosen }
    } show: {
      $0.configuration.urls.defaults.formatQualities.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        .joined(separator: ",")
    },
    text("WATERMARK", \.watermark, "The picture of the option watermark."),
    flag("RASTERIZE_SVG", \.rasterizesDrawings, "Whether drawings become pictures where the URL names no format."),
  ]

  private static let sources: [Setting] = [
    text("LOCAL_ROOT", \.localRoot, "The folder of sources that begin with local:///."),
    duration("LOCAL_TTL", \.localFreshness, "The time for which a local file is not looked at again."),
    flag("REMOTE", \.urls.sources.allowsURLs, "Whether http and https URLs are loaded."),
    custom("ALLOWED_SOURCES", "The beginnings of allowed URLs, with commas; empty for all.") {
      (settings, value) throws(ConfigurationError) in
      var prefixes: [SourcePrefix] = []
      for text in SettingValues.list(value) { prefixes.append(try SourcePrefix(text)) }
      settings.change { $0.urls.sources.prefixes = prefixes }
    } show: {
      $0.configuration.urls.sources.prefixes.map(\.description).joined(separator: ",")
    },
    custom("S3_BUCKETS", "The buckets of sources that begin with s3:// or gs://, with commas; empty for none.") {
      (settings, value) throws(ConfigurationError) in
      let buckets = SettingValues.list(value)
      for bucket in buckets where !ObjectURL.isBucket(bucket) {
        throw ConfigurationError("'\(bucket)' is not the name of a bucket")
      }
      settings.change { $0.urls.sources.buckets = Set(buckets) }
    } show: {
      $0.configuration.urls.sources.buckets.sorted().joined(separator: ",")
    },
    custom(
      "URL_REPLACEMENTS",
      "Beginnings of sources that are replaced: pattern=replacement, with semicolons between them.",
    ) {
      (settings, value) throws(ConfigurationError) in
      var replacements: [SourceReplacement] = []
      for part in value.split(separator: ";") {
        replacements.append(try SourceReplacement(String(part.trimmingSpaces)))
      }
      settings.change { $0.urls.sources.replacements = replacements }
    } show: {
      $0.configuration.urls.sources.replacements.map(\.description).joined(separator: ";")
    },
    text("BASE_URL", \.urls.sources.base, "The beginning of sources that are no URLs."),
    custom("ADDRESS_GUARD", "Whether private networks are refused as sources.") {
      (settings, value) throws(ConfigurationError) in
      let isOn = try SettingValues.flag(value)
      settings.change { $0.addressGuard = isOn ? $0.addressGuard ?? AddressGuard() : nil }
    } show: {
      SettingValues.text($0.configuration.addressGuard != nil)
    },
    custom("ALLOWED_NETWORKS", "Networks that are allowed although they are private, as 10.1.0.0/16, with commas.") {
      (settings, value) throws(ConfigurationError) in
      var networks: [IPNetwork] = []
      for text in SettingValues.list(value) {
        guard let network = IPNetwork(text) else { throw ConfigurationError("'\(text)' is not a network") }
        networks.append(network)
      }
      try requireGuard(settings, unless: networks.isEmpty)
      settings.change { $0.addressGuard?.allowed = networks }
    } show: {
      $0.configuration.addressGuard?.allowed.map { "\($0)" }.joined(separator: ",") ?? ""
    },
    custom("ALLOWED_PORTS", "The ports of sources, with commas; empty for all.") {
      (settings, value) throws(ConfigurationError) in
      var ports: Set<Int> = []
      for text in SettingValues.list(value) { ports.insert(try SettingValues.integer(text, 1...65_535)) }
      let allowed = ports
      try requireGuard(settings, unless: ports.isEmpty)
      settings.change { $0.addressGuard?.ports = allowed.isEmpty ? nil : allowed }
    } show: {
      $0.configuration.addressGuard?.ports.map { $0.sorted().map { "\($0)" }.joined(separator: ",") } ?? ""
    },
    custom(
      "PROXY",
      "Whether http_proxy and the like are heeded beside the guard; the proxy must then refuse private networks itself.",
    ) { (settings, value) throws(ConfigurationError) in
      let isOn = try SettingValues.flag(value)
      try requireGuard(settings, unless: !isOn)
      settings.change { $0.addressGuard?.trustsProxy = isOn }
    } show: {
      SettingValues.text($0.configuration.addressGuard?.trustsProxy == true)
    },
    bytes("MAX_SOURCE_BYTES", \.maxSourceBytes, atLeast: 1, "The maximum size of a source."),
    integer("MAX_SOURCE_PIXELS", \.maxSourcePixels, 1...1_000_000_000, "The maximum number of pixels of a source."),
    integer("CONNECTIONS_PER_HOST", \.connectionsPerHost, 1...256, "The maximum number of transfers from one host."),
  ]

  private static let work: [Setting] = [
    integer("DECODES", \.maxConcurrentDecodes, 1...256, "The maximum number of concurrent decodes."),
    integer("MAX_IMAGES", \.maxImages, 1...100_000, "The maximum number of images under way; 503 beyond."),
    duration("REQUEST_TIMEOUT", \.requestTime, "The time for one image, from the request to the answer."),
    duration("DECODE_TIMEOUT", \.decodeTime, "The time to decode one image."),
    integer("IMAGES_PER_PROCESS", \.imagesPerProcess, 1...1_000_000, "The images after which a worker is replaced."),
    integer(
      "MAX_ANIMATION_FRAMES",
      \.animationLimits.frameCount,
      1...1_000_000,
      "The maximum number of frames of an answer; the others are left out.",
    ),
    integer(
      "MAX_ANIMATION_PIXELS",
      \.animationLimits.pixelCount,
      1...1_000_000_000_000,
      "The maximum number of pixels of all frames of an answer together; other frames are left out.",
    ),
    custom("DAMAGED", "What is answered for damaged sources: show (the decoded part), error.") {
      (settings, value) throws(ConfigurationError) in
      guard ["show", "error"].contains(value) else { throw ConfigurationError("'\(value)' is none of show, error") }
      settings.change { $0.showsDamaged = value == "show" }
    } show: {
      $0.configuration.showsDamaged ? "show" : "error"
    },
    custom("SANDBOX", "The formats that are decoded in processes of their own: external, all, none.") {
      (settings, value) throws(ConfigurationError) in
      guard let formats = Sandbox.Formats(rawValue: value) else {
        throw ConfigurationError("'\(value)' is none of external, all, none")
      }
      settings.change { $0.sandbox = formats }
    } show: {
      $0.configuration.sandbox.rawValue
    },
    text("CODECS_PROGRAM", \.codecsProgram, "The path of vitrine-codecs; empty for the one beside this program."),
    bytes("MEMORY", \.memory, atLeast: 64 << 20, "The memory that the server may use."),
  ]

  private static let answers: [Setting] = [
    text("CACHE_DIR", \.cacheFolder, "The folder of the cache."),
    bytes("CACHE_BYTES", \.cacheBytes, atLeast: 32 << 20, "The maximum size of the cache."),
    custom("DURABLE", "The bucket in which the cache outlives this machine, as s3://bucket/prefix; empty for none.") {
      (settings, value) throws(ConfigurationError) in
      let text = SettingValues.optional(value)
      do throws(S3Error) {
        if let text { _ = try BucketPlace(text) }
      } catch {
        throw ConfigurationError(error.detail)
      }
      settings.change { $0.durable = text }
    } show: {
      $0.configuration.durable ?? ""
    },
    custom(
      "SHARED",
      "The cache that servers share, as redis://user:password@host:port/database; empty for none.",
      isSecret: true,
    ) { (settings, value) throws(ConfigurationError) in
      settings.shared = SettingValues.optional(value)
    } show: {
      $0.shared ?? ""
    },
    duration("MIN_TTL", \.minAge, "The minimum max-age of answers."),
    duration("MAX_TTL", \.maxAge, "The maximum max-age of answers."),
    duration("DEFAULT_TTL", \.defaultAge, "The freshness of sources that say nothing about it."),
    text("PLACEHOLDER", \.placeholder, "An image that is sent with errors, in place of text: a path, or a URL."),
    custom("PLACEHOLDER_STATUS", "The status of answers with that image; 0 for the error's own.") {
      (settings, value) throws(ConfigurationError) in
      let status = try SettingValues.integer(value, 0...599)
      // The others have no body.
      guard status == 0 || status >= 200 && ![204, 205, 304].contains(status) else {
        throw ConfigurationError("'\(value)' is no status of an answer with an image")
      }
      settings.change { $0.placeholderStatus = status == 0 ? nil : status }
    } show: {
      "\($0.configuration.placeholderStatus ?? 0)"
    },
    custom("PLACEHOLDER_TTL", "The max-age of answers with that image; empty for the errors' own.") {
      (settings, value) throws(ConfigurationError) in
      let age = value.isEmpty ? nil : try SettingValues.duration(value)
      settings.change { $0.placeholderAge = age }
    } show: {
      $0.configuration.placeholderAge.map { SettingValues.text($0) } ?? ""
    },
    custom(
      "IIIF",
      "Whether viewers get tiles at /iiif/3 and /dzi; or the beginning of the URLs that they are told, as https://host.",
    ) { (settings, value) throws(ConfigurationError) in
      guard value.contains("://") else {
        let isOn = try SettingValues.flag(value)
        return settings.change { $0.zoomBase = isOn ? "" : nil }
      }
      guard let url = try? HTTPURL(value), !url.string.contains("?"), !url.string.contains("\"") else {
        throw ConfigurationError(
          "'\(value)' is neither on nor off nor the beginning of URLs, such as https://example.org"
        )
      }
      settings.change { $0.zoomBase = url.string.hasSuffix("/") ? String(url.string.dropLast()) : url.string }
    } show: {
      $0.configuration.zoomBase.map { $0.isEmpty ? "on" : $0 } ?? "off"
    },
    text("CORS_ORIGIN", \.allowedOrigin, "The value of Access-Control-Allow-Origin."),
    text("PURGE_TOKEN", \.purgeToken, "The token of DELETE and PURGE; empty refuses both.", isSecret: true),
    text("METRICS_TOKEN", \.metricsToken, "The token of /metrics; empty needs none.", isSecret: true),
    custom("OTLP_ENDPOINT", "The collector of spans, such as http://localhost:4318; empty for none.") {
      (settings, value) throws(ConfigurationError) in
      let text = SettingValues.optional(value)
      if let text, (try? HTTPRequest(text)) == nil { throw ConfigurationError("'\(text)' is no URL of a collector") }
      settings.change { $0.traceCollector = text }
    } show: {
      $0.configuration.traceCollector ?? ""
    },
    flag("TRACE_SOURCES", \.tracesSources, "Whether servers of sources get the traceparent of requests."),
    flag("TRUST_FORWARDED_FOR", \.trustsForwardedFor, "Whether X-Forwarded-For names the client."),
  ]
}
