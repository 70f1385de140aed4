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
    // The source's own lifetime counts, within bounds that are the same without it.
    if Self.isOn(own["IMGPROXY_CACHE_CONTROL_PASSTHROUGH"]) { values["VITRINE_MIN_TTL"] = nil }
    if own["IMGPROXY_PRESETS"] != nil, let separator = own["IMGPROXY_PRESETS_SEPARATOR"] {
      values["VITRINE_PRESETS"] = own["IMGPROXY_PRESETS"]?.replacing(separator, with: ";")
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
      let isList = name == "ALLOWED_NETWORKS"
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

  /// The rows of the table in the documentation.
  static var documentation: [String] {
    rows.map { names, meaning in
      let variables = names.split(separator: " ").map { "`\(prefix)\($0)`" }.joined(separator: ", ")
      let text =
        switch meaning {
        case .setting(let name): "`\(Settings.prefix)\(name)`"
        case .settings(let names, _): names.map { "`\(Settings.prefix)\($0)`" }.joined(separator: ", ")
        case .note(let text, _): "none: \(text)"
        case .refused(let text): "the server does not start: \(text)"
        }
      return "| \(variables) | \(text) |"
    }
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
    ("ONLY_PRESETS", flag(["ONLY_PRESETS": "on"])),
    ("ALLOWED_PROCESSING_OPTIONS", .refused("name the options in presets, and set VITRINE_ONLY_PRESETS")),
    ("ALLOW_SECURITY_OPTIONS", .note("URLs never change a limit", unless: ["0", "f", "false"])),
    ("MAX_RESULT_DIMENSION", number("MAX_RESULT_SIDE")),
    ("SOURCE_URL_ENCRYPTION_KEY", .note("encrypted sources are not supported")),
    ("ARGUMENTS_SEPARATOR", .refused("values stand between colons")),
    ("ENABLE_CLIENT_HINTS", flag(["WIDTH_HINTS": "on", "DPR_HINTS": "on"])),
    (
      "PREFERRED_FORMATS",
      .note("without a format, JPEG, PNG, WebP and GIF stay that, and others are JPEG, PNG or GIF"),
    ),
    // Sources.
    ("ALLOWED_SOURCES", .setting("ALLOWED_SOURCES")),
    ("BASE_URL", .setting("BASE_URL")),
    ("URL_REPLACEMENTS", .setting("URL_REPLACEMENTS")),
    ("LOCAL_FILESYSTEM_ROOT", .setting("LOCAL_ROOT")),
    ("S3_ALLOWED_BUCKETS", .setting("S3_BUCKETS")),
    ("USE_S3", .note("VITRINE_S3_BUCKETS names the buckets", unless: ["0", "f", "false"])),
    ("S3_DENIED_BUCKETS", .note("only buckets that VITRINE_S3_BUCKETS names are read")),
    ("S3_REGION", .note("set AWS_REGION")),
    ("S3_ENDPOINT", .note("set AWS_ENDPOINT_URL")),
    ("S3_ASSUME_ROLE_ARN", .note("set the keys of the role")),
    (
      "USE_GCS GCS_KEY GCS_ENDPOINT", .note("use the S3 endpoint, https://storage.googleapis.com, in AWS_ENDPOINT_URL"),
    ),
    (
      "USE_ABS ABS_NAME ABS_KEY ABS_ENDPOINT USE_SWIFT",
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
      "MAX_REDIRECTS USER_AGENT COOKIE_PASSTHROUGH CUSTOM_REQUEST_HEADERS",
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
      "JPEG_PROGRESSIVE PNG_INTERLACED PNG_QUANTIZE PNG_QUANTIZATION_COLORS AVIF_SPEED WEBP_COMPRESSION WEBP_EFFORT",
      .note("the encoders' other options are fixed"),
    ),
    ("WATERMARK_PATH", .setting("WATERMARK")),
    ("WATERMARK_DATA WATERMARK_URL WATERMARK_OPACITY", .note("VITRINE_WATERMARK names a file")),
    ("FALLBACK_IMAGE_PATH", .setting("PLACEHOLDER")),
    (
      "FALLBACK_IMAGE_DATA FALLBACK_IMAGE_URL FALLBACK_IMAGE_HTTP_CODE FALLBACK_IMAGE_TTL",
      .note("VITRINE_PLACEHOLDER names a file"),
    ),
    ("SKIP_PROCESSING_FORMATS", .note("originals are not passed on")),
    ("SANITIZE_SVG ALWAYS_RASTERIZE_SVG", .note("drawings are always drawn", unless: ["1", "t", "true"])),
    // Answers.
    ("TTL", seconds("MIN_TTL", "MAX_TTL")),
    ("CACHE_CONTROL_PASSTHROUGH", .settings(["MIN_TTL"]) { _ throws(ConfigurationError) in nil }),
    ("SET_CANONICAL_HEADER ENABLE_DEBUG_HEADERS", .note("there are no such fields", unless: ["0", "f", "false"])),
    (
      "USE_ETAG ETAG_ENABLED USE_LAST_MODIFIED LAST_MODIFIED_ENABLED",
      .note("answers always have validators", unless: ["1", "t", "true"]),
    ),
    ("ALLOW_ORIGIN", .setting("CORS_ORIGIN")),
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
