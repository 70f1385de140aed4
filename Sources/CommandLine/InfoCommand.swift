import VitrineImaging
import VitrineRuntime

/// `vitrine info`: shows the contents of image headers.
struct InfoCommand: Command {
  static let manual = Manual(
    name: "info",
    synopsis: "SOURCE...",
    summary: "Shows format, size, orientation, frames and color profile of images, from their headers.",
    notes: ["SOURCE is a file, - for standard input, or an http, https or s3 URL. After -- nothing is an option."],
    options: [.hash, .filesFrom, .zero, .json, .quiet],
  )

  private let sources: [ByteString]
  private let isJSON: Bool
  private let isQuiet: Bool
  private let hashes: Bool

  init(_ arguments: Arguments) throws(UsageError) {
    sources = try arguments.allSources(of: "info")
    isJSON = arguments.has(.json)
    isQuiet = arguments.has(.quiet)
    hashes = arguments.has(.hash)
  }

  func run() -> Int32 {
    let different = Source.different(among: sources)
    let console = Console(total: different.count, isQuiet: isQuiet)
    let reader = SourceReader(different, connections: Batch.standardConnections, console)
    let failures = Batch.run(sources, width: Batch.standardWidth(for: different), console: console) { source in
      Self.report(on: source, reader, hashes: hashes)
    } finish: { _, report in
      report
    } report: { argument, result, _ in
      let (report, failure) = result.parts
      if let failure { console.error(argument, failure.reason) }
      if isJSON {
        console.out(Self.json(argument, report, failure, hashes: hashes))
      } else if let report {
        console.out(report.text(argument.readable))
      }
      return failure == nil
    }
    return failures == 0 ? ExitCode.success : ExitCode.failure
  }

  private static func report(
    on source: Source,
    _ reader: SourceReader,
    hashes: Bool,
  ) -> Result<Report, Failure> {
    do throws(Failure) {
      let content = try reader.read(source)
      var limits = DecodeLimits()
      limits.timeLimit = Arguments.standardTimeLimit
      let info = try content.info(limits)
      return .success(
        Report(
          info: info,
          gainMapHeadroom: content.gainMapHeadroom(info),
          bytes: content.byteCount,
          hashes: hashes ? try Hashes(content, limits) : nil,
        )
      )
    } catch {
      return .failure(error)
    }
  }

  private static func json(
    _ source: ByteString,
    _ report: Report?,
    _ failure: Failure?,
    hashes: Bool,
  ) -> String {
    let info = report?.info
    var json = JSONLine()
    json.add("source", source)
    json.add("format", info?.format.name)
    json.add("width", info?.width)
    json.add("height", info?.height)
    json.add("orientation", info?.orientation.rawValue)
    json.add("frames", info?.frameCount)
    json.add("hasAlpha", info?.hasAlpha)
    json.add("colorProfile", info?.colorProfile?.name)
    json.add("bitsPerComponent", info?.bitsPerComponent)
    json.add("dynamicRange", info?.dynamicRange.rawValue)
    json.add("transfer", info?.transferFunction)
    json.add("headroom", info?.headroom)
    json.add("gainMapHeadroom", report?.gainMapHeadroom)
    json.add("bytes", report?.bytes)
    json.add("duration", info?.duration)
    if hashes {
      json.add("thumbHash", report?.hashes?.thumb.base64)
      json.add("blurHash", report?.hashes?.blur.string)
    }
    json.add(failure)
    return json.line
  }

  /// The placeholders of an image.
  private struct Hashes {
    let thumb: ThumbHash
    let blur: BlurHash

    init(_ content: SourceContent, _ limits: DecodeLimits) throws(Failure) {
      // As many pixels as a hash looks at.
      var options = DecodeOptions(size: .pixels(100))
      options.limits = limits
      let bitmap = try content.image(options).bitmap
      thumb = ThumbHash(bitmap)
      do throws(ImageError) {
        blur = try BlurHash(bitmap)
      } catch {
        throw Failure(error)
      }
    }
  }

  private struct Report {
    let info: ImageInfo
    let gainMapHeadroom: Double?
    let bytes: Int
    let hashes: Hashes?

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
      if let curve = info.transferFunction { parts.append("high dynamic range (\(curve))") }
      if let gainMapHeadroom {
        parts.append("gain map up to \((gainMapHeadroom * 100).rounded() / 100) times white")
      }
      parts.append("\(bytes) bytes")
      if let hashes { parts.append("ThumbHash \(hashes.thumb), BlurHash \(hashes.blur)") }
      return "\(source): " + parts.joined(separator: ", ")
    }
  }
}
