import VitrineImaging
import VitrineRuntime

/// `vitrine info`: shows the contents of image headers.
struct InfoCommand: Command {
  static let manual = Manual(
    name: "info",
    synopsis: "SOURCE...",
    summary: "Shows format, size, orientation, frames and color profile of images, from their headers.",
    notes: ["SOURCE is a file, - for standard input, or an http, https or s3 URL. After -- nothing is an option."],
    options: [.colors, .hashes, .filesFrom, .zero, .json, .quiet],
    examples: [
      Page.Term("vitrine info photo.jpg --json", "prints the facts for a script"),
      Page.Term("vitrine info *.jpg --colors --hashes", "adds what a page shows while the images load"),
    ],
  )

  private let sources: [ByteString]
  private let isJSON: Bool
  private let isQuiet: Bool
  private let looks: Looks

  init(_ arguments: Arguments) throws(UsageError) {
    sources = try arguments.allSources(of: "info")
    isJSON = arguments.has(.json)
    isQuiet = arguments.has(.quiet)
    looks = Looks(hasColors: arguments.has(.colors), hasHashes: arguments.has(.hashes))
  }

  func run() -> Int32 {
    let different = Source.different(among: sources)
    let console = Console(total: different.count, isQuiet: isQuiet)
    let reader = SourceReader(different, connections: Batch.standardConnections, console)
    let failures = Batch.run(sources, width: Batch.standardWidth(for: different), console: console) { source in
      Self.report(on: source, reader, looks)
    } finish: { _, report in
      report
    } report: { argument, result, _ in
      let (report, failure) = result.parts
      if let failure { console.error(argument, failure.reason) }
      if isJSON {
        console.out(Self.json(argument, report, failure, looks))
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
    _ looks: Looks,
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
          bytes: content.bytes.byteCount,
          seen: looks.needsPixels ? try Seen(content, limits, looks) : nil,
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
    _ looks: Looks,
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
    if looks.hasColors {
      let colors = report?.seen?.colors
      json.add("averageColor", colors?.average?.description)
      json.add("dominantColor", colors?.dominant?.description)
      json.add("palette", colors?.palette.map { Self.json($0) })
    }
    if looks.hasHashes {
      json.add("thumbHash", report?.seen?.thumbHash?.base64)
      json.add("blurHash", report?.seen?.blurHash?.string)
    }
    json.add(failure)
    return json.line
  }

  private static func json(_ share: ImageColors.Share) -> JSONLine {
    var json = JSONLine()
    json.add("color", share.color.description)
    json.add("share", share.share)
    return json
  }

  /// The facts to be found in the pixels.
  private struct Looks {
    let hasColors: Bool
    let hasHashes: Bool

    var needsPixels: Bool { hasColors || hasHashes }
  }

  /// The facts of an image, or of the first frame of an animation, that were found in its pixels.
  private struct Seen {
    let colors: ImageColors?
    let thumbHash: ThumbHash?
    let blurHash: BlurHash?

    init(_ content: SourceContent, _ limits: DecodeLimits, _ looks: Looks) throws(Failure) {
      // As many pixels as a hash looks at.
      var options = DecodeOptions(size: .pixels(100))
      options.limits = limits
      let bitmap = try content.image(options).bitmap
      thumbHash = looks.hasHashes ? ThumbHash(bitmap) : nil
      do throws(ImageError) {
        blurHash = looks.hasHashes ? try BlurHash(bitmap) : nil
        colors = looks.hasColors ? try ImageColors(bitmap) : nil
      } catch {
        throw Failure(error)
      }
    }
  }

  private struct Report {
    let info: ImageInfo
    let gainMapHeadroom: Double?
    let bytes: Int
    let seen: Seen?

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
      if let colors = seen?.colors {
        let shares = colors.palette.map { "\($0.color) \(Int(($0.share * 100).rounded())) %" }
        let average = colors.average.map { "average color \($0), palette \(shares.joined(separator: ", "))" }
        parts.append(average ?? "no visible color")
      }
      if let thumbHash = seen?.thumbHash, let blurHash = seen?.blurHash {
        parts.append("ThumbHash \(thumbHash), BlurHash \(blurHash)")
      }
      return "\(source): " + parts.joined(separator: ", ")
    }
  }
}
