import Foundation

/// The reviewed explanations of differences and refusals, read from the list next to this file.
///
/// A line is `differs by MOST PATTERN: REASON`, `unchecked PATTERN: REASON` or `refused CODE PATTERN: REASON`. A
/// pattern is a file's name in which `*` stands for any text. A line does not cover a difference above MOST from the
/// nearest program, or a refusal with another code.
struct Explanations {
  struct Line {
    let kind: String
    let bound: String
    let pattern: String
    let reason: String
  }

  let lines: [Line]
  private(set) var used: Set<Int> = []

  init(_ text: String) throws {
    lines = try text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
      guard let colon = line.firstRange(of: ": ") else { throw Malformed(line: String(line)) }
      var words = line[..<colon.lowerBound].split(separator: " ", omittingEmptySubsequences: false)[...]
      let kind = String(words.removeFirst())
      if kind == "differs", words.first == "by" { words.removeFirst() }
      let bound = kind == "unchecked" ? "" : words.popFirst().map(String.init) ?? ""
      guard ["differs", "unchecked", "refused"].contains(kind), !words.isEmpty, kind != "differs" || Int(bound) != nil
      else { throw Malformed(line: String(line)) }
      return Line(
        kind: kind,
        bound: bound,
        pattern: words.joined(separator: " "),
        reason: String(line[colon.upperBound...]),
      )
    }
  }

  /// Returns the explanation of a difference of `most` from the nearest program, if there is one.
  mutating func difference(_ file: String, by most: Int) -> String? {
    reason("differs", file) { Int($0).map { most <= $0 } ?? false }
  }

  mutating func unchecked(_ file: String) -> String? { reason("unchecked", file) { _ in true } }

  mutating func refusal(_ file: String, code: String) -> String? { reason("refused", file) { $0 == code } }

  /// Returns the lines that explain nothing any more in the folders that were checked.
  ///
  /// What no program decodes on one system a later one decodes on another.
  func stale(in folders: [String]) -> [Line] {
    lines.indices.filter { !used.contains($0) && lines[$0].kind != "unchecked" }.map { lines[$0] }
      .filter { line in folders.contains { line.pattern.hasPrefix("\($0)/") } }
  }

  private mutating func reason(_ kind: String, _ file: String, _ fits: (String) -> Bool) -> String? {
    let index = lines.indices.first {
      lines[$0].kind == kind && fits(lines[$0].bound) && Self.matches(file, lines[$0].pattern)
    }
    guard let index else { return nil }
    used.insert(index)
    return lines[index].reason
  }

  private static func matches(_ name: String, _ pattern: String) -> Bool {
    let parts = pattern.split(separator: "*", omittingEmptySubsequences: false)
    guard parts.count > 1, let first = parts.first, let last = parts.last else { return name == pattern }
    guard name.hasPrefix(first), name.hasSuffix(last), name.count >= first.count + last.count else { return false }
    var rest = name.dropFirst(first.count).dropLast(last.count)
    for part in parts.dropFirst().dropLast() where !part.isEmpty {
      guard let found = rest.firstRange(of: part) else { return false }
      rest = rest[found.upperBound...]
    }
    return true
  }

  struct Malformed: Error { let line: String }
}
