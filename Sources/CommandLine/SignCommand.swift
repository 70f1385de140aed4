#if !VITRINE_APPLE
import VitrineRuntime
import VitrineServingRequests

/// `vitrine sign`: signs URLs of a thumbnail server.
struct SignCommand: Command {
  static let manual = Manual(
    name: "sign",
    synopsis: "URL...",
    summary: "Signs URLs of vitrine-server, and of imgproxy.",
    notes: [
      "A URL is a whole one, or only its path: /rs:fill:300:200/plain/https://example.org/cat.jpg@webp "
        + "or /?src=https://example.org/cat.jpg&w=300. It has no signature yet, or _, unsafe or insecure in its place.",
      "The key and the salt are the server's, in hexadecimal digits, from $VITRINE_KEY and $VITRINE_SALT. Of several, "
        + "separated by commas, the first ones sign. $VITRINE_SIGNATURE_SIZE is the number of bytes that are kept.",
      "--encrypt takes the server's $VITRINE_SOURCE_KEY.",
    ],
    arguments: .text,
    options: [.expires, .encrypt, .config, .unchecked, .jsonOfURLs],
    examples: [
      Page.Term(
        "vitrine sign --config server.env --expires 86400 /rs:fit:400:400/plain/https://example.org/cat.jpg",
        "signs a path for a day",
      )
    ],
    readsImages: false,
  )

  private let urls: [ByteString]
  private let key: SigningKey
  /// The key with which sources are encrypted; `nil` to leave them plain.
  private let sourceKey: SourceKey?
  private let lifetime: Int?
  private let isUnchecked: Bool
  private let isJSON: Bool
  private let console: Console

  init(_ parsed: Arguments) throws(UsageError) {
    guard !parsed.sources.isEmpty else { throw UsageError("sign needs at least one URL") }
    urls = parsed.sources
    lifetime = try parsed.number(.expires)
    (isUnchecked, isJSON) = (parsed.has(.unchecked), parsed.has(.jsonOfURLs))
    let settings = try Self.settings(parsed)
    key = try Self.key(settings)
    sourceKey = parsed.has(.encrypt) ? try Self.sourceKey(settings) : nil
    console = Console(total: urls.count, isQuiet: true)
  }

  func run() -> Int32 {
    var failures = 0
    for url in urls {
      var signed: String?
      var failure: Failure?
      do throws(Failure) {
        signed = try sign(url)
      } catch {
        (failure, failures) = (error, failures + 1)
        console.error(url, error.reason)
      }
      if isJSON {
        var line = JSONLine()
        line.add("source", url)
        line.add("url", signed)
        line.add(failure)
        console.out(line.line)
      } else if let signed {
        console.out(signed)
      }
    }
    return failures == 0 ? ExitCode.success : ExitCode.failure
  }

  private func sign(_ url: ByteString) throws(Failure) -> String {
    guard let text = url.text else { throw Failure(stage: .request, "it is not text in UTF-8") }
    let start = Self.startOfPath(text)
    let (server, target) = (text[..<start], String(text[start...]))
    guard target.utf8.first == UInt8(ascii: "/") || target.utf8.first == UInt8(ascii: "?") else {
      throw Failure(stage: .request, "a path begins with a slash")
    }
    guard !target.utf8.contains(UInt8(ascii: "#")) else {
      throw Failure(stage: .request, "what follows a # is not sent to a server; a # in a source is written %23")
    }
    guard !ThumbnailURLs.isZoomForm(target) || lifetime == nil && sourceKey == nil else {
      throw Failure(stage: .request, "URLs of viewers that zoom take neither --expires nor --encrypt")
    }
    let signed: String
    do throws(RequestError) {
      let whole = expiring(target)
      signed = key.signing(try sourceKey?.encryptingSource(of: whole) ?? whole)
    } catch {
      throw Failure(stage: .request, error.text)
    }
    if !isUnchecked { try check(signed) }
    return server + signed
  }

