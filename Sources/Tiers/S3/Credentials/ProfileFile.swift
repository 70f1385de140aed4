import VitrineRuntime

/// A file of profiles in the format of Amazon's tools: `~/.aws/credentials` and `~/.aws/config`.
struct ProfileFile {
  /// The maximum size of a file, in bytes.
  private static let sizeLimit = 1 << 20
  private static let queue = WorkQueue(label: "s3-profiles", width: 1)

  /// The values of each profile, by name; names of values are in lower case.
  private(set) var profiles: [String: [String: String]] = [:]

  /// Parses the text of a file.
  ///
  /// Nested values, and lines that are neither a section nor a value, are ignored.
  init(_ text: String) {
    var profile: String?
    for line in text.split(whereSeparator: \.isNewline) {
      guard let first = line.first, first != "#", first != ";" else { continue }
      if first == "[" {
        let name = line.dropFirst().prefix { $0 != "]" }[...].trimmingSpaces
        // In the file of settings, sections of profiles have a word before the name.
        let words = name.split(separator: " ", maxSplits: 1)
        profile = words.first == "profile" && words.count == 2 ? String(words[1][...].trimmingSpaces) : String(name)
      } else if let profile, !first.isWhitespace, let equals = line.firstIndex(of: "=") {
        let value = String(line[equals...].dropFirst().trimmingSpaces)
        guard !value.isEmpty else { continue }
        profiles[profile, default: [:]][String(line[..<equals].trimmingSpaces).lowercased()] = value
      }
    }
  }

  /// Reads a file on a thread that may block.
  static func read(_ path: String) async throws -> ProfileFile {
    try await queue.run { _ in try ProfileFile(text(path)) }
  }

  /// Reads a file.
  ///
  /// Blocks.
  static func readNow(_ path: String) throws(FileError) -> ProfileFile { ProfileFile(try text(path)) }

  private static func text(_ path: String) throws(FileError) -> String {
    let data = try FileContents.at(path)
    guard data.count <= sizeLimit else { throw FileError("it is larger than 1 MB") }
    return String(decoding: data, as: UTF8.self)
  }

  /// Returns the path of the file of credentials, or `nil` if there is none.
  static func credentialsPath(_ environment: [String: String]) -> String? {
    path(environment, "AWS_SHARED_CREDENTIALS_FILE", "credentials")
  }

  /// Returns the path of the file of settings, or `nil` if there is none.
  static func settingsPath(_ environment: [String: String]) -> String? {
    path(environment, "AWS_CONFIG_FILE", "config")
  }

  private static func path(_ environment: [String: String], _ variable: String, _ name: String) -> String? {
    let home = environment["HOME"].flatMap { $0.isEmpty ? nil : $0 }
    guard let path = environment[variable], !path.isEmpty else { return home.map { "\($0)/.aws/\(name)" } }
    guard path.hasPrefix("~/"), let home else { return path }
    return home + path.dropFirst()
  }
}

extension Substring {
  /// The text without white space at both ends.
  var trimmingSpaces: Substring {
    var rest = self
    while rest.first?.isWhitespace == true { rest = rest.dropFirst() }
    while rest.last?.isWhitespace == true { rest = rest.dropLast() }
    return rest
  }
}
