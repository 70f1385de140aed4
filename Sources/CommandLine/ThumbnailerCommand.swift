import VitrineImaging
import VitrineRuntime

/// `vitrine thumbnailer`: makes one thumbnail for a desktop, as `share/thumbnailers/vitrine.thumbnailer` calls it.
///
/// Desktops run it on every file of a folder that somebody opens, so nobody has vouched for any of them. External formats
/// are decoded in a sandbox. The others are decoded here: a process of the sandbox takes four times as long to start as
/// this one, which shows in a folder of a thousand photographs. Their decoders are Swift and the libraries that every
/// desktop already trusts with them, and are fuzzed. This process holds one file, and ends.
struct ThumbnailerCommand: Command {
  static let manual = Manual(
    name: "thumbnailer",
    synopsis: "FILE OUT",
    summary: "Makes the thumbnail of one file for a desktop, as PNG, by the specification of freedesktop.org.",
    notes: [
      "FILE is a path or a local file: URI. OUT is written whole or not at all; if it exists, it keeps its identity.",
      "Of a damaged file it shows the decoded part, with a mark in the lower right corner.",
      "A file that cannot be read, or is too expensive, ends with status 1, one line on standard error and no output.",
    ],
    options: [.thumbnailSize, .thumbnailTimeLimit],
    examples: [Page.Term("vitrine thumbnailer --size 256 photo.avif /tmp/photo.png", "does what a file manager does")],
  )

  private let source: ByteString
  private let path: ByteString
  private let output: ByteString
  private let options: DecodeOptions

  /// The maximum time to decode without `--time-limit`: nobody waits longer for a thumbnail.
  private static let standardTimeLimit = 10

  init(_ parsed: Arguments) throws(UsageError) {
    guard parsed.sources.count == 2, !parsed.sources.contains("") else {
      throw UsageError("thumbnailer needs one file and one output")
    }
    (source, output) = (parsed.sources[0], parsed.sources[1])
    do throws(LocalFile.Problem) {
      path = try LocalFile.path(of: source)
    } catch {
      throw UsageError("\(source.readable): \(error.reason)", exitCode: ExitCode.failure)
    }
    let side = Double(try parsed.number(.thumbnailSize) ?? 256)
    var options = DecodeOptions(size: .pixels(side, side, .fit))
    // A folder has hundreds of files, and this is still closer to the photograph than what file managers show otherwise.
    options.quality = .fast
    options.acceptsPartial = true
    let seconds = try parsed.number(.thumbnailTimeLimit) ?? Self.standardTimeLimit
    options.limits.timeLimit = .seconds(seconds)
    self.options = options
  }

  func run() -> Int32 {
    limitProcessorTime()
    do throws(Failure) {
      try write(try makeThumbnail())
      return ExitCode.success
    } catch {
      Console.print("vitrine: \(source.readable): \(error.reason)".withoutControls + "\n", to: 2)
      return ExitCode.failure
    }
  }

  /// Lets the system end the process if it computes three times as long as it may, wherever it then is.
  private func limitProcessorTime() {
    let seconds = rlim_t(3 * (options.limits.timeLimit ?? .zero).seconds)
    var limit = rlimit()
    // `limit` outlives the calls.
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_CPU.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = min(limit.rlim_cur, seconds)
    _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CPU.rawValue), &limit)
  }

  private func makeThumbnail() throws(Failure) -> Data {
    let content: SourceContent
    do throws(FileError) {
      content = try SourceContent(ImageBytes(ofFileAt: path))
    } catch {
      throw Failure(stage: .fetch, error.description)
    }
    var image = try content.image(options)
    do throws(ImageError) {
      if image.damage != nil { image = try DamageMark.drawn(on: image) }
      return try EncoderRegistry.standard.encode(image.bitmap, as: .png())
    } catch {
      throw Failure(error)
    }
  }

  private func write(_ thumbnail: Data) throws(Failure) {
    do throws(FileError) {
      try Signals.whileUninterrupted { () throws(FileError) in
        // Callers create the file and some read from the descriptor that they got, which a rename would leave empty.
        if output.status()?.kind == S_IFREG {
          try AtomicFile.refill(output, with: thumbnail)
        } else {
          try AtomicFile.replace(output, with: thumbnail)
        }
      }
    } catch {
      throw Failure(stage: .write, "cannot write '\(output.readable)': \(error)")
    }
  }
}

extension Option {
  static let thumbnailSize = Option(
    "--size",
    "N",
    .number(1...4096),
    "the longest side in pixels, from 1 to 4096; 256 by default",
  )
  static let thumbnailTimeLimit = Option(
    "--time-limit",
    "SECONDS",
    .number(1...3600),
    "the maximum time to decode the file, from 1 to 3600; 10 by default",
  )
}

/// The name of a file on this machine: a path, or a `file:` URI (RFC 8089).
enum LocalFile {
  /// The reason why a name is no local file's.
  struct Problem: Error {
    let reason: String
  }

  /// Reads a name.
  ///
  /// - Parameter name: A path in any encoding, or a URI. What does not begin like a URI is a path.
  /// - Returns: The path.
  /// - Throws: ``Problem``, if it is the URI of something else.
  static func path(of name: ByteString) throws(Problem) -> ByteString {
    guard let colon = name.bytes.firstIndex(of: UInt8(ascii: ":")) else { return name }
    let scheme = String(decoding: name.bytes[..<colon], as: UTF8.self).lowercased()
    let rest = name.bytes[(colon + 1)...]
    let isScheme = scheme.first?.isLetter == true && scheme.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
    let slashes = rest.prefix { $0 == UInt8(ascii: "/") }.count
    guard isScheme, scheme == "file" && slashes > 0 || slashes > 1 else { return name }
    guard scheme == "file" else { throw Problem(reason: "only local files have thumbnails, not \(scheme) URIs") }
    var encoded = rest
    if slashes >= 2 {
      let host = rest.dropFirst(2).prefix { $0 != UInt8(ascii: "/") }
      guard ["", "localhost"].contains(String(decoding: host, as: UTF8.self).lowercased()) else {
        throw Problem(reason: "the URI names a file of another machine")
      }
      encoded = rest.dropFirst(2 + host.count)
    }
    let path = Source.decoded(encoded.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })
    guard path.bytes.first == UInt8(ascii: "/"), !path.bytes.contains(0) else {
      throw Problem(reason: "the URI has no path of a file")
    }
    return path
  }
}
