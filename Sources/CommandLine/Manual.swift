import VitrineImaging

#if !VITRINE_APPLE
import VitrineSandbox
#endif

/// A command's row of the table from which its parsing, `--help`, manual page and completions come.
struct Manual: Sendable {
  let name: String
  /// The arguments after the command's name.
  let synopsis: String
  /// A summary in one sentence.
  let summary: String
  /// Further paragraphs about the command.
  var notes: [String] = []
  /// The kind of its arguments; `nil` if it takes none.
  var arguments: ValueKind? = .file
  /// The meanings of arguments that are fixed words.
  var words: [Page.Term] = []
  let options: [Option]
  /// Command lines, each with a sentence.
  var examples: [Page.Term] = []
  /// Set if the command reads images, so that the text lists their formats.
  var readsImages = true

  /// All options that the command takes.
  var allOptions: [Option] { options + [.help] }

  /// Its text.
  var page: Page {
    var sections = [
      Page.Section("DESCRIPTION", [summary] + notes, words),
      Page.Section("OPTIONS", [], allOptions.map { Page.Term($0.name, value: $0.value?.placeholder, $0.help) }),
    ]
    if options.contains(where: { $0.name == Option.operations.name }) { sections.append(Self.operations) }
    if readsImages { sections.append(Page.Section("FORMATS", Self.formats)) }
    if !examples.isEmpty { sections.append(Page.Section("EXAMPLES", [], examples)) }
    return Page(
      name: "vitrine-\(name)",
      call: "vitrine \(name)",
      arguments: [synopsis, "[OPTION...]"].filter { !$0.isEmpty }.joined(separator: " "),
      summary: summary,
      sections: sections + [Self.exitStatus],
      related: ["vitrine"],
    )
  }

  /// The text about the tool.
  static func overview(of commands: [Manual]) -> Page {
    let sections = [
      Page.Section(
        "DESCRIPTION",
        [
          "Loads, inspects and shrinks images.",
          "SOURCE is a file, - for standard input, or an http, https or s3 URL. After -- nothing is an option. Nothing is enlarged.",
          "'vitrine thumbnail --help' lists the options of a command. With --json, each prints JSON lines with the same keys.",
        ],
      ),
      Page.Section(
        "COMMANDS",
        [],
        commands.map { Page.Term("vitrine \($0.name)", value: $0.synopsis.isEmpty ? nil : $0.synopsis, $0.summary) },
      ),
      Page.Section("FORMATS", formats),
      Page.Section("EXAMPLES", [], commands.compactMap(\.examples.first)),
      exitStatus,
    ]
    return Page(
      name: "vitrine",
      call: "vitrine",
      arguments: "COMMAND [ARGUMENT...] [OPTION...]",
      summary: "Loads, inspects and shrinks images.",
      sections: sections,
      related: commands.map { "vitrine-\($0.name)" },
    )
  }

  /// The operations of `--do`, by their table.
  private static var operations: Page.Section {
    let rows = ImageOperation.table.map { operation in
      let syntax = operation.syntax
      return Page.Term(
        syntax.names.joined(separator: ", "),
        "\(syntax.summary)\n\(syntax.description(at: .shell)); \(syntax.example(at: .shell))",
      )
    }
    let notes = [
      "Operations of --do are names and values, with : between them and | between operations. Values may be left out.",
      "They are done in this order, however they are named: \(ImageOperation.order.joined(separator: ", ")).",
      "A place is one of ce, no, so, ea, we, noea, nowe, soea and sowe, or the initials of a compass: se is soea. A gravity "
        + "is a place with two distances, which are fractions below 1, fp:x:y for a focus point, or, where an image is cropped, "
        + "sm or smart for the part that shows the most. A color has 3, 6 or 8 hexadecimal digits. In the names of pictures :, | and % are written "
        + "%3A, %7C and %25.",
    ]
    return Page.Section("OPERATIONS", notes, rows)
  }

  private static let exitStatus = Page.Section(
    "EXIT STATUS",
    [],
    [
      Page.Term("0", "success"),
      Page.Term("1", "some sources failed, or the result could not be written"),
      Page.Term("64", "the command line is invalid"),
      Page.Term("129, 130, 141, 143", "terminated by SIGHUP, SIGINT, SIGPIPE, SIGTERM"),
    ],
  )

  /// The formats that this installation can read, as listed by its decoders.
  private static var formats: [String] {
    var (here, rest) = (DecoderRegistry.ofTool.formats, [String]())
    #if !VITRINE_APPLE
    if toolWorkers.missing != nil {
      here = DecoderRegistry.standard.formats
      rest = ["\(listed(ImageFormat.external)) need the program vitrine-codecs next to this one."]
    }
    #endif
    return ["Reads \(listed(here)).", "The format is detected from the bytes, not from the name."] + rest
  }

  static func listed(_ formats: [ImageFormat]) -> String { formats.map(\.row.title).sorted().listed() }
}
