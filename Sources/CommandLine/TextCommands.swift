import VitrineRuntime

/// `vitrine help`: shows the text of a command, as `--help` does.
struct HelpCommand: Command {
  static let manual = Manual(
    name: "help",
    synopsis: "[COMMAND]",
    summary: "Shows the help of the tool, or of a command.",
    arguments: .command,
    options: [],
    readsImages: false,
  )

  private let page: Page

  init(_ arguments: Arguments) throws(UsageError) { page = try CommandLineTool.page(arguments, for: "help") }

  func run() -> Int32 {
    Console.print(page.help, to: 1)
    return ExitCode.success
  }
}

/// `vitrine man`: prints a manual page.
struct ManCommand: Command {
  static let manual = Manual(
    name: "man",
    synopsis: "[COMMAND]",
    summary: "Prints the manual page of the tool, or of a command, for man.",
    arguments: .command,
    options: [],
    examples: [Page.Term("vitrine man thumbnail | man -l -", "shows a manual page that is not installed")],
    readsImages: false,
  )

  private let page: Page

  init(_ arguments: Arguments) throws(UsageError) { page = try CommandLineTool.page(arguments, for: "man") }

  func run() -> Int32 {
    Console.print(page.manual, to: 1)
    return ExitCode.success
  }
}

/// `vitrine completions`: prints a script by which a shell completes the tool's command lines.
struct CompletionsCommand: Command {
  static let manual = Manual(
    name: "completions",
    synopsis: Shell.allCases.map(\.rawValue).joined(separator: "|"),
    summary: "Prints a script by which a shell completes commands, options, words and files.",
    notes: ["'make install' puts these scripts where the shells look for them."],
    arguments: .words(for: Shell.self),
    options: [],
    examples: [
      Page.Term("source <(vitrine completions bash)", "completes in this shell; zsh takes the same line"),
      Page.Term("vitrine completions fish | source", "completes in this fish"),
    ],
    readsImages: false,
  )

  private let shell: Shell

  init(_ arguments: Arguments) throws(UsageError) {
    let names = Shell.allCases.map(\.rawValue).joined(separator: ", ")
    guard arguments.sources.count == 1, let shell = Shell(rawValue: arguments.sources[0].readable) else {
      throw UsageError("completions takes one of \(names)")
    }
    self.shell = shell
  }

  func run() -> Int32 {
    Console.print(shell.script(for: CommandLineTool.manuals), to: 1)
    return ExitCode.success
  }
}

extension CommandLineTool {
  /// Returns the text about the command that an argument names, or about the tool.
  fileprivate static func page(_ arguments: Arguments, for name: String) throws(UsageError) -> Page {
    guard arguments.sources.count <= 1 else { throw UsageError("\(name) takes at most one command") }
    guard let first = arguments.sources.first else { return overview }
    return try command(first).manual.page
  }
}
