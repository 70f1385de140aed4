import VitrineHTTP
import VitrineImaging
import VitrineRuntime

/// A parsed command line.
///
/// Arguments that are not options are sources.
struct Arguments {
  /// The sources on the command line; ``allSources(of:)`` adds those from lists.
  private(set) var sources: [ByteString] = []
  /// Options with their values, in order.
  private var values: [(name: String, value: ByteString)] = []
  private var flags: [String] = []

  init(_ arguments: ArraySlice<ByteString>, options: [Option]) throws(UsageError) {
    var rest = arguments.makeIterator()
    var isLiteral = false
    while let argument = rest.next() {
      if isLiteral || argument == "-" || argument.bytes.first != UInt8(ascii: "-") {
        sources.append(argument)
        continue
      }
      if argument == "--" {
        isLiteral = true
        continue
      }
      let end = argument.bytes.firstIndex(of: UInt8(ascii: "="))
      let name = ByteString(bytes: argument.bytes[..<(end ?? argument.bytes.endIndex)]).readable
      guard let option = options.last(where: { $0.name == name }) else { throw UsageError("unknown option \(name)") }
      if option.value != nil {
        guard let value = end.map({ ByteString(bytes: argument.bytes[($0 + 1)...]) }) ?? rest.next() else {
          throw UsageError("\(name) needs a value")
        }
        values.append((name, value))
      } else {
        guard end == nil else { throw UsageError("\(name) takes no value") }
        flags.append(name)
      }
    }
  }

  func has(_ flag: Option) -> Bool { flags.contains(flag.name) }

  /// Returns the option's value, in any encoding.
  ///
  /// The last one counts if it is repeated.
  func bytes(_ option: Option) -> ByteString? { values.last { $0.name == option.name }?.value }

  /// Returns all values of a repeatable option, in order.
  func all(_ option: Option) -> [ByteString] { values.filter { $0.name == option.name }.map(\.value) }

  /// Returns the option's value as text.
  func text(_ option: Option) throws(UsageError) -> String? {
    guard let bytes = bytes(option) else { return nil }
    guard let text = bytes.text else {
      throw UsageError("\(option.name) takes text in UTF-8, not '\(bytes.readable)'")
    }
    return text
  }

  /// Returns the option's value as a number within the range of its row.
  func number(_ option: Option) throws(UsageError) -> Int? {
    guard let text = try text(option), case .number(let range) = option.value?.kind else { return nil }
    guard let number = Int(text), range.contains(number) else {
      let (least, most) = (range.lowerBound, range.upperBound)
      let bounds = most == Int.max ? "of at least \(least)" : "from \(least) to \(most)"
      throw UsageError("\(option.name) takes a number \(bounds), not '\(text)'")
    }
    return number
  }

  /// The maximum time to decode one image without `--time-limit`.
  static let standardTimeLimit = Duration.seconds(60)

  /// Returns the maximum time to decode one image, or `nil` for no limit.
  func timeLimit() throws(UsageError) -> Duration? {
    guard let seconds = try number(.timeLimit) else { return Self.standardTimeLimit }
    return seconds == 0 ? nil : .seconds(seconds)
  }

  /// Parses a number of bytes: `1000`, `64K`, `300M`, `2G`, where K is 1024.
  func byteCount(_ option: Option) throws(UsageError) -> Int? {
    guard let text = try text(option) else { return nil }
    let shifts: [Character: Int] = ["K": 10, "M": 20, "G": 30]
    let shift = text.last.flatMap { shifts[Character($0.uppercased())] }
    let digits = shift == nil ? text[...] : text.dropLast()
    // Any number that exceeds 64 bits exceeds every disk.
    guard let number = Int(digits), number >= 0, number <= Int.max >> (shift ?? 0) else {
      throw UsageError("\(option.name) takes a number of bytes such as 1000000, 64K, 300M or 2G, not '\(text)'")
    }
    return number << (shift ?? 0)
  }

  /// Parses header fields, each given as `Name: value`.
  func headers(_ option: Option) throws(UsageError) -> HTTPFields {
    var headers = HTTPFields()
    for bytes in all(option) {
      let text = bytes.readable
      let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      guard let field = parts.first, parts.count == 2 else {
        throw UsageError("\(option.name) takes 'Name: value', not '\(text)'")
      }
      let element = HTTPFields.Element(name: String(field), value: String(parts[1].drop { $0 == " " }))
      guard element.isSendable, bytes.text != nil else {
        throw UsageError("\(option.name): '\(text)' cannot be sent as a header field")
      }
      headers.append(name: element.name, value: element.value)
    }
    return headers
  }

