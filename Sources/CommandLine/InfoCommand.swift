import VitrineImaging
import VitrineRuntime

/// `vitrine info`: what the headers say.
struct InfoCommand {
  private let sources: [String]
  private let isJSON: Bool

  init(_ arguments: some Sequence<String>) throws(UsageError) {
    let parsed = try Arguments(arguments, valued: [], flags: ["--json"])
    guard !parsed.sources.isEmpty else { throw UsageError("info needs at least one source") }
    sources = parsed.sources
    isJSON = parsed.has("--json")
  }

  func run() -> Int32 {
    let different = Source.different(among: sources)
    let console = Console(total: different.count)
    let reader = SourceReader(different, connections: Batch.standardConnections)
    let failures = Batch.run(sources, width: Batch.standardWidth(for: different), console: console) { source in
      Self.report(on: source, reader)
    } finish: { _, report in
      report
    } report: { argument, result, _ in
      switch result {
      case .success(let report):
        console.out(isJSON ? report.json(argument) : report.text(argument))
        return true
      case .failure(let failure):
        console.report(failure, argument, isJSON: isJSON)
        return false
      }
    }
    return failures == 0 ? ExitCode.success : ExitCode.failure
  }

  private static func report(on source: Source, _ reader: SourceReader) -> Result<Report, Failure> {
    do throws(Failure) {
      let data = try reader.read(source)
      do throws(ImageError) {
        return .success(Report(info: try DecoderRegistry.standard.info(of: data), bytes: data.count))
      } catch {
        throw Failure(error)
      }
    } catch {
      return .failure(error)
    }
  }

  private struct Report {
    let info: ImageInfo
    let bytes: Int

    func json(_ source: String) -> String {
      var json = JSONLine()
      json.add("source", source)
      json.add("format", info.format.name)
      json.add("width", info.width)
      json.add("height", info.height)
      json.add("orientation", info.orientation.rawValue)
      json.add("frames", info.frameCount)
      json.add("hasAlpha", info.hasAlpha)
      json.add("colorProfile", info.colorProfile?.name)
      json.add("bitsPerComponent", info.bitsPerComponent)
      json.add("bytes", bytes)
      json.add("duration", info.duration)
      return json.line
    }

    func text(_ source: String) -> String {
      var parts = ["\(info.format) \(info.width)x\(info.height)"]
      if info.orientation != .up {
        parts.append("stored \(info.storedWidth)x\(info.storedHeight) with orientation \(info.orientation.rawValue)")
      }
      if info.frameCount > 1 {
        let seconds = (info.duration * 100).rounded() / 100
        parts.append("\(info.frameCount) frames in \(seconds) s")
      }
      parts.append("\(info.bitsPerComponent) bits\(info.hasAlpha ? " with alpha" : "")")
      if let name = info.colorProfile?.name { parts.append(name) }
      parts.append("\(bytes) bytes")
      return "\(source): " + parts.joined(separator: ", ")
    }
  }
}

extension Failure {
  func json(_ source: String) -> String {
    var json = JSONLine()
    json.add("source", source)
    json.add("error", reason)
    json.add("stage", stage.rawValue)
    return json.line
  }
}