  /// Throws if the server would refuse the URL, as far as is known here.
  private func check(_ signed: String) throws(Failure) {
    var configuration = ThumbnailURLs.Configuration()
    configuration.keys = [key]
    configuration.sourceKey = sourceKey
    configuration.skipsUnknownPresets = true
    configuration.sources.allowsAllBuckets = true
    configuration.sources.addressGuard = nil
    configuration.sources.allowsLocalFiles = true
    let parts = signed.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 1 || ThumbnailURLs.isQueryForm(parts[0]) else {
      throw Failure(stage: .request, "the server would ignore what follows the ?; one in the source is written %3F")
    }
    // Without presets there is nothing in the settings that could be wrong.
    guard let urls = try? ThumbnailURLs(configuration) else { return }
    do throws(RequestError) {
      guard try urls.zoomRequest(path: signed) == nil else { return }
      _ = try urls.request(path: parts.first ?? "", query: parts.count > 1 ? parts[1] : nil)
    } catch {
      throw Failure(stage: .request, "the server would answer \(error.status): \(error.text)")
    }
  }

  /// Returns the path with the time at which it ends.
  private func expiring(_ target: String) -> String {
    guard let lifetime else { return target }
    let time = Int(Date().timeIntervalSince1970) + lifetime
    if ["?", "/?", "/info?", "/info/?"].contains(where: { target.hasPrefix($0) }) {
      return "\(target)&expires=\(time)"
    }
    for start in ["/info/", "/_/", "/unsafe/", "/insecure/"] where target.hasPrefix(start) {
      // What stands in for a signature may follow `/info`.
      let rest = String(target.dropFirst(start.count - 1))
      return start.dropLast() + (start == "/info/" ? expiring(rest) : "/exp:\(time)\(rest)")
    }
    return "/exp:\(time)\(target)"
  }

  /// Returns the end of the scheme and the host, if a text begins with them.
  private static func startOfPath(_ text: String) -> String.Index {
    guard ["http://", "https://"].contains(where: { text.lowercased().hasPrefix($0) }),
      let host = text.firstRange(of: "://")?.upperBound
    else { return text.startIndex }
    return text[host...].utf8.firstIndex { "/?#".utf8.contains($0) } ?? text.endIndex
  }

  private static func key(_ settings: [String: String]) throws(UsageError) -> SigningKey {
    guard let keys = settings["VITRINE_KEY"], !keys.isEmpty else {
      throw UsageError("sign needs $VITRINE_KEY and $VITRINE_SALT, or a file with them by --config")
    }
    // What is no number is out of range.
    let size = settings["VITRINE_SIGNATURE_SIZE"].map { Int($0) ?? 0 } ?? 32
    do throws(ConfigurationError) {
      let list = try SigningKey.list(keys: keys, salts: settings["VITRINE_SALT"] ?? "", size: size)
      return list[0]
    } catch {
      throw UsageError("\(error)")
    }
  }

  private static func sourceKey(_ settings: [String: String]) throws(UsageError) -> SourceKey {
    guard let digits = settings["VITRINE_SOURCE_KEY"], !digits.isEmpty else {
      throw UsageError("--encrypt needs $VITRINE_SOURCE_KEY, or a file with it by --config")
    }
    do throws(ConfigurationError) {
      return try SourceKey(digits)
    } catch {
      throw UsageError("VITRINE_SOURCE_KEY: \(error)")
    }
  }

  /// Reads the settings of a file, or the environment.
  private static func settings(_ parsed: Arguments) throws(UsageError) -> [String: String] {
    guard let file = parsed.bytes(.config) else { return ProcessInfo.processInfo.environment }
    let data: Data
    do throws(FileError) {
      data = try FileContents.named(file)
    } catch {
      throw UsageError("--config \(file.readable): \(error)", exitCode: ExitCode.failure)
    }
    var settings: [String: String] = [:]
    for line in String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline) {
      let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, !line.hasPrefix("#") else { continue }
      // Hexadecimal digits have neither spaces nor quotes.
      let (name, value) = (parts[0].filter { !$0.isWhitespace }, parts[1].filter { !" \t\r\"'".contains($0) })
      settings[name] = value
    }
    return settings
  }
}

extension Option {
  static let expires = Option(
    "--expires",
    "SECONDS",
    .number(1...3_155_760_000),
    "the time for which the URL is valid; for ever by default",
  )
  static let encrypt = Option("--encrypt", "encrypts the source, which then is not seen in the URL")
  static let config = Option("--config", "FILE", .file, "reads the keys and the salt from FILE, in lines NAME=VALUE")
  static let unchecked = Option("--unchecked", "also signs what a server with default settings would refuse")
  static let jsonOfURLs = Option(
    "--json",
    "prints one JSON object a line for each URL, in order, all with the same keys;",
    "error and stage are null on success",
  )
}
#endif
