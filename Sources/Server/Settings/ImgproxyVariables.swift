import VitrineRuntime

/// The settings that variables of imgproxy stand for, so that a server does not start open, or empty, because a variable has
/// the other program's name.
struct ImgproxyVariables {
  static let prefix = "IMGPROXY_"

  /// The settings, by their names.
  private(set) var values: [String: String] = [:]
  /// Sentences about variables that have no setting, or another meaning.
  private(set) var notes: [String] = []

  private enum Meaning: Sendable {
    /// One setting of the same meaning.
    case setting(String)
    /// Settings that follow from the value; `nil` if it changes nothing by itself.
    case settings([String], @Sendable (String) throws(ConfigurationError) -> [String: String]?)
    /// No setting: the reason, or what to write instead. Values that change nothing need no sentence.
    case note(String, unless: [String] = [])
    /// A bound on the server that is not kept here, so it must not start.
    case refused(String)
  }

  /// Reads the variables of an environment.
  ///
  /// - Throws: ``ConfigurationError`` that names the variable.
  init(_ environment: [String: String]) throws(ConfigurationError) {
    let own = environment.filter { $0.key.hasPrefix(Self.prefix) && !$0.value.isEmpty }
    for (variable, value) in own.sorted(by: { $0.key < $1.key }) {
      guard let meaning = Self.table[String(variable.dropFirst(Self.prefix.count))] else {
        notes.append("\(variable) is not known here")
        continue
      }
      switch meaning {
      case .setting(let name): add([name: value])
      case .settings(_, let convert):
        do throws(ConfigurationError) {
          if let settings = try convert(value) { add(settings) }
        } catch {
          throw ConfigurationError("\(variable): \(error.description)")
        }
      case .note(let text, let unless):
        if !unless.contains(value.lowercased()) { notes.append("\(variable) has no effect: \(text)") }
      case .refused(let text): throw ConfigurationError("\(variable) is not supported: \(text)")
      }
    }
    // There a folder is served only if the list names local files.
    if let list = own["IMGPROXY_ALLOWED_SOURCES"], !list.contains("local://"),
      values.removeValue(forKey: "VITRINE_LOCAL_ROOT") != nil
    {
      notes.append("IMGPROXY_LOCAL_FILESYSTEM_ROOT has no effect: IMGPROXY_ALLOWED_SOURCES does not name local://")
    }
    // The source's own lifetime counts, within bounds that are the same without it.
    if Self.isOn(own["IMGPROXY_CACHE_CONTROL_PASSTHROUGH"]) { values["VITRINE_MIN_TTL"] = nil }
    if own["IMGPROXY_PRESETS"] != nil, let separator = own["IMGPROXY_PRESETS_SEPARATOR"] {
      values["VITRINE_PRESETS"] = own["IMGPROXY_PRESETS"]?.replacing(separator, with: ";")
    }
    // There the answer is no error unless that is set.
    if values["VITRINE_PLACEHOLDER"] != nil, own["IMGPROXY_FALLBACK_IMAGE_HTTP_CODE"] == nil {
      values["VITRINE_PLACEHOLDER_STATUS"] = "200"
    }
    let formats = [("AVIF", "avif"), ("JXL", "jxl"), ("WEBP", "webp")].compactMap { name, format in
      ["AUTO_\(name)", "ENFORCE_\(name)", "ENABLE_\(name)_DETECTION"].contains { Self.isOn(own[Self.prefix + $0]) }
        ? format : nil
    }
    if !formats.isEmpty { values["VITRINE_AUTO_FORMATS"] = formats.joined(separator: ",") }
  }

  private mutating func add(_ settings: [String: String]) {
    for (name, value) in settings {
      // Several variables name parts of one list.
      let isList = ["ALLOWED_NETWORKS", "S3_BUCKETS"].contains(name)
      values[Settings.prefix + name, default: ""] = isList ? join(values[Settings.prefix + name], value) : value
    }
  }

  private func join(_ list: String?, _ part: String) -> String { list.map { "\($0),\(part)" } ?? part }

  /// Reads a flag as imgproxy does.
  private static func isOn(_ value: String?) -> Bool {
    ["1", "t", "true"].contains(value?.lowercased() ?? "")
  }

