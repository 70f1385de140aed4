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
    let box: ResizeBox
    /// The gravity of the box.
    let gravity: Gravity
    /// The colour of canvases.
    let canvasColor: PixelColor
    /// Pictures by their names; the name of the server's picture is empty.
    let pictures: [String: Bitmap]
  }

  /// A step of the work, as ``steps`` lists them.
  enum Step: Sendable {
    case operation(ImageOperation)
    /// The image is resized into the box, and cropped to it.
    case resize
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
  ///
  /// Before the resize, an operation that needs no original undoes its own effect, as turning by a right angle does.
  let size: SizeEffect
  /// Makes the processors.
  let processors: Making

  /// The name that identifies the operation.
  package var id: String { syntax.id }

  /// A row of a step, or of a setting, which has no processors.
  init(
    _ names: String...,
    takes parameters: [OperationParameter],
    keepsWhenEmpty: Bool = false,
    _ summary: String,
    example: String,
    inShell shellExample: String? = nil,
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
      summary,
      example: example,
      inShell: shellExample,
    )
    (parts, self.needsOriginal, self.complete) = ([], needsOriginal, complete)
    self.isOff = isOff ?? { values in parameters.allSatisfy { values[$0.name] == $0.initial } }
    (self.size, self.processors) = (size, processors ?? { _, _ in [] })
  }

  /// A row that stands for several others.
  init(_ names: String..., sets parts: [ImageOperation], _ summary: String, example: String) {
    let first = parts.dropLast().compactMap(\.syntax.parameters.first)
    let parameters = first + (parts.last?.syntax.parameters ?? [])
    syntax = OperationSyntax(names, parameters, summary, example: example, parts: parts.map(\.id))
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

  /// Returns the operations that are done before the resize, or after it.
  static func steps(after isAfter: Bool) -> [ImageOperation] {
    var hasPassed = false
    return steps.compactMap { step in
      switch step {
      case .operation(let operation): return hasPassed == isAfter ? operation : nil
      case .resize:
        hasPassed = true
        return nil
      }
    }
  }

  /// The names of the steps in their order, as tables have them.
  package static var order: [String] { steps(after: false).map(\.id) + [resize.id] + steps(after: true).map(\.id) }

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
