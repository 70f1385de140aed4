import VitrineImaging
import VitrineRuntime

/// The destinations and formats of the outputs.
struct OutputPlan {
  private let path: ByteString
  private let isFolder: Bool
  private let isStandardOutput: Bool
  /// The format that `--format` or the extension names.
  let format: ImageFormat?
  private var given: Set<ByteString> = []
  /// The last number appended to each name, since thousands of URLs may share a name.
  private var numbers: [ByteString: Int] = [:]
  private let inputs: Set<FileIdentity>

  /// Creates a plan from the value of `-o` and the distinct sources.
  ///
  /// Set `isEncoding` to `false` if original bytes are written, which may have any name.
  init(
    _ path: ByteString,
    format: ImageFormat?,
    isEncoding: Bool = true,
    sources: [Source],
    isJSON: Bool,
  ) throws(UsageError) {
    self.path = path
    isStandardOutput = path == "-"
    isFolder = !isStandardOutput && (path.ends(with: "/") || sources.count > 1 || path.status()?.kind == S_IFDIR)
    if isStandardOutput { try Self.checkStandardOutput(sources, isJSON: isJSON) }
    if isEncoding, format == nil, !isFolder, path.lastComponent.bytes.contains(UInt8(ascii: ".")) {
      guard let named = ImageFormat(ofOutput: path) else {
        throw UsageError(
          "-o: the extension of '\(path.readable)' is no format that can be written (\(ImageFormat.writtenNames)); use --format"
        )
      }
      self.format = named
    } else {
      self.format = format
    }
    inputs = Set(
      sources.flatMap { source -> [FileIdentity] in
        guard case .file(let path) = source else { return [] }
        // A link given as a source counts as one, like the file behind it.
        return [FileIdentity(path), FileIdentity(path, followingLinks: false)].compactMap { $0 }
      }
    )
  }

  private static func checkStandardOutput(_ sources: [Source], isJSON: Bool) throws(UsageError) {
    guard !isJSON else { throw UsageError("-o - and --json both write to standard output; give -o a file") }
    guard sources.count == 1 else {
      let count = sources.isEmpty ? "--files-from lists none" : "there are \(sources.count) sources"
      throw UsageError("-o - writes one image to standard output, and \(count); give -o a folder")
    }
    guard isatty(1) == 0 else {
      throw UsageError("-o - would write an image to the terminal; redirect standard output, or give -o a file")
    }
  }

  /// Returns the name of a source's output.
  ///
  /// In a folder, no name is returned twice in a run.
  mutating func name(for source: Source, _ format: ImageFormat) -> ByteString {
    guard isFolder else { return path }
    let (stem, own) = (source.stem, source.fileExtension)
    // A file that is stored as it came keeps its extension, such as a camera maker's.
    let isKept = !ImageFormat.written.contains(format) && format.fileExtensions.contains(own)
    let ending = isKept ? own : format.fileExtension
    let first = Self.name(stem, ".\(ending)")
    var name = first
    while !given.insert(name).inserted {
      let number = numbers[first, default: 1] + 1
      numbers[first] = number
      name = Self.name(stem, "-\(number).\(ending)")
    }
    return path.ends(with: "/") ? path + name : path + "/" + name
  }

  /// Returns a name that fits the limit of file systems: the end of the stem is left out where it does not.
  private static func name(_ stem: ByteString, _ ending: String) -> ByteString {
    var bytes = stem.bytes.prefix(255 - ending.utf8.count)
    // Not within a character of UTF-8.
    if bytes.count < stem.bytes.count {
      while !bytes.isEmpty, stem.bytes[bytes.count] & 0xC0 == 0x80 { bytes.removeLast() }
    }
    return ByteString(bytes: bytes) + ByteString(ending)
  }

  func write(_ data: Data, to output: ByteString) throws(Failure) {
    guard !isStandardOutput else { return try print(data) }
    // The tool chooses the names in a folder, and must not overwrite an original.
    if isFolder, let identity = FileIdentity(output, followingLinks: false), inputs.contains(identity) {
      throw Failure(
        stage: .write,
        "'\(output.readable)' is one of the sources and is not replaced; use another folder",
      )
    }
    do throws(FileError) {
      try AtomicFile.makeParents(of: output)
      // The reader of a pipe may make it wait forever, and a signal must be able to end that.
      guard isFolder || !AtomicFile.isSpecial(output) else { return try AtomicFile.replace(output, with: data) }
      try Signals.whileUninterrupted { () throws(FileError) in
        try AtomicFile.replace(output, with: data, replacingLinks: isFolder)
      }
    } catch {
      throw Failure(stage: .write, "cannot write '\(output.readable)': \(error)")
    }
  }

  private func print(_ data: Data) throws(Failure) {
    do throws(FileError) {
      try AtomicFile.fill(1, with: data)
    } catch {
      // A reader that has closed the pipe gets no error message, as with other programs.
      if error.code == EPIPE { Signals.end(with: SIGPIPE) }
      throw Failure(stage: .write, "cannot write to standard output: \(error.ofStandardFile)")
    }
  }
}

extension ImageFormat {
  /// The names of the formats that can be written, for messages.
  static var writtenNames: String { written.map(\.name).joined(separator: ", ") }

  /// Returns the format that can be written with a name or an extension.
  init?(written name: String) {
    guard let found = Self.written.first(where: { $0.isNamed(name) }) else { return nil }
    self = found
  }

  fileprivate init?(ofOutput path: ByteString) {
    let name = path.lastComponent.bytes
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")) else { return nil }
    self.init(written: String(decoding: name[(dot + 1)...], as: UTF8.self).lowercased())
  }
}

/// The identity of a file, under any name.
private struct FileIdentity: Hashable {
  let device: UInt64
  let number: UInt64

  init?(_ path: ByteString, followingLinks: Bool = true) {
    guard let info = path.status(followingLinks: followingLinks) else { return nil }
    (device, number) = (UInt64(info.st_dev), UInt64(info.st_ino))
  }
}