  private static func flag(_ settings: [String: String]) -> Meaning {
    .settings(settings.keys.sorted(by: >)) { value throws(ConfigurationError) in isOn(value) ? settings : nil }
  }

  private static func seconds(_ names: String...) -> Meaning {
    .settings(names) { value throws(ConfigurationError) in
      let seconds = "\(try SettingValues.integer(value, 0...1_000_000_000))s"
      return Dictionary(uniqueKeysWithValues: names.map { ($0, seconds) })
    }
  }

  private static func number(_ name: String, times factor: Double = 1) -> Meaning {
    .settings([name]) { value throws(ConfigurationError) in
      guard let number = Double(value), number >= 0, number < 1e12 else {
        throw ConfigurationError("'\(value)' is not a number")
      }
      // 0 is no limit there; here the default remains.
      return number == 0 ? nil : [name: "\(Int(number * factor))"]
    }
  }

  private static func bind(_ value: String) throws(ConfigurationError) -> [String: String] {
    if value.hasPrefix("/") { return ["BIND": UnixSocket.prefix + value] }
    guard let colon = value.lastIndex(of: ":") else { throw ConfigurationError("'\(value)' has no port") }
    let host = value[..<colon].filter { $0 != "[" && $0 != "]" }
    return ["BIND": host.isEmpty ? "*" : host, "PORT": String(value[value.index(after: colon)...])]
  }

  /// Divides a list into beginnings of URLs, buckets and local files, which have settings of their own.
  private static func sources(_ value: String) throws(ConfigurationError) -> [String: String] {
    var (prefixes, buckets): ([String], [String]) = ([], [])
    for text in SettingValues.list(value) {
      let scheme = ["local://", "s3://", "gs://", "abs://", "swift://"].first { text.hasPrefix($0) }
      let rest = text.dropFirst(scheme?.count ?? 0).drop { $0 == "/" }
      let bucket = rest.hasSuffix("/") ? rest.dropLast() : rest
      switch scheme {
      case nil: prefixes.append(text)
      case "local://" where !rest.isEmpty:
        throw ConfigurationError("'\(text)' is a part of the folder; set VITRINE_LOCAL_ROOT to it")
      case "s3://", "gs://":
        guard !bucket.contains("/") else {
          throw ConfigurationError("'\(text)' is a part of a bucket; VITRINE_S3_BUCKETS takes whole ones")
        }
        if !bucket.isEmpty { buckets.append(String(bucket)) }
      default: break
      }
    }
    var settings = ["ALLOWED_SOURCES": prefixes.joined(separator: ",")]
    // Without a beginning all URLs would be allowed.
    if prefixes.isEmpty { settings = ["REMOTE": "off"] }
    if !buckets.isEmpty { settings["S3_BUCKETS"] = buckets.joined(separator: ",") }
    return settings
  }

  /// The number of documented variables of a verdict, and the rows of the table in the documentation.
  static var documentation: (counts: [String: Int], rows: [String]) {
    var (counts, lines): ([String: Int], [String]) = ([:], [])
    for (names, meaning) in rows {
      let variables = names.split(separator: " ")
      let (verdict, text) =
        switch meaning {
        case .setting(let name): ("same", "`\(Settings.prefix)\(name)`")
        case .settings(let names, _): ("same", names.map { "`\(Settings.prefix)\($0)`" }.joined(separator: ", "))
        case .note(let text, _): ("different", text)
        case .refused(let text): ("refused", text)
        }
      counts[verdict, default: 0] += variables.count
      lines.append(
        "| \(variables.map { "`\(prefix)\($0)`" }.joined(separator: ", ")) | \(verdict) | \(text) |"
      )
    }
    return (counts, lines)
  }

  private static let table: [String: Meaning] = {
    var table: [String: Meaning] = [:]
    for (names, meaning) in rows {
      for name in names.split(separator: " ") { table[String(name)] = meaning }
    }
    return table
  }()

