import CVitrineGTK
import Vitrine
import VitrineGTK
import VitrineRuntime
import VitrineSandbox

/// Measures widgets of VitrineGTK in a window.
@main
@MainActor
enum BenchGTK {
  static func main() {
    do throws(Mistake) {
      let options = try Options(CommandLine.arguments.dropFirst())
      if options.subject == .serve { try PictureServer.serve(options) }
      // As the gallery does.
      vitrine_gtk_limit_heaps(2)
      // No identifier: each measurement is a process of its own. The arguments are ours, not GTK's.
      exit(Application(arguments: []).run { measure(options, $0) })
    } catch {
      fail(error)
    }
  }

  private static func measure(_ options: Options, _ application: Application) {
    let window = Window(application)
    Task {
      do throws(Mistake) {
        application.quit(status: try await run(options, window) ? 0 : 3)
      } catch {
        fail(error)
      }
    }
  }

  /// Returns `true` if all limits are held.
  private static func run(_ options: Options, _ window: Window) async throws(Mistake) -> Bool {
    switch options.subject {
    case .cells: return try await CellRun(options, window).run()
    case .animations:
      return await AnimationRun(try AnimationFiles(options.sources), window).run(screenshot: options.output)
    case .pan:
      let disk = try openDisk(options, "photographs")
      let isGood = await PanRun(options.sources, window, makePipeline(disk: disk)).run()
      await disk.close()
      return isGood
    case .serve: return true
    }
  }

  /// Opens a disk cache of its own for each measurement, so that none finds images of another.
  static func openDisk(_ options: Options, _ name: String) throws(Mistake) -> DiskCache {
    guard let folder = options.cacheFolder else { throw Mistake(message: "--cache-dir is missing") }
    do {
      return try DiskCache(directory: URL(filePath: folder).appending(path: name), sizeLimit: 1 << 30)
    } catch {
      throw Mistake(message: "\(error)")
    }
  }

  nonisolated static let codecs = ExternalCodecs()

  /// Makes a pipeline as the gallery has it.
  static func makePipeline(
    memory: Int = 128 << 20,
    disk: DiskCache?,
    timeLimit: Duration? = nil,
  ) -> ImagePipeline {
    ImagePipeline(.ephemeral) {
      $0.memoryCache = MemoryCache(costLimit: memory)
      $0.diskCache = disk
      $0.decoders = codecs.decoders
      $0.decodeLimits.heldPixelCount = 250_000_000
      $0.decodeLimits.memoryByteCount = 1_000_000_000
      $0.decodeLimits.timeLimit = timeLimit
    }
  }

  private static func fail(_ mistake: Mistake) -> Never {
    let line = Array("bench-gtk: \(mistake.message)\n".utf8)
    // As many bytes as there are.
    _ = unsafe write(2, line, line.count)
    exit(1)
  }
}
