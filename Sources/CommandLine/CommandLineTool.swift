import VitrineRuntime

#if !VITRINE_APPLE
import VitrineSandbox
#endif

/// The command line tool.
@main
enum CommandLineTool {
  static var commands: [any Command.Type] {
    let images: [any Command.Type] = [
      InfoCommand.self, ThumbnailCommand.self, ThumbnailerCommand.self, FetchCommand.self, ExplainCommand.self,
      CacheCommand.self,
    ]
    let texts: [any Command.Type] = [HelpCommand.self, ManCommand.self, CompletionsCommand.self]
    #if !VITRINE_APPLE
    return images + [SignCommand.self, DoctorCommand.self] + texts
    #else
    return images + texts
    #endif
  }

  static func main() {
    reserveStandardFiles()
    Signals.install()
    Signals.exit(Console.exitCode(run(arguments)))
  }

  /// The arguments behind the program's name, as bytes.
  private static var arguments: [ByteString] {
    #if !VITRINE_APPLE
    return StartedProgram.arguments
    #else
    // There are `argc` arguments, each terminated by a zero.
    return (1..<max(1, Int(CommandLine.argc))).compactMap { index in
      guard let argument = unsafe CommandLine.unsafeArgv[index] else { return nil }
      return unsafe ByteString(bytes: UnsafeRawBufferPointer(start: argument, count: strlen(argument)))
    }
    #endif
  }

  /// Opens placeholders for closed standard files, so that no other file takes their numbers and gets printed into.
  ///
  /// The placeholder for input cannot be read and that for output cannot be written, so using them is an error.
  private static func reserveStandardFiles() {
    for (file, mode) in [(Int32(0), O_WRONLY), (1, O_RDONLY), (2, O_RDWR)] where fcntl(file, F_GETFD) < 0 {
      // `open` returns the lowest free number, which is `file`, since those below it are taken.
      _ = unsafe open("/dev/null", mode)
    }
  }

  /// Throws if the process may open so few files that the system's libraries end it.
  private static func checkFileLimit() throws(UsageError) {
    var limit = rlimit()
    // `limit` outlives the calls.
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    if limit.rlim_cur < fewestFiles {
      limit.rlim_cur = min(limit.rlim_max, 1024)
      _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
    guard limit.rlim_cur < fewestFiles else { return }
    throw UsageError(
      "only \(limit.rlim_cur) files may be open at a time, and at least \(fewestFiles) are needed; see 'ulimit -n'",
      exitCode: ExitCode.failure,
    )
  }

  private static let fewestFiles: rlim_t = 32

  private static func run(_ arguments: [ByteString]) -> Int32 {
    do throws(UsageError) {
      guard let first = arguments.first else { throw UsageError("no command given") }
      let rest = arguments.dropFirst()
      let asksForHelp = rest.prefix { $0 != "--" }.contains { ["--help", "-h"].contains($0) }
      switch first {
      case "--help", "-h":
        Console.print(overview.help, to: 1)
        return ExitCode.success
      case "--version":
        Console.print("vitrine \(vitrineVersion)\n", to: 1)
        return ExitCode.success
      default:
        let command = try command(first)
        guard !asksForHelp else {
          Console.print(command.manual.page.help, to: 1)
          return ExitCode.success
        }
        let made = try command.init(try Arguments(rest, options: command.manual.options))
        try checkFileLimit()
        return made.run()
      }
    } catch {
      let hint = error.exitCode == ExitCode.usage ? "Try 'vitrine --help'.\n" : ""
      Console.print("vitrine: \(error.message.withoutControls)\n\(hint)", to: 2)
      return error.exitCode
    }
  }

  static func command(_ name: ByteString) throws(UsageError) -> any Command.Type {
    guard let command = commands.first(where: { $0.manual.name == name.text }) else {
      throw UsageError("unknown command '\(name.readable)'")
    }
    return command
  }

  /// The rows of the table of commands.
  // The compiler (6.3.1) crashes at a key path in place of the closure.
  static var manuals: [Manual] { commands.map { $0.manual } }

  /// The text about the tool.
  static var overview: Page { Manual.overview(of: manuals) }
}
