import VitrineImaging

#if !VITRINE_APPLE
import VitrineSandbox
#endif

/// The text of a command's `--help`.
struct Manual {
  let name: String
  /// The arguments after the command's name.
  let synopsis: String
  /// A summary in one line.
  let summary: String
  /// Further lines about the command.
  var notes: [String] = []
  let options: [Option]
  /// Set if the command reads images, so that the text lists their formats.
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
    Exit status: 0 success; 1 some sources failed, or the result could not be written; 64 the command line is invalid;
    129, 130, 141, 143 terminated by SIGHUP, SIGINT, SIGPIPE, SIGTERM.
    """

  /// The formats that this installation can read, as listed by its decoders.
  static var formats: String {
    var (here, rest) = (DecoderRegistry.ofTool.formats, "")
    #if !VITRINE_APPLE
    if toolWorkers.missing != nil {
      here = DecoderRegistry.standard.formats
      rest = "\n\(listed(ImageFormat.external)) need the program vitrine-codecs next to this one."
    }
    #endif
    return "Reads \(listed(here)).\nThe format is detected from the bytes, not from the name." + rest
  }

  private static func listed(_ formats: [ImageFormat]) -> String { formats.map(\.row.title).sorted().listed() }
}