  private static let rows: [(String, Meaning)] = [
    // The listener.
    ("BIND", .settings(["BIND", "PORT"]) { value throws(ConfigurationError) in try bind(value) }),
    ("NETWORK", .note("VITRINE_BIND says where the server listens", unless: ["tcp", "unix"])),
    ("TIMEOUT", seconds("REQUEST_TIMEOUT")),
    ("READ_TIMEOUT READ_REQUEST_TIMEOUT", seconds("HEAD_TIMEOUT")),
    ("WRITE_TIMEOUT WRITE_RESPONSE_TIMEOUT", seconds("SEND_TIMEOUT")),
    ("KEEP_ALIVE_TIMEOUT", seconds("IDLE_TIMEOUT")),
    ("MAX_CLIENTS", number("MAX_CONNECTIONS")),
    ("WORKERS CONCURRENCY", number("DECODES")),
    ("REQUESTS_QUEUE_SIZE", .note("VITRINE_MAX_IMAGES bounds the images under way", unless: ["0"])),
    ("DOWNLOAD_TIMEOUT CLIENT_KEEP_ALIVE_TIMEOUT", .note("VITRINE_REQUEST_TIMEOUT bounds the whole of a request")),
    ("GRACEFUL_STOP_TIMEOUT", seconds("DRAIN_TIMEOUT")),
    ("PATH_PREFIX", .setting("PATH_PREFIX")),
    ("SERVER_NAME SO_REUSEPORT HEALTH_CHECK_MESSAGE HEALTH_CHECK_PATH", .note("/health and /ready answer as they do")),
    // URLs.
    ("KEY", .setting("KEY")),
    ("SALT", .setting("SALT")),
    ("SIGNATURE_SIZE", .setting("SIGNATURE_SIZE")),
    ("TRUSTED_SIGNATURES", .note("only signatures of keys are accepted")),
    ("SECRET", .refused("have the proxy in front compare the header, and sign URLs with VITRINE_KEY")),
    (
      "PRESETS",
      .settings(["PRESETS"]) { value throws(ConfigurationError) in ["PRESETS": value.replacing(",", with: ";")] },
    ),
    ("PRESETS_SEPARATOR", .settings(["PRESETS"]) { _ throws(ConfigurationError) in nil }),
    ("AUTO_WEBP AUTO_AVIF AUTO_JXL", .settings(["AUTO_FORMATS"]) { _ throws(ConfigurationError) in nil }),
    (
      "ENFORCE_WEBP ENFORCE_AVIF ENFORCE_JXL",
      .note("a format that the URL names is kept", unless: ["0", "f", "false"]),
    ),
    (
      "ENABLE_WEBP_DETECTION ENABLE_AVIF_DETECTION",
      .settings(["AUTO_FORMATS"]) { _ throws(ConfigurationError) in nil },
    ),
    ("PRESETS_PATH", .note("write the presets into VITRINE_PRESETS")),
    ("INFO_PRESETS INFO_ONLY_PRESETS", .note("/info has no options")),
    ("ONLY_PRESETS", flag(["ONLY_PRESETS": "on"])),
    ("ALLOWED_PROCESSING_OPTIONS", .refused("name the options in presets, and set VITRINE_ONLY_PRESETS")),
    ("ALLOW_SECURITY_OPTIONS", .note("URLs never change a limit", unless: ["0", "f", "false"])),
    ("MAX_RESULT_DIMENSION", number("MAX_RESULT_SIDE")),
    ("SOURCE_URL_ENCRYPTION_KEY", .setting("SOURCE_KEY")),
    ("ARGUMENTS_SEPARATOR", .refused("values stand between colons")),
    ("ENABLE_CLIENT_HINTS", flag(["WIDTH_HINTS": "on", "DPR_HINTS": "on"])),
    (
      "PREFERRED_FORMATS",
      .note("without a format, JPEG, PNG, WebP and GIF stay that, and others are JPEG, PNG or GIF"),
    ),
    // Sources.
    (
      "ALLOWED_SOURCES",
      .settings(["ALLOWED_SOURCES", "REMOTE", "S3_BUCKETS"]) { value throws(ConfigurationError) in try sources(value) },
    ),
    ("BASE_URL", .setting("BASE_URL")),
    ("URL_REPLACEMENTS", .setting("URL_REPLACEMENTS")),
    ("LOCAL_FILESYSTEM_ROOT", .setting("LOCAL_ROOT")),
    ("S3_ALLOWED_BUCKETS", .setting("S3_BUCKETS")),
    ("USE_S3", .note("VITRINE_S3_BUCKETS names the buckets", unless: ["0", "f", "false"])),
    ("S3_DENIED_BUCKETS", .note("only buckets that VITRINE_S3_BUCKETS names are read")),
    ("S3_REGION", .note("set AWS_REGION")),
    ("S3_ENDPOINT", .note("set AWS_ENDPOINT_URL")),
    ("S3_MULTI_REGION", .note("all buckets are in one region", unless: ["0", "f", "false"])),
    ("S3_ASSUME_ROLE_ARN", .note("set the keys of the role")),
    (
      "USE_GCS GCS_KEY GCS_ENDPOINT",
      .note(
        "gs:// is read with an HMAC key in AWS_ACCESS_KEY_ID and https://storage.googleapis.com in AWS_ENDPOINT_URL"
      ),
    ),
    (
      "USE_ABS ABS_NAME ABS_KEY ABS_ENDPOINT USE_SWIFT SWIFT_USERNAME SWIFT_API_KEY SWIFT_AUTH_URL SWIFT_AUTH_VERSION "
        + "SWIFT_TENANT SWIFT_DOMAIN SWIFT_TIMEOUT_SECONDS SWIFT_CONNECT_TIMEOUT_SECONDS",
      .note("Azure and Swift are not supported", unless: ["0", "f", "false"]),
    ),
    ("ALLOW_LOOPBACK_SOURCE_ADDRESSES", flag(["ALLOWED_NETWORKS": "127.0.0.0/8,::1/128"])),
    ("ALLOW_LINK_LOCAL_SOURCE_ADDRESSES", flag(["ALLOWED_NETWORKS": "169.254.0.0/16,fe80::/10"])),
    (
      "ALLOW_PRIVATE_SOURCE_ADDRESSES",
      flag(["ALLOWED_NETWORKS": "10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,fc00::/7"]),
    ),
    ("MAX_SRC_FILE_SIZE", number("MAX_SOURCE_BYTES")),
    ("MAX_SRC_RESOLUTION", number("MAX_SOURCE_PIXELS", times: 1_000_000)),
    ("MAX_SRC_DIMENSION", .note("VITRINE_MAX_SOURCE_PIXELS bounds the pixels")),
    (
      "MAX_REDIRECTS USER_AGENT COOKIE_PASSTHROUGH COOKIE_BASE_URL CUSTOM_REQUEST_HEADERS CUSTOM_HEADERS_SEPARATOR "
        + "REQUEST_HEADERS_PASSTHROUGH",
      .note("sources are asked without such headers"),
    ),
    ("IGNORE_SSL_VERIFICATION", .note("certificates are always checked", unless: ["0", "f", "false"])),
    ("MAX_ANIMATION_FRAMES", number("MAX_ANIMATION_FRAMES")),
    ("MAX_ANIMATION_FRAME_RESOLUTION", .note("VITRINE_MAX_ANIMATION_PIXELS bounds all frames together")),
    ("MAX_SVG_CHECK_BYTES", .note("VITRINE_MEMORY and the time limits bound drawings")),
    // Pictures.
    ("QUALITY", .setting("QUALITY")),
    ("FORMAT_QUALITY", .setting("FORMAT_QUALITY")),
    ("STRIP_METADATA", .note("write sm:0 in the preset default", unless: ["1", "t", "true"])),
    ("KEEP_COPYRIGHT", .note("write kcr:0 in the preset default", unless: ["1", "t", "true"])),
    ("STRIP_COLOR_PROFILE", .note("write scp:0 in the preset default", unless: ["1", "t", "true"])),
    ("AUTO_ROTATE", .note("write ar:0 in the preset default", unless: ["1", "t", "true"])),
    (
      "JPEG_PROGRESSIVE JPEG_NO_SUBSAMPLE JPEG_TRELLIS_QUANT JPEG_OVERSHOOT_DERINGING JPEG_OPTIMIZE_SCANS "
        + "JPEG_QUANT_TABLE PNG_INTERLACED PNG_QUANTIZE PNG_QUANTIZATION_COLORS AVIF_SPEED WEBP_COMPRESSION WEBP_EFFORT",
      .note("the encoders' other options are fixed", unless: ["0", "f", "false"]),
    ),
    (
      "AUTOQUALITY_METHOD AUTOQUALITY_TARGET AUTOQUALITY_MIN AUTOQUALITY_FORMAT_MIN AUTOQUALITY_MAX "
        + "AUTOQUALITY_FORMAT_MAX AUTOQUALITY_ALLOWED_ERROR AUTOQUALITY_MAX_RESOLUTION AUTOQUALITY_JPEG_NET "
        + "AUTOQUALITY_WEBP_NET AUTOQUALITY_AVIF_NET",
      .note("an image is encoded once, at VITRINE_QUALITY", unless: ["none"]),
    ),
    (
      "BEST_FORMAT_COMPLEXITY_THRESHOLD BEST_FORMAT_MAX_RESOLUTION BEST_FORMAT_BY_DEFAULT BEST_FORMAT_ALLOW_SKIPS",
      .note("VITRINE_AUTO_FORMATS are chosen by the client and the time", unless: ["0", "f", "false"]),
    ),
    (
      "ENABLE_VIDEO_THUMBNAILS VIDEO_THUMBNAIL_SECOND VIDEO_THUMBNAIL_KEYFRAMES VIDEO_THUMBNAIL_PROBE_SIZE "
        + "VIDEO_THUMBNAIL_MAX_ANALYZE_DURATION VIDEO_THUMBNAIL_TILE_AUTO_KEYFRAMES",
      .note("there are no videos", unless: ["0", "f", "false"]),
    ),
    (
      "UNSHARP_MASKING_MODE UNSHARP_MASKING_WEIGHT UNSHARP_MASKING_DIVIDER",
      .note("write sh:0.5 or so in the preset default", unless: ["none"]),
    ),
    (
      "SMART_CROP_ADVANCED SMART_CROP_FACE_DETECTION OBJECT_DETECTION_CONFIG OBJECT_DETECTION_WEIGHTS "
        + "OBJECT_DETECTION_CLASSES OBJECT_DETECTION_NET_SIZE OBJECT_DETECTION_CONFIDENCE_THRESHOLD "
        + "OBJECT_DETECTION_NMS_THRESHOLD",
      .note(
        "there is no detection of objects; the one smart gravity keeps faces that the file names",
        unless: ["0", "f", "false"],
      ),
    ),
    (
      "USE_LINEAR_COLORSPACE DISABLE_SHRINK_ON_LOAD ENFORCE_THUMBNAIL SVG_FIX_UNSUPPORTED STRIP_METADATA_DPI",
      .note("pictures are always decoded and resampled in one way", unless: ["0", "f", "false"]),
    ),
    ("RETURN_ATTACHMENT", .note("write att:1 in the preset default", unless: ["0", "f", "false"])),
    ("WATERMARK_PATH", .setting("WATERMARK")),
    ("WATERMARK_DATA WATERMARK_URL WATERMARK_OPACITY", .note("VITRINE_WATERMARK names a file")),
    ("FALLBACK_IMAGE_PATH FALLBACK_IMAGE_URL", .setting("PLACEHOLDER")),
    ("FALLBACK_IMAGE_HTTP_CODE", .setting("PLACEHOLDER_STATUS")),
    (
      "FALLBACK_IMAGE_TTL",
      .settings(["PLACEHOLDER_TTL"]) { value throws(ConfigurationError) in
        // 0 is the same as no value.
        let seconds = try SettingValues.integer(value, 0...1_000_000_000)
        return seconds == 0 ? nil : ["PLACEHOLDER_TTL": "\(seconds)s"]
      },
    ),
    ("WATERMARKS_CACHE_SIZE FALLBACK_IMAGES_CACHE_SIZE", .note("both are kept in memory as they are")),
    ("FALLBACK_IMAGE_DATA", .note("VITRINE_PLACEHOLDER names a file or a URL")),
    ("SKIP_PROCESSING_FORMATS", .note("write skp and the formats, as skp:gif, in the preset default")),
    ("ALWAYS_RASTERIZE_SVG", flag(["RASTERIZE_SVG": "on"])),
    (
      "SANITIZE_SVG",
      .note("drawings are passed on with a policy that lets no script run", unless: ["0", "f", "false"]),
    ),
    // Answers.
    ("TTL", seconds("MIN_TTL", "MAX_TTL")),
    ("CACHE_CONTROL_PASSTHROUGH", .settings(["MIN_TTL"]) { _ throws(ConfigurationError) in nil }),
    ("SET_CANONICAL_HEADER ENABLE_DEBUG_HEADERS", .note("there are no such fields", unless: ["0", "f", "false"])),
    (
      "USE_ETAG ETAG_ENABLED USE_LAST_MODIFIED LAST_MODIFIED_ENABLED",
      .note("answers always have validators", unless: ["1", "t", "true"]),
    ),
    ("ETAG_BUSTER", .note("write cb and a text in the preset default, which makes other entity tags")),
    (
      "CUSTOM_RESPONSE_HEADERS RESPONSE_HEADERS_PASSTHROUGH", .note("have the proxy in front set other fields"),
    ),
    ("ALLOW_ORIGIN", .setting("CORS_ORIGIN")),
    (
      "OPEN_TELEMETRY_ENDPOINT OPEN_TELEMETRY_PROTOCOL OPEN_TELEMETRY_SERVICE_NAME OPEN_TELEMETRY_ENABLE_METRICS "
        + "OPEN_TELEMETRY_SERVER_CERT OPEN_TELEMETRY_CLIENT_CERT OPEN_TELEMETRY_CLIENT_KEY OPEN_TELEMETRY_GRPC_INSECURE "
        + "OPEN_TELEMETRY_PROPAGATORS OPEN_TELEMETRY_TRACE_ID_GENERATOR OPEN_TELEMETRY_CONNECTION_TIMEOUT",
      .note("VITRINE_OTLP_ENDPOINT is the URL of the collector's HTTP port, such as http://localhost:4318"),
    ),
    (
      "NEW_RELIC_KEY NEW_RELIC_APP_NAME NEW_RELIC_LABELS DATADOG_ENABLE DATADOG_ENABLE_ADDITIONAL_METRICS "
        + "CLOUD_WATCH_SERVICE_NAME CLOUD_WATCH_NAMESPACE CLOUD_WATCH_REGION",
      .note("read /metrics, or spans by VITRINE_OTLP_ENDPOINT", unless: ["0", "f", "false"]),
    ),
    (
      "BUGSNAG_KEY BUGSNAG_STAGE HONEYBADGER_KEY HONEYBADGER_ENV SENTRY_DSN SENTRY_ENVIRONMENT SENTRY_RELEASE "
        + "AIRBRAKE_PROJECT_ID AIRBRAKE_PROJECT_KEY AIRBRAKE_ENVIRONMENT",
      .note("errors are in the log, with a code, and counted in /metrics"),
    ),
    (
      "SYSLOG_ENABLE SYSLOG_LEVEL SYSLOG_NETWORK SYSLOG_ADDRESS SYSLOG_TAG",
      .note("the log is JSON on standard output", unless: ["0", "f", "false"]),
    ),
    (
      "DOWNLOAD_BUFFER_SIZE FREE_MEMORY_INTERVAL BUFFER_POOL_CALIBRATION_THRESHOLD MALLOC",
      .note("VITRINE_MEMORY is the memory that the server may use"),
    ),
    ("PROMETHEUS_BIND PROMETHEUS_NAMESPACE", .note("/metrics is on the server's port; set VITRINE_METRICS_TOKEN")),
    (
      "LOG_FORMAT LOG_LEVEL",
      .note("the log is JSON on standard output; VITRINE_LOG=off turns it off", unless: ["json", "info"]),
    ),
    (
      "DEVELOPMENT_ERRORS_MODE REPORT_DOWNLOADING_ERRORS",
      .note("errors say what a client may read", unless: ["0", "f", "false"]),
    ),
  ]
}
