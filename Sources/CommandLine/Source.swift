import VitrineHTTP
import VitrineRuntime

/// A source of an image, as named on the command line.
enum Source: Hashable {
  case file(ByteString)
  case standardInput
  case url(ByteString)

  init(_ argument: ByteString) {
    let start = ByteString(bytes: argument.bytes.prefix(8)).readable.lowercased()
    if argument == "-" {
      self = .standardInput
    } else if ["http://", "https://", "s3://"].contains(where: { start.hasPrefix($0) }) {
      self = .url(argument)
    } else {
      self = .file(start.hasPrefix("file:/") ? Self.path(ofURL: argument) ?? argument : argument)
    }
  }

  /// Returns the distinct sources of the arguments, in order.
  static func different(among arguments: [ByteString]) -> [Source] { numbered(arguments).sources }

  /// Returns the distinct sources of the arguments, in order, and the place of each argument's among them.
  static func numbered(_ arguments: [ByteString]) -> (sources: [Source], places: [Int]) {
    guard arguments.count > 1 else { return (arguments.map(Source.init), Array(arguments.indices)) }
    var sources: [Source] = []
    var known: [Source: Int] = [:]
    let places = arguments.map { argument in
      let source = Source(argument)
      if let place = known[source] { return place }
      known[source] = sources.count
      sources.append(source)
      return sources.count - 1
    }
    return (sources, places)
  }

  var isURL: Bool {
    if case .url = self { true } else { false }
  }

  /// The object that the source names, as `s3://bucket/key`; `nil` for every other source.
  var object: ObjectURL? {
    guard case .url(let url) = self else { return nil }
    return url.text.flatMap { ObjectURL($0) }
  }

  /// The last component of the path without its extension, or `image` if there is none.
  var stem: ByteString {
    switch self {
    case .standardInput: "image"
    case .file: Self.stem(of: lastComponent)
    case .url: Self.safeName(Self.stem(of: lastComponent))
    }
  }

  /// The extension of the last component of the path, in lower case; empty if there is none.
  var fileExtension: String {
    let rest = lastComponent.bytes.dropFirst(Self.stem(of: lastComponent).bytes.count + 1)
    return String(decoding: rest, as: UTF8.self).lowercased()
  }

  private var lastComponent: ByteString {
    switch self {
    case .standardInput: ""
    case .file(let path): path.lastComponent
    case .url(let url): object.map { ByteString($0.key).lastComponent } ?? Self.lastComponent(of: url)
    }
  }

  /// Returns the path of a file URL of this machine (RFC 8089); `nil` for one of another.
  private static func path(ofURL url: ByteString) -> ByteString? {
    var path = url.bytes.dropFirst("file:".utf8.count)
    if path.starts(with: "//".utf8) {
      let host = path.dropFirst(2).prefix { $0 != UInt8(ascii: "/") }
      guard host.isEmpty || String(decoding: host, as: UTF8.self).lowercased() == "localhost" else { return nil }
      path = path.dropFirst(2 + host.count)
    }
    return decoded(path.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })
  }

  private static func stem(of name: ByteString) -> ByteString {
    guard let dot = name.bytes.lastIndex(of: UInt8(ascii: ".")), dot != 0 else { return name.isEmpty ? "image" : name }
    return ByteString(bytes: name.bytes[..<dot])
  }

  /// Returns the decoded last component of a URL's path, or an empty string if there is none.
  private static func lastComponent(of url: ByteString) -> ByteString {
    let path = url.bytes.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    // The components before the path are the scheme, an empty one and the host.
    let components = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst(3)
    guard let component = components.last(where: { !$0.isEmpty }) else { return "" }
    let decoded = decoded(component)
    // A component that does not decode to text stays encoded.
    return decoded.text == nil ? ByteString(bytes: component) : decoded
  }

  /// Decodes percent-encoding, which FoundationEssentials cannot do.
  static func decoded(_ text: ArraySlice<UInt8>) -> ByteString {
    var bytes: [UInt8] = []
    var rest = text
    while let byte = rest.popFirst() {
      let digits = String(decoding: rest.prefix(2), as: UTF8.self)
      if byte == UInt8(ascii: "%"), digits.utf8.count == 2, digits.allSatisfy(\.isHexDigit) {
        bytes.append(UInt8(digits, radix: 16) ?? byte)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return ByteString(bytes: bytes)
  }

  /// Returns a safe version of a name from a URL.
  ///
  /// It leads to no other folder, is not hidden, is no option of other programs, has no characters that control a
  /// terminal or the order of text, and fits the limits of file systems.
  private static func safeName(_ name: ByteString) -> ByteString {
    var safe = ""
    for scalar in name.readable.unicodeScalars {
      let isBad = scalar.isControl || scalar == "/" || scalar == "\\"
      let next = isBad ? "_" : Character(scalar)
      guard safe.utf8.count + next.utf8.count <= 200 else { break }
      safe.unicodeScalars.append(contentsOf: next.unicodeScalars)
    }
    return ByteString(safe.hasPrefix(".") || safe.hasPrefix("-") ? "_" + safe.dropFirst() : safe)
  }
}

extension ByteString {
  /// The open descriptor that a path names: `/dev/stdin`, `/dev/fd/63`.
  ///
  /// A shell's `<(command)` is such a path. Its pipe is open already, so nothing can be waited for but its bytes.
  var descriptor: Int32? {
    let name = readable
    if name == "/dev/stdin" { return 0 }
    for folder in ["/dev/fd/", "/proc/self/fd/"] where name.hasPrefix(folder) {
      if let number = Int32(name.dropFirst(folder.count)), number >= 0 { return number }
    }
    return nil
  }
}

extension FileContents {
  /// Reads a file, or what an open descriptor leads to if the path names one.
  static func named(_ path: ByteString) throws(FileError) -> Data {
    guard let descriptor = path.descriptor else { return try at(path) }
    return try of(descriptor)
  }
}
