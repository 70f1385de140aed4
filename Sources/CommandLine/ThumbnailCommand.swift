import VitrineImaging
import VitrineRuntime

/// `vitrine thumbnail`: images in, smaller images out.
struct ThumbnailCommand {
  private let arguments: [String]
  private let sources: [Source]
  private let options: DecodeOptions
  private let quality: Int
  private let jobs: Int
  private let isJSON: Bool
  private let plan: OutputPlan

  init(_ arguments: some Sequence<String>) throws(UsageError) {
    let parsed = try Arguments(
      arguments,
      valued: ["-o", "--size", "--mode", "--quality-mode", "--format", "--quality", "--frame", "--jobs"],
      flags: ["--json"],
    )
    guard !parsed.sources.isEmpty else { throw UsageError("thumbnail needs at least one file") }
    guard let output = parsed.value("-o"), !output.isEmpty else {
      throw UsageError("thumbnail needs -o, a file or a folder")
    }
    self.arguments = parsed.sources
    var seen: Set<Source> = []
    sources = parsed.sources.map(Source.init).filter { seen.insert($0).inserted }
    var options = try DecodeOptions(size: parsed.size(parsed.choice("--mode") ?? .fit))
    options.quality = try parsed.choice("--quality-mode") ?? .balanced
    options.frame = try parsed.number("--frame", in: 0...Int.max) ?? 0
    self.options = options
    quality = try parsed.number("--quality", in: 1...100) ?? 85
    jobs = try parsed.number("--jobs", in: 1...1024) ?? max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    isJSON = parsed.has("--json")
    plan = try OutputPlan(output, format: parsed.choice("--format"), sources: sources)
  }

  func run() -> Int32 {
    let console = Console(total: sources.count)
    let start = ContinuousClock.now
    // Results come in the order of the sources; what is repeated among the arguments is reported where it stands.
    var results: [Source: Result<Written, Failure>] = [:]
    var reported = 0
    var failures = 0
    var plan = plan
    func reportKnown() {
      while reported < arguments.count, let result = results[Source(arguments[reported])] {
        failures += report(arguments[reported], result, console)
        reported += 1
      }
    }
    Batch.run(count: sources.count, width: min(jobs, sources.count)) { [self] index in
      encode(sources[index])
    } finish: { index, encoded in
      let source = sources[index]
      results[source] = Self.write(encoded, source, &plan)
      reportKnown()
      console.advance()
    }
    if console.isInteractive, arguments.count > 1 {
      let seconds = ((ContinuousClock.now - start).seconds * 10).rounded() / 10
      console.note("\(arguments.count - failures) of \(arguments.count) done in \(seconds) s")
    }
    return failures == 0 ? ExitCode.success : ExitCode.failure
  }

  /// What is done on a thread of its own: all but writing.
  private func encode(_ source: Source) -> Result<Encoded, Failure> {
    let start = ContinuousClock.now
    do throws(Failure) {
      let data = try source.load()
      do throws(ImageError) {
        let bitmap = try DecoderRegistry.standard.decode(data, options).bitmap
        let format = plan.format(for: bitmap)
        let output = try bitmap.encoded(as: format, EncodeOptions(quality: quality))
        return .success(
          Encoded(
            data: output,
            format: format,
            width: bitmap.width,
            height: bitmap.height,
            time: ContinuousClock.now - start,
          )
        )
      } catch {
        throw Failure(error)
      }
    } catch {
      return .failure(error)
    }
  }

  private static func write(
    _ encoded: Result<Encoded, Failure>,
    _ source: Source,
    _ plan: inout OutputPlan,
  ) -> Result<Written, Failure> {
    do throws(Failure) {
      let encoded = try encoded.get()
      let start = ContinuousClock.now
      let output = plan.name(for: source, encoded.format)
      try plan.write(encoded.data, to: output)
      return .success(
        Written(
          output: output,
          width: encoded.width,
          height: encoded.height,
          milliseconds: (encoded.time + (ContinuousClock.now - start)).seconds * 1000,
        )
      )
    } catch {
      return .failure(error)
    }
  }

  /// - Returns: 1 for a failure, 0 for none.
  private func report(_ source: String, _ result: Result<Written, Failure>, _ console: Console) -> Int {
    switch result {
    case .success(let written):
      if isJSON {
        var json = JSONLine()
        json.add("source", source)
        json.add("output", written.output)
        json.add("width", written.width)
        json.add("height", written.height)
        json.add("milliseconds", written.milliseconds)
        console.out(json.line)
      }
      return 0
    case .failure(let failure):
      console.error(source, failure.reason)
      if isJSON { console.out(failure.json(source)) }
      return 1
    }
  }

  private struct Encoded: Sendable {
    let data: Data
    let format: ImageFormat
    let width: Int
    let height: Int
    let time: Duration
  }

  private struct Written {
    let output: String
    let width: Int
    let height: Int
    let milliseconds: Double
  }
}

extension Duration {
  fileprivate var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1e18
  }
}
