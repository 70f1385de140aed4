import VitrineRuntime

/// The command line tool.
@main
enum CommandLineTool {
  static let version = "0.1.0"

  static func main() {
    Signals.install()
    HeavyCodecs.install()
    Signals.exit(run(Array(CommandLine.arguments.dropFirst())))
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
      case "fetch": return try FetchCommand(rest).run()
      case "cache": return try CacheCommand(rest).run()
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
    Loads, shows and shrinks images.

    vitrine info      SOURCE...         what their headers say
    vitrine thumbnail SOURCE... -o OUT  smaller copies of them, upright
    vitrine fetch     URL... [-o OUT]   what addresses have, through a cache on disk; without -o into the cache only
    vitrine cache     stats|list|verify|trim|clear  the cache: how much, what, whether it is whole; less of it, nothing

    SOURCE is a file, - for standard input, or a URL of http or https. Formats are told from the bytes: JPEG, PNG, WebP, GIF;
    and AVIF, HEIC, JPEG XL, TIFF, SVG where the program vitrine-codecs stands beside this one.

    All:
      --json               one JSON object a line, in the order of the arguments

    thumbnail and fetch:
      -o OUT               a folder if it is one, ends in /, or there are several sources; else a file
      --size WxH           the box in pixels; 400 is 400x400, 400x and x400 bound one side; full size without it
      --mode MODE          fit (default): inside the box; fill: covers it, cropped; exact: stretched
      --format FORMAT      png, jpeg or webp; else by OUT's extension; else png where something is transparent,
                           jpeg where nothing is
      --quality Q          1 to 100, for jpeg and webp; 85 by default
      --jobs N             how many images at once; as many as there are cores by default, 6 for URLs

    thumbnail:
      --quality-mode MODE  fast, balanced (default) or best
      --frame N            which frame of an animation, from 0

    fetch (without --size and --format the bytes are written as they came):
      --no-cache           without a cache
      --offline            from the cache only, however old
      --reload             from the server, whatever the cache has
      --header 'K: V'      sent with each request; may be repeated
      --trace FILE         when which stage of which request ran and waited, for ui.perfetto.dev

    fetch and cache:
      --cache-dir DIR      where the cache is; $XDG_CACHE_HOME/vitrine or ~/.cache/vitrine by default
      --size-limit BYTES   the most that it takes up, such as 64K, 500M or 2G; 300M by default

    Nothing is enlarged. Exit status: 0 all done, 1 some failed, 64 the command line was not understood.

    """
}
