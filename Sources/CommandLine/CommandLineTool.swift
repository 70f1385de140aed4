import VitrineRuntime

/// What `vitrine` does by the name of its first argument.
protocol Command {
  static var manual: Manual { get }

  init(_ arguments: Arguments) throws(UsageError)

  /// - Returns: What the process ends with.
  func run() -> Int32
}

/// The command line tool.
@main
enum CommandLineTool {
  static let version = "0.1.0"

  private static var commands: [any Command.Type] {
    [InfoCommand.self, ThumbnailCommand.self, FetchCommand.self, CacheCommand.self]
  }

  static func main() {
    reserveStandardFiles()
    Signals.install()
    Signals.exit(Console.exitCode(run(Array(arguments.dropFirst()))))
  }

  /// The arguments as the system gives them: Swift's own are text, and what is no UTF-8 is lost in them.
  private static var arguments: [ByteString] {
    // There are `argc` of them, each ending in a zero.
    (0..<Int(CommandLine.argc)).compactMap { index in
      guard let argument = unsafe CommandLine.unsafeArgv[index] else { return nil }
      return unsafe ByteString(bytes: UnsafeRawBufferPointer(start: argument, count: strlen(argument)))
    }
  }

  /// Sees to it that no file is opened in the place of standard input or output that was closed, and then printed into.
  ///
  /// What stands in for input cannot be read and what stands in for output cannot be written, so that it is an error to use it.
  private static func reserveStandardFiles() {
    for (file, mode) in [(Int32(0), O_WRONLY), (1, O_RDONLY), (2, O_RDWR)] where fcntl(file, F_GETFD) < 0 {
      // The lowest free number is given, which is `file`, as those below it are taken.
      _ = unsafe open("/dev/null", mode)
    }
  }

  private static func run(_ arguments: [ByteString]) -> Int32 {
    do throws(UsageError) {
      guard let first = arguments.first else { throw UsageError("no command given") }
      let rest = arguments.dropFirst()
      let asksForHelp = rest.prefix { $0 != "--" }.contains { ["--help", "-h"].contains($0) }
      switch first {
      case "--help", "-h", "help":
        Console.print(
          try rest.first.map { name throws(UsageError) in try command(name).manual.text } ?? overview,
          to: 1,
        )
        return ExitCode.success
      case "--version":
        Console.print("vitrine \(version)\n", to: 1)
        return ExitCode.success
      default:
        let command = try command(first)
        guard !asksForHelp else {
          Console.print(command.manual.text, to: 1)
          return ExitCode.success
        }
        return try command.init(try Arguments(rest, options: command.manual.options)).run()
      }
    } catch {
      let hint = error.exitCode == ExitCode.usage ? "Try 'vitrine --help'.\n" : ""
      Console.print("vitrine: \(error.message.withoutControls)\n\(hint)", to: 2)
      return error.exitCode
    }
  }

  private static func command(_ name: ByteString) throws(UsageError) -> any Command.Type {
    guard let command = commands.first(where: { $0.manual.name == name.text }) else {
      throw UsageError("there is no command '\(name.readable)'")
    }
    return command
  }

  private static var overview: String {
    let calls = commands.map { command in
      let call = "  vitrine \(command.manual.name) \(command.manual.synopsis)"
      return "\(call)\n      \(command.manual.summary)\n"
    }
    return """
      Loads, shows and shrinks images.

      \(calls.joined())
      SOURCE is a file, - for standard input, or a URL of http or https. Behind -- nothing is an option. Nothing is enlarged.
      \(Manual.formats)

      'vitrine thumbnail --help' lists the options of a command. All take --json: one JSON object a line, all with the same keys.
      \(Manual.exitStatus)

      """
  }
}
