import VitrineRuntime

/// A text about the tool or a command.
///
/// `--help` prints it plain, and `vitrine man` in the language of man(7).
struct Page: Sendable {
  /// A name and its meaning.
  struct Term: Sendable {
    let name: String
    /// The name of its value.
    let value: String?
    /// Lines about it, each of which may be wrapped.
    let text: String

    init(_ name: String, value: String? = nil, _ text: String) {
      (self.name, self.value, self.text) = (name, value, text)
    }
  }

  struct Section: Sendable {
    let title: String
    let paragraphs: [String]
    let terms: [Term]

    init(_ title: String, _ paragraphs: [String], _ terms: [Term] = []) {
      (self.title, self.paragraphs, self.terms) = (title, paragraphs, terms)
    }
  }

  /// The name of the manual page.
  let name: String
  /// The words of the call, and its arguments.
  let call: String
  let arguments: String
  /// A summary in one sentence.
  let summary: String
  /// The first one has the summary.
  let sections: [Section]
  /// The names of other manual pages.
  let related: [String]

  /// Breaks a text into lines.
  private static func wrapped(_ text: String, _ width: Int) -> [String] {
    text.split(separator: "\n").flatMap { line in
      line.split(separator: " ").reduce(into: [String]()) { lines, word in
        if let last = lines.last, last.count + 1 + word.count <= width {
          lines[lines.count - 1] = "\(last) \(word)"
        } else {
          lines.append(String(word))
        }
      }
    }
  }
}

// MARK: - Plain

extension Page {
  /// The text of `--help`.
  var help: String {
    let parts = sections.enumerated().flatMap { index, section in
      let lines = section.paragraphs.flatMap { Self.wrapped($0, 116) } + section.terms.map(Self.plain)
      // The description stands without its title, and its summary by itself.
      guard index == 0 else { return [([section.title] + lines).joined(separator: "\n")] }
      return [lines[0], lines.dropFirst().joined(separator: "\n")].filter { !$0.isEmpty }
    }
    return (["\(call) \(arguments)"] + parts).joined(separator: "\n\n") + "\n"
  }

  private static func plain(_ term: Term) -> String {
    let name = "  " + term.name + (term.value.map { " \($0)" } ?? "")
    let indent = String(repeating: " ", count: 23)
    let first = name.count < indent.count - 1 ? name + indent.dropFirst(name.count) : name + "\n" + indent
    return first + wrapped(term.text, 95).joined(separator: "\n" + indent)
  }
}

// MARK: - Manual pages

extension Page {
  /// The manual page, in the language of man(7).
  var manual: String {
    let title = Self.escaped(name.uppercased())
    // A line is not filled up, nor a word broken: examples are to be copied.
    var lines = [
      #".TH \#(title) 1 "" "vitrine \#(vitrineVersion)" "User Commands""#,
      ".nh", ".ad l",
      ".SH NAME", "\(Self.escaped(name)) \\- \(Self.escaped(summary.asPhrase))",
      ".SH SYNOPSIS", ".B \(Self.escaped(call))", Self.escaped(arguments),
    ]
    for section in sections {
      lines.append(".SH \(section.title)")
      for (index, paragraph) in section.paragraphs.enumerated() {
        if index > 0 { lines.append(".PP") }
        lines += Self.lines(paragraph)
      }
      for term in section.terms {
        let value = term.value.map { #" \fI\#(Self.escaped($0))\fR"# } ?? ""
        lines += [".TP", #"\fB\#(Self.escaped(term.name))\fR\#(value)"#]
        for (index, line) in term.text.split(separator: "\n").enumerated() {
          if index > 0 { lines.append(".br") }
          lines += Self.lines(String(line))
        }
      }
    }
    lines.append(".SH SEE ALSO")
    lines += related.enumerated().map { index, name in
      ".BR \(Self.escaped(name)) (1)" + (index < related.count - 1 ? "," : "")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func lines(_ text: String) -> [String] { wrapped(text, 72).map(escaped) }

  /// Returns a line with each character that man(7) or a typesetter would change under its name.
  private static func escaped(_ line: String) -> String {
    let names: [Character: String] = [
      "\\": "\\e", "-": "\\-", "'": "\\(aq", "\"": "\\(dq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti",
    ]
    let text = line.map { names[$0] ?? String($0) }.joined()
    return text.hasPrefix(".") ? "\\&" + text : text
  }
}

extension String {
  /// The sentence as a phrase, such as "shows this text".
  var asPhrase: String { prefix(1).lowercased() + dropFirst().prefix(count - (last == "." ? 2 : 1)) }
}
