import VitrineHTTP
import VitrineImaging
import VitrineRuntime

/// A command line taken apart: what is no option is a source.
struct Arguments {
  private(set) var sources: [String] = []
  private var values: [String: [String]] = [:]
  private var flags: Set<String> = []

  /// `valued` are the options that take a value, such as `--size`; `flags` those that take none.
  init(_ arguments: some Sequence<String>, valued: Set<String>, flags known: Set<String>) throws(UsageError) {
    var rest = arguments.makeIterator()
    var isLiteral = false
    while let argument = rest.next() {
      if isLiteral || argument == "-" || !argument.hasPrefix("-") {
        sources.append(argument)
        continue
      }
      if argument == "--" {
        isLiteral = true
        continue
      }
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      let name = parts[0]
      if known.contains(name) {
        guard parts.count == 1 else { throw UsageError("\(name) takes no value") }
        flags.insert(name)
      } else if valued.contains(name) {
        guard let value = parts.count == 2 ? parts[1] : rest.next() else { throw UsageError("\(name) needs a value") }
        values[name, default: []].append(value)
      } else {
        throw UsageError("unknown option \(name)")
      }
    }
  }

  func has(_ flag: String) -> Bool { flags.contains(flag) }

  /// The option's value; the last where it is repeated.
  func value(_ name: String) -> String? { values[name]?.last }

  /// All values of an option that may be repeated, in order.
  func values(_ name: String) -> [String] { values[name] ?? [] }

  func number(_ name: String, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
    guard let text = value(name) else { return nil }
    guard let number = Int(text), range.contains(number) else {
      let most = range.upperBound == Int.max ? "or more" : "to \(range.upperBound)"
      throw UsageError("\(name) takes a number from \(range.lowerBound) \(most), not '\(text)'")
    }
    return number
  }

  /// Bytes: `1000`, `64K`, `300M`, `2G`, where K is 1024.
  func byteCount(_ name: String) throws(UsageError) -> Int? {
    guard let text = value(name) else { return nil }
    let shifts: [Character: Int] = ["K": 10, "M": 20, "G": 30]
    let shift = text.last.flatMap { shifts[Character($0.uppercased())] }
    let digits = shift == nil ? text[...] : text.dropLast()
    // What 64 bits cannot hold is more than any disk has.
    guard let number = Int(digits), number >= 0, number <= Int.max >> (shift ?? 0) else {
      throw UsageError("\(name) takes a number of bytes such as 1000000, 64K, 300M or 2G, not '\(text)'")
    }
    return number << (shift ?? 0)
  }

  /// Header fields, each given as `Name: value`.
  func headers(_ name: String) throws(UsageError) -> [(name: String, value: String)] {
    var headers: [(name: String, value: String)] = []
    for text in values(name) {
      let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      guard let field = parts.first, parts.count == 2 else {
        throw UsageError("\(name) takes 'Name: value', not '\(text)'")
      }
      let element = HTTPFields.Element(name: String(field), value: String(parts[1].drop { $0 == " " }))
      guard element.isSendable else { throw UsageError("\(name): '\(text)' cannot be sent as a header field") }
      headers.append((element.name, element.value))
    }
    return headers
  }

  func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ name: String,
    _ type: Choice.Type = Choice.self,
  ) throws(UsageError) -> Choice? {
    guard let text = value(name) else { return nil }
    guard let choice = Choice(rawValue: text) else {
      let names = Choice.allCases.map(\.rawValue).joined(separator: ", ")
      throw UsageError("\(name) takes one of \(names), not '\(text)'")
    }
    return choice
  }

  /// `400`, `400x300`, `400x` or `x300`.
  func size(_ mode: TargetSize.Mode) throws(UsageError) -> TargetSize? {
    guard let text = value("--size") else { return nil }
    let sides = text.split(separator: "x", omittingEmptySubsequences: false)
    let lengths = sides.map { side in Int(side).flatMap { (1...1_000_000).contains($0) ? Double($0) : nil } }
    switch (sides.count, lengths.first ?? nil, lengths.last ?? nil) {
    case (1, let length?, _): return .pixels(length, length, mode)
    case (2, let width?, let height?): return .pixels(width, height, mode)
    case (2, let width?, nil) where sides[1].isEmpty: return .pixels(width: width)
    case (2, nil, let height?) where sides[0].isEmpty: return .pixels(height: height)
    default: throw UsageError("--size takes 400, 400x300, 400x or x300, each in pixels and at least 1, not '\(text)'")
    }
  }
}
