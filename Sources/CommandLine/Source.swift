import Vitrine
import VitrineRuntime

/// Where an image comes from, as named on the command line.
enum Source: Hashable {
  case file(String)
  case standardInput
  case url(String)

  init(_ argument: String) {
    let lower = argument.lowercased()
    if argument == "-" {
      self = .standardInput
    } else if lower.hasPrefix("http://") || lower.hasPrefix("https://") {
      self = .url(argument)
    } else {
      self = .file(argument)
    }
  }

  /// The sources that arguments name, each once, in order.
  static func different(among arguments: [String]) -> [Source] {
    var seen: Set<Source> = []
    return arguments.map(Source.init).filter { seen.insert($0).inserted }
  }

  var isURL: Bool {
    if case .url = self { true } else { false }
  }

  /// The last component of its path without the extension; `image` where there is none.
  var stem: String {
    switch self {
    case .standardInput: "image"
    case .file(let path): Self.stem(of: path.split(separator: "/").last ?? "")
    case .url(let address): Self.safeName(Self.stem(of: Self.lastComponent(of: address)))
    }
  }

  private static func stem(of name: some StringProtocol) -> String {
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex else {
      return name.isEmpty ? "image" : String(name)
    }
    return String(name[..<dot])
  }

  /// The last component of a URL's path, decoded; empty where there is none.
  private static func lastComponent(of address: String) -> String {
    let path = address.prefix { $0 != "?" && $0 != "#" }
    // Before the path are the scheme, an empty component and the host.
    let components = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst(3)
    guard let component = components.last(where: { !$0.isEmpty }) else { return "" }
    // What is encoded and no text stays as it is.
    return decoded(component) ?? String(component)
  }

  /// Without percent-encoding, which FoundationEssentials cannot take off; `nil` where that makes no text.
  private static func decoded(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      let digits = Substring(rest.prefix(2))
      if byte == UInt8(ascii: "%"), digits.count == 2, digits.allSatisfy(\.isHexDigit) {
        bytes.append(UInt8(digits, radix: 16) ?? byte)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(validating: bytes, as: UTF8.self)
  }

  /// A name of whoever wrote the URL, made harmless: in no other folder, not hidden, and of a length that file systems take.
  private static func safeName(_ name: String) -> String {
    var safe = ""
    for scalar in name.unicodeScalars {
      let isBad = scalar.value < 0x20 || scalar.value == 0x7F || scalar == "/" || scalar == "\\"
      let next = isBad ? "_" : Character(scalar)
      guard safe.utf8.count + next.utf8.count <= 200 else { break }
      safe.unicodeScalars.append(contentsOf: next.unicodeScalars)
    }
    return safe.hasPrefix(".") ? "_" + safe.dropFirst() : safe
  }
}

/// Reads whole sources: files, standard input, and addresses, of which it keeps nothing.
struct SourceReader: Sendable {
  /// There is none where no source is an address, as making one takes a millisecond.
  private let pipeline: ImagePipeline?

  /// `connections` is how many loads run at once from one host.
  init(_ sources: [Source], connections: Int) {
    guard sources.contains(where: \.isURL) else {
      pipeline = nil
      return
    }
    pipeline = ImagePipeline {
      $0.memoryCache = nil
      $0.loader = PlatformDefaults.loader(connectionsPerHost: connections)
    }
  }

  /// All bytes of a source.
  ///
  /// Blocks.
  func read(_ source: Source) throws(Failure) -> Data {
    do throws(FileError) {
      switch source {
      case .standardInput: return try FileContents.of(0)
      case .file(let path): return try FileContents.at(path)
      case .url: break
      }
    } catch {
      throw Failure(stage: .fetch, error.description)
    }
    return try load(source) { (pipeline, address) throws(LoadError) in
      try await pipeline.data(for: ImageRequest(url: address))
    }
  }

  /// The image of a source.
  ///
  /// Blocks. Of an address no more is fetched than that takes.
  func image(of source: Source, _ options: DecodeOptions) throws(Failure) -> Bitmap {
    guard !source.isURL else {
      return try load(source) { (pipeline, address) throws(LoadError) in
        var request = ImageRequest(url: address, size: options.size)
        (request.quality, request.frame) = (options.quality, options.frame)
        return try await pipeline.image(for: request)
      }
    }
    let data = try read(source)
    do throws(ImageError) {
      return try DecoderRegistry.standard.decode(data, options).bitmap
    } catch {
      throw Failure(error)
    }
  }

  private func load<Value: Sendable>(
    _ source: Source,
    _ body: @escaping @Sendable (ImagePipeline, String) async throws(LoadError) -> Value,
  ) throws(Failure) -> Value {
    guard case .url(let address) = source, let pipeline else { throw Failure(stage: .request, "not an address") }
    let result: Result<Value, Failure> = blocking {
      do throws(LoadError) {
        return .success(try await body(pipeline, address))
      } catch {
        return .failure(Failure(error))
      }
    }
    return try result.get()
  }
}