  /// Returns the option's value as one of the words of its row.
  func choice<Choice: RawRepresentable<String>>(
    _ option: Option,
    _ type: Choice.Type = Choice.self,
  ) throws(UsageError) -> Choice? {
    guard let text = try text(option), case .words(let words) = option.value?.kind else { return nil }
    guard let choice = Choice(rawValue: text) else {
      throw UsageError("\(option.name) takes one of \(words.joined(separator: ", ")), not '\(text)'")
    }
    return choice
  }

  /// Parses the format of outputs, by its name or an extension.
  func format() throws(UsageError) -> ImageFormat? {
    guard let text = try text(.format) else { return nil }
    guard let format = ImageFormat(written: text) else {
      throw UsageError("\(Option.format.name) takes one of \(ImageFormat.writtenNames), not '\(text)'")
    }
    return format
  }

  /// Parses a size: `400`, `400x300`, `400x` or `x300`.
  func size(_ mode: TargetSize.Mode) throws(UsageError) -> TargetSize? {
    guard let text = try text(.size) else { return nil }
    let sides = text.split(separator: "x", omittingEmptySubsequences: false)
    let lengths = sides.map { side in Int(side).flatMap { (1...1_000_000).contains($0) ? Double($0) : nil } }
    switch (sides.count, lengths.first ?? nil, lengths.last ?? nil) {
    case (1, let length?, _): return .pixels(length, length, mode)
    case (2, let width?, let height?): return .pixels(width, height, mode)
    case (2, let width?, nil) where sides[1].isEmpty: return .pixels(width: width)
    case (2, nil, let height?) where sides[0].isEmpty: return .pixels(height: height)
    default:
      throw UsageError("--size takes 400, 400x300, 400x or x300, in pixels and from 1 to 1000000, not '\(text)'")
    }
  }
}

// MARK: - Lists of sources

extension Arguments {
  /// Returns the sources on the command line, then those in the lists of `--files-from`, in order.
  ///
  /// Blocks while it reads the lists. The result is empty if all lists are, which leaves nothing to do.
  func allSources(of command: String) throws(UsageError) -> [ByteString] {
    let lists = all(.filesFrom)
    guard !lists.isEmpty else {
      guard !has(.zero) else { throw UsageError("-0 needs --files-from") }
      guard !sources.isEmpty else { throw UsageError("\(command) needs at least one source") }
      return sources
    }
    var all = sources
    for list in lists { all += try names(in: list) }
    let fromInput = lists.count { $0 == "-" }
    guard fromInput == 0 || fromInput == 1 && !all.contains("-") else {
      throw UsageError("--files-from - reads standard input, so nothing else can")
    }
    return all
  }

  private func names(in list: ByteString) throws(UsageError) -> [ByteString] {
    guard !list.isEmpty else { throw UsageError("--files-from takes a file, or - for standard input") }
    let data: Data
    do throws(FileError) {
      data = list == "-" ? try FileContents.of(0) : try FileContents.named(list)
    } catch {
      let reason = list == "-" ? error.ofStandardFile : error.description
      throw UsageError("--files-from \(list.readable): \(reason)", exitCode: ExitCode.failure)
    }
    guard !has(.zero) else { return data.split(separator: 0).map { ByteString(bytes: $0) } }
    guard !data.contains(0) else {
      throw UsageError("--files-from \(list.readable): the list contains zero bytes; use -0 to read it")
    }
    let (lineFeed, carriageReturn) = (UInt8(ascii: "\n"), UInt8(ascii: "\r"))
    let lines = data.split(separator: lineFeed)
    // Lines of another system all end with a carriage return. In other lists it is a part of a name, but of no URL's.
    let areForeign = lines.dropLast(data.last == lineFeed ? 0 : 1).allSatisfy { $0.last == carriageReturn }
    return lines.compactMap { line in
      let name = line.last == carriageReturn && areForeign ? line.dropLast() : line
      // A list written by hand may have blank lines.
      guard name.contains(where: { $0 != carriageReturn }) else { return nil }
      let isURL = Source(ByteString(bytes: name)).isURL
      return isURL ? ByteString(bytes: name.filter { $0 != carriageReturn }) : ByteString(bytes: name)
    }
  }
}
