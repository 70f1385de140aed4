import VitrineRuntime

/// Where an image comes from, as named on the command line.
enum Source: Hashable {
  case file(ByteString)
  case standardInput
  case url(ByteString)

  init(_ argument: ByteString) {
    let start = ByteString(bytes: argument.bytes.prefix(8)).readable.lowercased()
    if argument == "-" {
      self = .standardInput
    } else if start.hasPrefix("http://") || start.hasPrefix("https://") {
      self = .url(argument)
    } else {
      self = .file(argument)
    }
  }

  /// The sources that arguments name, each once, in order.
  static func different(among arguments: [ByteString]) -> [Source] {
    var seen: Set<Source> = []
    return arguments.map(Source.init).filter { seen.insert($0).inserted }
  }

  var isURL: Bool {
    if case .url = self { true } else { false }
  }

  /// The last component of its path without the extension; `image` where there is none.
  var stem: ByteString {
    switch self {
    case .standardInput: "image"
    case .file(let path): Self.stem(of: path.lastComponent)
    case .url(let url): Self.safeName(Self.stem(of: Self.lastComponent(of: url)))
    }
  }

  private static func stem(of name: ByteString) -> ByteString {
    guard let dot = name.bytes.lastIndex(of: UInt8(ascii: ".")), dot != 0 else { return name.isEmpty ? "image" : name }
    return ByteString(bytes: name.bytes[..<dot])
  }

  /// The last component of a URL's path, decoded; empty where there is none.
  private static func lastComponent(of url: ByteString) -> ByteString {
    let path = url.bytes.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    // Before the path are the scheme, an empty component and the host.
    let components = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst(3)
    guard let component = components.last(where: { !$0.isEmpty }) else { return "" }
    let decoded = decoded(component)
    // What is encoded and no text stays as it is.
    return decoded.text == nil ? ByteString(bytes: component) : decoded
  }

  /// Without percent-encoding, which FoundationEssentials cannot take off.
  private static func decoded(_ text: ArraySlice<UInt8>) -> ByteString {
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

  /// A name of whoever wrote the URL, made harmless: in no other folder, not hidden, no option of other programs, nothing that
  /// steers a terminal or shows it in another order, and of a length that file systems take.
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
