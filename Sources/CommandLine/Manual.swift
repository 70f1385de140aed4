import VitrineImaging

/// What `--help` says of a command.
struct Manual {
  let name: String
  /// How it is called, behind its name.
  let synopsis: String
  /// What it does, in one line.
  let summary: String
  /// What else there is to know, in lines.
  var notes: [String] = []
  let options: [Option]
  /// Whether it reads images, so that it is said which.
  var readsImages = true

  var text: String {
    var parts = ["vitrine \(name) \(synopsis) [OPTION...]", summary]
    if !notes.isEmpty { parts.append(notes.joined(separator: "\n")) }
    parts.append((options + [.help]).map(Self.lines).joined(separator: "\n"))
    if readsImages { parts.append(Self.formats) }
    parts.append(Self.exitStatus)
    return parts.joined(separator: "\n\n") + "\n"
  }

  private static func lines(_ option: Option) -> String {
    let name = "  " + option.name + (option.value.map { " \($0)" } ?? "")
    let indent = String(repeating: " ", count: 23)
    let first = name.count < indent.count - 1 ? name + indent.dropFirst(name.count) : name + "\n" + indent
    return first + option.help.joined(separator: "\n" + indent)
  }

  static let exitStatus = """
    Exit status: 0 all done; 1 some failed, or the result could not be written; 64 the command line was not understood;
    129, 130, 141, 143 ended by SIGHUP, SIGINT, SIGPIPE, SIGTERM.
    """

  /// The formats that can be read here, as the decoders themselves say.
  static var formats: String {
    let here = DecoderRegistry.ofTool.formats
    var text = "Reads \(listed(here)).\nThe bytes say which it is, and not the name."
    let missing = HeavyCodecs.formats.filter { !here.contains($0) }
    if !missing.isEmpty { text += "\n\(listed(missing)) need the program vitrine-codecs beside this one." }
    return text
  }

  private static func listed(_ formats: [ImageFormat]) -> String {
    let names = [ImageFormat.jxl: "JPEG XL", .webp: "WebP"]
    let sorted = formats.map { names[$0] ?? $0.name.uppercased() }.sorted()
    return sorted.dropLast().joined(separator: ", ") + (sorted.count > 1 ? " and " : "") + (sorted.last ?? "")
  }
}
