import VitrineImaging
import VitrineRuntime

/// `vitrine thumbnail`: writes smaller copies of images.
struct ThumbnailCommand: Command {
  static let manual = Manual(
    name: "thumbnail",
    synopsis: "SOURCE... -o OUT",
    summary: "Writes smaller copies of images, upright.",
    notes: ["SOURCE is a file, - for standard input, or an http, https or s3 URL. After -- nothing is an option."],
    options: [
      .output, .qualityMode, .frame, .animated, .damaged,
    ] + OperationsChoice.options + EncodingChoice.options + [.jobs, .timeLimit, .filesFrom, .zero, .json, .quiet],
    examples: [
      Page.Term("vitrine thumbnail *.jpg --size 400x400 -o thumbs/", "makes a thumbnail of each photograph"),
      Page.Term(
        "vitrine thumbnail photo.heic --size 800 --format webp -o - > photo.webp",
        "writes to standard output",
      ),
      Page.Term(
        "vitrine thumbnail *.jpg -o cards/ --do 'crop:400:300:smart|blur:4'",
        "crops to the part that shows the most, and blurs",
      ),
      Page.Term(
        "find . -name '*.heic' -print0 | vitrine thumbnail --files-from - -0 --size 400 -o thumbs/",
        "takes names of any kind from another program",
      ),
    ],
  )

  private let arguments: [ByteString]
  private let sources: [Source]
  let options: DecodeOptions
  let cores: CoreBudget
  private let operations: OperationsChoice
  private let encoding: EncodingChoice
  private let jobs: Int
  private let isJSON: Bool
  private let isQuiet: Bool
  private let plan: OutputPlan

  init(_ parsed: Arguments) throws(UsageError) {
    guard let output = parsed.bytes(.output), !output.isEmpty else {
      throw UsageError("thumbnail needs -o with a file or a folder")
    }
    arguments = try parsed.allSources(of: "thumbnail")
    sources = Source.different(among: arguments)
    operations = try OperationsChoice(parsed)
    var options = DecodeOptions()
    options.quality = try parsed.choice(.qualityMode) ?? .balanced
    options.limits.timeLimit = try parsed.timeLimit()
    options.frame = try parsed.number(.frame) ?? 0
    options.animates = parsed.has(.animated)
    options.acceptsPartial = try parsed.choice(.damaged, DamagedImages.self) == .show
    if options.animates, options.frame > 0 { throw UsageError("--animated and --frame exclude each other") }
    jobs = try parsed.number(.jobs) ?? Batch.standardWidth(for: sources)
    // A lone image is decoded on several cores, and a batch one image a core.
    cores = CoreBudget(count: min(jobs, CoreBudget.machine.count))
    (isJSON, isQuiet) = (parsed.has(.json), parsed.has(.quiet))
    plan = try OutputPlan(output, format: parsed.format(), sources: sources, isJSON: isJSON)
    encoding = try EncodingChoice(parsed, format: plan.format)
    options.dynamicRange = encoding.dynamicRange
    self.options = options
  }

  func run() -> Int32 {
    let console = Console(total: sources.count, isQuiet: isQuiet)
    let start = ContinuousClock.now
    let work: ImageOperations.Plan
    do throws(Failure) {
      work = try operations.plan(timeLimit: options.limits.timeLimit, console)
    } catch {
      return refuse(error, console)
    }
    let reader = SourceReader(sources, connections: jobs, timeLimit: options.limits.timeLimit, console)
    var plan = plan
    let failures = Batch.run(arguments, width: jobs, console: console) { source in
      encode(source, work, reader)
    } finish: { source, encoded in
      Self.write(encoded, source, &plan)
    } report: { argument, written, _ in
      report(argument, written, console)
    }
    console.summarize(count: arguments.count, failures: failures, time: ContinuousClock.now - start)
    return failures == 0 ? ExitCode.success : ExitCode.failure
  }

  /// Loads, decodes and encodes one source on a thread of its own, without writing it.
  private func encode(
    _ source: Source,
    _ work: ImageOperations.Plan,
    _ reader: SourceReader,
  ) -> Result<Encoded, Failure> {
    let start = ContinuousClock.now
    do throws(Failure) {
      var options = options
      options.size = work.size
      let image = try reader.image(
        of: source,
        options,
        DecodeJob(cores: cores),
        work.processors,
        readsMetadata: encoding.metadata != .strip,
      )
      do throws(ImageError) {
        let output = try encoding.encode(image)
        return .success(
          Encoded(
            data: output.data,
            format: output.format,
            width: image.bitmap.width,
            height: image.bitmap.height,
            // The frames of an animation are decoded while they are encoded.
            damage: (image.damage ?? image.animation?.damage)?.detail,
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
          damage: encoded.damage,
          milliseconds: (encoded.time + (ContinuousClock.now - start)).seconds * 1000,
        )
      )
    } catch {
      return .failure(error)
    }
  }

  /// - Returns: A Boolean value that indicates whether the source succeeded.
  private func report(_ source: ByteString, _ result: Result<Written, Failure>, _ console: Console) -> Bool {
    let (written, failure) = result.parts
    if let failure { console.error(source, failure.reason) }
    if let damage = written?.damage { console.error(source, "damaged, shown in part: \(damage)") }
    if isJSON { console.out(Self.json(source, written, failure)) }
    return failure == nil
  }

  /// Reports that nothing can be done to any source.
  private func refuse(_ failure: Failure, _ console: Console) -> Int32 {
    console.note("vitrine: \(failure.reason)")
    if isJSON { for argument in arguments { console.out(Self.json(argument, nil, failure)) } }
    return ExitCode.failure
  }

  private static func json(_ source: ByteString, _ written: Written?, _ failure: Failure?) -> String {
    var json = JSONLine()
    json.add("source", source)
    json.add("output", written?.output)
    json.add("width", written?.width)
    json.add("height", written?.height)
    json.add("milliseconds", written?.milliseconds)
    json.add("damage", written?.damage)
    json.add(failure)
    return json.line
  }

  private struct Encoded: Sendable {
    let data: Data
    let format: ImageFormat
    let width: Int
    let height: Int
    /// The reason why a part of the image is missing; `nil` for a whole image.
    let damage: String?
    let time: Duration
  }

  private struct Written {
    let output: ByteString
    let width: Int
    let height: Int
    let damage: String?
    let milliseconds: Double
  }
}
