/// The names and the parameters of an operation, or of another option of a URL, and how a table of them describes it.
package struct OperationSyntax: Sendable {
  /// The names of imgproxy, the longest first.
  package let names: [String]
  package let parameters: [OperationParameter]
  /// The operations that this one only stands for.
  let parts: [String]
  /// A Boolean value that indicates whether an empty first value changes nothing, rather than stands for the default.
  let keepsWhenEmpty: Bool
  /// A sentence for the documentation, without a subject.
  package let summary: String
  /// The operation with values that change something, as in a URL.
  package let example: String
  /// The same at a shell, where that differs.
  let shellExample: String?

  /// Makes a row of names with spaces between them.
  package init(
    _ names: String,
    _ parameters: [OperationParameter],
    keepsWhenEmpty: Bool = false,
    _ example: String,
    atShell shellExample: String? = nil,
    _ summary: String,
    parts: [String] = [],
  ) {
    self.names = names.split(separator: " ").map(String.init)
    (self.parameters, self.keepsWhenEmpty, self.parts) = (parameters, keepsWhenEmpty, parts)
    (self.summary, self.example, self.shellExample) = (summary, example, shellExample)
  }

  /// The name that identifies the operation.
  var id: String { names[0] }

  /// The name that texts of keys have.
  var shortName: String { names[names.count - 1] }

  package func parameters(at site: OperationParameter.Site) -> [OperationParameter] {
    parameters.filter { $0.site == nil || $0.site == site }
  }

  /// Returns the number of values that the operation takes at most.
  func maxPieces(at site: OperationParameter.Site) -> Int { parameters(at: site).reduce(0) { $0 + $1.pieces } }

  /// Reads the values that stood between colons, with defaults for missing ones; `nil` to change nothing.
  package func read(
    _ texts: [String],
    as name: String,
    at site: OperationParameter.Site = .url,
  ) throws(ImageOperationError) -> OperationValues? {
    let parameters = parameters(at: site)
    let count = maxPieces(at: site)
    guard texts.count <= count else { throw ImageOperationError(name, "takes at most \(count) values") }
    var (values, pieces) = (OperationValues(), texts[...])
    for parameter in parameters {
      do throws(OperationParameter.Mismatch) {
        values[parameter.name] = try parameter.read(&pieces) ?? parameter.initial
      } catch {
        // A parameter with the name of its operation is not mentioned twice.
        let place = parameter.name == id && names.contains(name) ? "" : "as \(parameter.name) "
        throw ImageOperationError(name, "takes \(place)\(error.expected), not '\(error.given.prefix(40))'")
      }
    }
    guard pieces.allSatisfy(\.isEmpty) else {
      throw ImageOperationError(name, "takes no further value '\(pieces.joined(separator: ":").prefix(40))'")
    }
    return keepsWhenEmpty && texts.first ?? "" == "" ? nil : values
  }
}

// MARK: - Tables

extension OperationSyntax {
  /// The row of the documentation's table.
  package var documentation: String {
    let names = names.map { "`\($0)`" }.joined(separator: " ")
    return "| \(names) | \(description(at: .url)) | \(summary) | `\(example)` |"
  }

  /// Returns the operation with values that change something.
  package func example(at site: OperationParameter.Site) -> String {
    site == .url ? example : shellExample ?? example
  }

  /// Returns what the operation takes, with units, ranges and defaults.
  package func description(at site: OperationParameter.Site) -> String {
    guard parts.isEmpty else { return parts.joined(separator: ", ") }
    // Neighbours that take the same are described once.
    var groups: [(names: [String], takes: String)] = []
    for parameter in parameters(at: site) {
      if let last = groups.last, last.takes == parameter.takes {
        groups[groups.count - 1].names.append(parameter.name)
      } else {
        groups.append(([parameter.name], parameter.takes))
      }
    }
    return groups.map { $0.names.joined(separator: ", ") + ($0.takes.isEmpty ? "" : ": \($0.takes)") }
      .joined(separator: "; ")
  }
}

extension OperationParameter {
  /// The range, the unit and the default, for tables.
  fileprivate var takes: String {
    let range: String =
      switch kind {
      case .number(let range): "\(DecimalText.of(range.lowerBound)) to \(DecimalText.of(range.upperBound))"
      case .whole(let range, _): "\(range.lowerBound) to \(range.upperBound)"
      case .flag: "1 or 0"
      case .choice(let names): names.joined(separator: " ")
      case .text(let description), .texts(let description, _): description
      case .color, .placeOrPattern, .gravity: ""
      }
    guard case .number(let usual) = initial else { return range + unit.rawValue }
    return "\(range)\(unit.rawValue) (\(DecimalText.of(usual)))"
  }
}
