import VitrineImaging
import VitrineSandbox
import VitrineRuntime

/// The settings of a server as names and values: from the environment, and from a file of `NAME=value` lines.
///
/// ```swift
/// let settings = try Settings(environment: ProcessInfo.processInfo.environment)
/// let server = try ThumbnailServer(settings.configuration)
/// ```
/// Every name begins with `VITRINE_`. A name that is not known is an error, since a typing error in `VITRINE_KEY` would
/// open the server to everybody.
public struct Settings: Sendable {
  /// The settings of the server.
  public private(set) var configuration = ThumbnailServer.Configuration()
  /// A Boolean value that indicates whether each request is logged.
  ///
  /// Defaults to `true`.
  public internal(set) var logs = true
  /// A Boolean value that indicates whether the program may run as root.
  ///
  /// Defaults to `false`.
  public internal(set) var allowsRoot = false
  /// The time for which requests may go on after SIGTERM.
  ///
  /// Defaults to 20 seconds.
  public internal(set) var drainTime = Duration.seconds(20)
  /// The time after SIGTERM for which requests are still taken, while `/ready` answers 503.
  ///
  /// Defaults to zero. A balancer that asks `/ready` needs it to send its clients elsewhere.
  public internal(set) var drainDelay = Duration.zero
  /// The URL of the cache that servers share; `nil` for none, the default.
  ///
  /// The program makes ``ThumbnailServer/Configuration/sharedTiers`` of it.
  public internal(set) var shared: String?
  /// Sentences about variables of imgproxy that have no effect.
  private(set) var foreignNotes: [String] = []
  /// The quality of formats without one of their own; 0 for the format's default.
  var quality = 0
  var keys: [String] = []
  var salts: [String] = []
  var signatureSize = 32

  /// Makes the default settings.
  public init() {}

  /// Reads settings.
  ///
  /// - Parameters:
  ///   - environment: The variables. Names that begin with `IMGPROXY_` stand for settings where they mean the same; a
  ///     setting of Vitrine's takes precedence. Other names are ignored.
  ///   - file: The text of a file with lines of `NAME=value`; empty lines and lines that begin with `#` are ignored. What
  ///     is in the environment takes precedence. Defaults to `nil`.
  /// - Throws: `ConfigurationError` that names the setting.
  public init(environment: [String: String], file: String? = nil) throws(ConfigurationError) {
    var values = try file.map { text throws(ConfigurationError) in try Self.values(in: text) } ?? [:]
    let foreign = try ImgproxyVariables(environment)
    values.merge(foreign.values) { own, _ in own }
    foreignNotes = foreign.notes
    // These are the tests' and the tools' own.
    for (name, value) in environment where name.hasPrefix(Self.prefix) && !Self.foreign.contains(name) {
      values[name] = value
    }
    for (name, value) in values.sorted(by: { $0.key < $1.key }) {
      guard let setting = Setting.named(name) else { throw ConfigurationError("\(name) is not a setting") }
      do throws(ConfigurationError) {
        try setting.set(&self, value)
      } catch {
        throw ConfigurationError("\(name): \(error.description)")
      }
    }
    if quality > 0 {
      let own = Dictionary(ImageFormat.served.map { ($0.name, quality) }) { $1 }
      configuration.urls.defaults.formatQualities.merge(own) { chosen, _ in chosen }
    }
    try setKeys()
  }

  static let prefix = "VITRINE_"
  /// The path of the file with settings is not itself one.
  static let foreign: Set<String> = ["VITRINE_CONFIG", "VITRINE_CORPUS", "VITRINE_TRACES", "VITRINE_APPLE"]

  private static func values(in text: String) throws(ConfigurationError) -> [String: String] {
    var values: [String: String] = [:]
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let line = line.filter { $0 != "\r" }[...].trimmingSpaces
      guard !line.isEmpty, line.first != "#" else { continue }
      guard let equals = line.firstIndex(of: "=") else {
        throw ConfigurationError("line \(index + 1) is not NAME=value")
      }
      let name = String(line[..<equals].trimmingSpaces)
      var value = line[line.index(after: equals)...].trimmingSpaces
      if value.count >= 2, let quote = value.first, quote == "\"" || quote == "'", value.last == quote {
        value = value.dropFirst().dropLast()
      }
      guard values.updateValue(String(value), forKey: name) == nil else {
        throw ConfigurationError("line \(index + 1): \(name) is there twice")
      }
    }
    return values
  }

  private mutating func setKeys() throws(ConfigurationError) {
    guard !keys.isEmpty || !salts.isEmpty else { return }
    guard keys.count == salts.count || salts.isEmpty else {
      throw ConfigurationError("VITRINE_KEY has \(keys.count) keys and VITRINE_SALT \(salts.count) salts")
    }
    for (index, key) in keys.enumerated() {
      let salt = salts.isEmpty ? "" : salts[index]
      configuration.urls.keys.append(try SigningKey(key: key, salt: salt, size: signatureSize))
    }
  }

  /// The settings that variables of imgproxy stand for, as a file could have them; the rest are comments.
  ///
  /// - Throws: `ConfigurationError` that names the variable.
  public static func translation(of environment: [String: String]) throws(ConfigurationError) -> String {
    let foreign = try ImgproxyVariables(environment)
    let settings = foreign.values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)\n" }
    return (settings + foreign.notes.map { "# \($0)\n" }).joined()
  }

  /// Changes the configuration; for the table of settings.
  mutating func change(_ body: (inout ThumbnailServer.Configuration) -> Void) { body(&configuration) }

  /// All settings, one a line, as a file could have them; secrets are not shown.
  public var text: String {
    Setting.all.map { setting in
      let value = setting.isSecret ? (setting.show(self).isEmpty ? "" : "(hidden)") : setting.show(self)
      return "# \(setting.help)\n\(setting.name)=\(value)\n"
    }.joined()
  }

  /// Sentences about settings that a person should think about.
  public var warnings: [String] {
    var warnings = foreignNotes
    if configuration.urls.keys.isEmpty || configuration.urls.allowsUnsigned {
      warnings.append("URLs need no signature, so anybody can ask for anything; set VITRINE_KEY and VITRINE_SALT")
    }
    if configuration.urls.sourceKey != nil, configuration.urls.keys.isEmpty || configuration.urls.allowsUnsigned {
      warnings.append("whoever tries many URLs can read encrypted sources, since URLs need no signature")
    }
    if configuration.cacheFolder == nil, shared == nil {
      warnings.append("nothing is kept on disk; set VITRINE_CACHE_DIR")
    }
    if configuration.addressGuard == nil {
      warnings.append("sources may be in private networks; VITRINE_ADDRESS_GUARD is off")
    }
    if configuration.sandbox == .none {
      warnings.append("all formats are decoded in the server's own process; VITRINE_SANDBOX is none")
    }
    let isLocal = ["127.", "::1", "localhost", UnixSocket.prefix].contains { configuration.host.hasPrefix($0) }
    if configuration.metricsToken == nil, !isLocal {
      warnings.append("whoever reaches the server can read /metrics; set VITRINE_METRICS_TOKEN")
    }
    return warnings
  }
}
