import VitrineRuntime

/// The command line tool.
@main
enum Vitrine {
  static let version = "0.1.0"

  static func main() {
    Signals.install()
    exit(run(Array(CommandLine.arguments.dropFirst())))
  }

  private static func run(_ arguments: [String]) -> Int32 {
    let rest = arguments.dropFirst()
    do throws(UsageError) {
      let asksForHelp = arguments.prefix(while: { $0 != "--" }).contains { ["--help", "-h"].contains($0) }
      if asksForHelp || arguments.first == "help" {
        Console.print(usage, to: 1)
        return ExitCode.success
      }
      switch arguments.first {
      case "info": return try InfoCommand(rest).run()
      case "thumbnail": return try ThumbnailCommand(rest).run()
      case "--version":
        Console.print("vitrine \(version)\n", to: 1)
        return ExitCode.success
      case let command?: throw UsageError("there is no command '\(command)'")
      case nil: throw UsageError("no command given")
      }
    } catch {
      Console.print("vitrine: \(error.message)\nTry 'vitrine --help'.\n", to: 2)
      return ExitCode.usage
    }
  }

  private static let usage = """
    Shows and shrinks images.

    vitrine info      SOURCE...         what their headers say
    vitrine thumbnail SOURCE... -o OUT  smaller copies of them, upright

    SOURCE is a file, or - for standard input. Formats are told from the bytes: JPEG, PNG, WebP, GIF.

    Both:
      --json               one JSON object a line, in the order of the arguments

    thumbnail:
      -o OUT               a folder if it is one, ends in /, or there are several sources; else a file
      --size WxH           the box in pixels; 400 is 400x400, 400x and x400 bound one side; full size without it
      --mode MODE          fit (default): inside the box; fill: covers it, cropped; exact: stretched
      --quality-mode MODE  fast, balanced (default) or best
      --format FORMAT      png, jpeg or webp; else by OUT's extension; else png where something is transparent,
                           jpeg where nothing is
      --quality Q          1 to 100, for jpeg and webp; 85 by default
      --frame N            which frame of an animation, from 0
      --jobs N             how many images at once; as many as there are cores by default

    Nothing is enlarged. Exit status: 0 all done, 1 some failed, 64 the command line was not understood.

    """
}
