/// An operation on a picture that a URL of a thumbnail server or a command line can name.
///
/// `ImageOperation+Table.swift` has one row for each. The parser of URLs, the tool's `--do` and its help, the table of the
/// documentation, the texts of cache keys and the random tests are made of the rows.
package struct ImageOperation: Sendable {
  /// A width and a height in pixels; 0 for a side that is open.
  package struct Sides: Sendable, Hashable {
    package var width: Double
    package var height: Double
  }

  /// The surroundings of an operation: the box, and the values of other operations.
  package struct Context: Sendable {
    var box: ResizeBox
    /// The colour of canvases.
    let canvasColor: PixelColor
    /// Pictures by their names; the name of the server's picture is empty.
    let pictures: [String: Bitmap]
  }

  typealias Values = OperationValues
  typealias Completion = @Sendable (inout Values) throws(OperationParameter.Mismatch) -> Void
  typealias SizeEffect = @Sendable (Values, Sides, Context) -> Sides
  typealias Making = @Sendable (Values, Context) throws(ImageOperationError) -> [ImageProcessor]

  package let syntax: OperationSyntax
  /// The operations that a shorthand sets: each takes one value, and the last takes the rest.
  package let parts: [ImageOperation]
  /// A Boolean value that indicates whether the operation looks at all pixels of the original, so that the decoder must
  /// not shrink it.
  let needsOriginal: Bool
  /// Fills in values that follow from others, and checks what a single range cannot say.
  let complete: Completion
  /// Returns whether the values change nothing, so that they are the same as none.
  let isOff: @Sendable (Values) -> Bool
  /// Returns the size of an image of the given size afterwards, or the largest where the pixels decide.
  let size: SizeEffect
  /// Makes the processors.
  let processors: Making

  /// The name that identifies the operation.
  package var id: String { syntax.id }

  /// A row of a setting, which has no processors, or of a step.
  ///
  /// The defaults of parameters are off; a row with a parameter that has none is on.
  init(
    _ names: String,
    _ parameters: [OperationParameter],
    keepsWhenEmpty: Bool = false,
    _ example: String,
    atShell shellExample: String? = nil,
    _ summary: String,
    needsOriginal: Bool = false,
    complete: @escaping Completion = { _ in },
    isOff: (@Sendable (Values) -> Bool)? = nil,
    size: @escaping SizeEffect = { _, sides, _ in sides },
    processors: Making?,
  ) {
    syntax = OperationSyntax(
      names,
      parameters,
      keepsWhenEmpty: keepsWhenEmpty,
      example,
      atShell: shellExample,
      summary,
    )
    (parts, self.needsOriginal, self.complete, self.size) = ([], needsOriginal, complete, size)
    self.isOff = isOff ?? { values in parameters.allSatisfy { values[$0.name] == $0.initial } }
    self.processors = processors ?? { _, _ in [] }
  }

  /// A row that is a shorthand of several others.
  init(_ names: String, sets parts: [ImageOperation], _ example: String, _ summary: String) {
    let parameters = parts.dropLast().compactMap(\.syntax.parameters.first) + (parts.last?.syntax.parameters ?? [])
    syntax = OperationSyntax(names, parameters, example, summary, parts: parts.map(\.id))
    (self.parts, needsOriginal, complete, isOff) = (parts, false, { _ in }, { _ in true })
    (size, processors) = ({ _, sides, _ in sides }, { _, _ in [] })
  }

  /// The rows by all their names.
  private static let byName: [String: ImageOperation] = {
    let pairs = table.flatMap { operation in operation.syntax.names.map { ($0, operation) } }
    return Dictionary(uniqueKeysWithValues: pairs)
  }()

  /// Returns the operation with a name.
  package static func named(_ name: String) -> ImageOperation? { byName[name] }

  /// The names of the steps in their order, as tables have them.
  package static var order: [String] { beforeResize.map(\.id) + [resize.id] + afterResize.map(\.id) }

  /// Reads values, and completes them; `nil` if they change nothing that was there.
  func read(
    _ texts: [String],
    as name: String,
    at site: OperationParameter.Site,
  ) throws(ImageOperationError) -> Values? {
    guard var values = try syntax.read(texts, as: name, at: site) else { return nil }
    do throws(OperationParameter.Mismatch) {
      try complete(&values)
    } catch {
      throw ImageOperationError(name, "takes \(error.expected), not '\(error.given.prefix(40))'")
    }
    return values
  }
}
