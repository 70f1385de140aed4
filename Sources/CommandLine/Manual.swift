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
    if options.contains(where: { $0.name == Option.operations.name }) { parts.append(Self.operations) }
    if readsImages { parts.append(Self.formats) }
    parts.append(Self.exitStatus)
    return parts.joined(separator: "\n\n") + "\n"
  }

  private static func lines(_ option: Option) -> String {
    lines(option.name + (option.value.map { " \($0)" } ?? ""), option.help)
  }

  private static func lines(_ term: String, _ help: [String]) -> String {
    let name = "  " + term
    let indent = String(repeating: " ", count: 23)
    let first = name.count < indent.count - 1 ? name + indent.dropFirst(name.count) : name + "\n" + indent
    return first + help.joined(separator: "\n" + indent)
  }

  /// The operations of `--do`, by their table.
  private static var operations: String {
    let rows = ImageOperation.table.map { operation in
      let syntax = operation.syntax
      let values = "\(syntax.description(at: .shell)); \(syntax.example(at: .shell))"
      return lines(syntax.names.joined(separator: ", "), wrapped(syntax.summary) + wrapped(values))
    }
    let order = "They are done in this order, however they are named: \(ImageOperation.order.joined(separator: ", "))."
    let notes = [
      "Operations of --do are names and values, with : between them and | between operations. Values may be left out.",
      order,
      "A place is one of ce, no, so, ea, we, noea, nowe, soea and sowe, or the initials of a compass: se is soea. A gravity "
        + "is a place with two distances, which are fractions below 1, fp:x:y for a focus point, or, where an image is cropped, "
        + "sm or smart for the part that shows the most. A color has 3, 6 or 8 hexadecimal digits. In the names of pictures :, | and % are written "
        + "%3A, %7C and %25.",
    ]
    return (notes.flatMap { wrapped($0, 116) } + [""] + rows).joined(separator: "\n")
  }

  /// Breaks a text into lines.
  private static func wrapped(_ text: String, _ width: Int = 95) -> [String] {
    text.split(separator: " ").reduce(into: [String]()) { lines, word in
      if let last = lines.last, last.count + 1 + word.count <= width {
        lines[lines.count - 1] = "\(last) \(word)"
      } else {
        lines.append(String(word))
      }
    }
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
