/// Operations on an image, as a URL of a thumbnail server or the tool's `--do` names them.
///
/// ```swift
/// let operations = try ImageOperations("resize:fill:400:300|gravity:smart|blur:4|watermark:logo:se")
/// let plan = try operations.plan(pictures: ["logo": logo])
/// var image = try DecoderRegistry.standard.decode(data, DecodeOptions(size: plan.size))
/// for processor in plan.processors { image = try processor.process(image) }
/// ```
/// An operation is a name and values between colons; values that are left out have their defaults, and of two with the
/// same name the last one counts. The order makes no difference otherwise: the work is always done in imgproxy's order.
/// `vitrine thumbnail --help` lists the operations.
public struct ImageOperations: Sendable, Hashable {
  /// The work that operations are: of the decoder, and after it.
  public struct Plan: Sendable, Hashable {
    /// The size at which the image is to be decoded; `nil` for its own.
    public let size: TargetSize?
    /// The processors after that, in order.
    public let processors: [ImageProcessor]

    package init(size: TargetSize?, processors: [ImageProcessor]) {
      (self.size, self.processors) = (size, processors)
    }
  }

  /// The values of operations that are not off, by the operations' identifying names.
  private var values: [String: OperationValues] = [:]

  /// Makes a list without operations.
  public init() {}

  /// Reads operations.
  ///
  /// - Parameter text: The operations, with `|` between them.
  /// - Throws: ``ImageOperationError`` for the first that is not understood.
  public init(_ text: String) throws(ImageOperationError) {
    for pieces in Self.pieces(text) { try apply(pieces[0], Array(pieces.dropFirst()), at: .shell) }
  }

  /// Returns the name and the values of each operation in a text.
  package static func pieces(_ text: String) -> [[String]] {
    text.split(separator: "|", omittingEmptySubsequences: false).map { operation in
      operation.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    }
  }

  /// Sets the operation of a name, by its values as a URL or a shell gives them.
  package mutating func apply(
    _ name: String,
    _ texts: [String],
    at site: OperationParameter.Site,
  ) throws(ImageOperationError) {
    guard let operation = ImageOperation.named(name) else {
      throw ImageOperationError(name, "is no operation")
    }
    // A segment of a URL without a value is none, so only a shell can name an operation alone.
    guard site == .url || texts.contains(where: { !$0.isEmpty }) else {
      throw ImageOperationError(name, "needs values: \(operation.syntax.description(at: site))")
    }
    guard !operation.parts.isEmpty else { return try apply(operation, texts, as: name, at: site) }
    let count = operation.syntax.maxPieces(at: site)
    guard texts.count <= count else { throw ImageOperationError(name, "takes at most \(count) values") }
    var rest = texts[...]
    for part in operation.parts {
      let isLast = part.id == operation.parts.last?.id
      let own = isLast ? rest : rest.prefix(1)
      rest = rest.dropFirst(own.count)
      try apply(part, Array(own), as: name, at: site)
    }
  }

  private mutating func apply(
    _ operation: ImageOperation,
    _ texts: [String],
    as name: String,
    at site: OperationParameter.Site,
  ) throws(ImageOperationError) {
    guard let values = try operation.read(texts, as: name, at: site) else { return }
    self[operation] = values
  }

  /// The values of an operation; `nil` if it is off.
  package subscript(_ operation: ImageOperation) -> OperationValues? {
    get { values[operation.id] }
    set { values[operation.id] = newValue.flatMap { operation.isOff($0) ? nil : $0 } }
  }

  /// The first value of an operation, if that is a number.
  package subscript(number operation: ImageOperation) -> Double? {
    get { operation.syntax.parameters.first.flatMap { self[operation]?.number($0.name) } }
    set {
      guard let parameter = operation.syntax.parameters.first else { return }
      var values = self[operation] ?? OperationValues()
      values[parameter.name] = newValue.map(OperationValue.number)
      self[operation] = newValue == nil ? nil : values
    }
  }

  /// The operations in the syntax of URLs, in the order of the table.
  ///
  /// Equal operations have equal texts, and different ones different texts, so they serve in validators and keys.
  package var texts: [String] {
    ImageOperation.table.compactMap { operation in
      guard let values = self[operation] else { return nil }
      var texts = operation.syntax.parameters(at: .url).map { values[$0.name]?.text }
      while case .some(nil) = texts.last { texts.removeLast() }
      return ([operation.syntax.shortName] + texts.map { $0 ?? "" }).joined(separator: ":")
    }
  }

  /// The names of the pictures that operations need.
  package var pictureNames: [String] {
    self[.watermark].map { [$0.text("picture") ?? ""] } ?? []
  }

  // MARK: - Planning

  /// Returns the work that the operations are.
  ///
  /// An image is decoded at the size that is shown, unless the shown part depends on all pixels of the original: with
  /// `crop`, `trim`, and a smart `gravity`, all of it is decoded.
  ///
  /// - Parameter pictures: Pictures by the names that `watermark` gives them. Defaults to none.
  /// - Returns: The plan.
  /// - Throws: ``ImageOperationError`` if a picture is missing.
  public func plan(pictures: [String: Bitmap] = [:]) throws(ImageOperationError) -> Plan {
    let context = context(pictures)
    return try plan(context, isSimple: isSimple(context))
  }

  /// Returns the processors of the operations for an image that is decoded already.
  ///
  /// `auto_rotate` has no effect: an image is turned once, when it is decoded.
  ///
  /// - Parameter pictures: Pictures by the names that `watermark` gives them. Defaults to none.
  /// - Returns: The processors, in order.
  /// - Throws: ``ImageOperationError`` if a picture is missing.
  public func processors(pictures: [String: Bitmap] = [:]) throws(ImageOperationError) -> [ImageProcessor] {
    var operations = self
    operations[.autoRotate] = nil
    return try operations.plan(context(pictures), isSimple: false).processors
  }

  private func plan(_ context: ImageOperation.Context, isSimple: Bool) throws(ImageOperationError) -> Plan {
    let size = isSimple ? context.box.size(turn) : nil
    let before = try make(ImageOperation.beforeResize, context)
    let resizing = isSimple ? [] : [context.box.resizing]
    let after = try make(ImageOperation.afterResize, context)
    guard context.box.ratio != 1 || context.box.rules.limit != nil, !after.isEmpty else {
      return Plan(size: size, processors: before + resizing + after)
    }
    return Plan(size: size, processors: [steps(before, resizing, after, context)])
  }

  /// Returns all steps as one, since a ratio depends on the size of the image, and distances on the ratio.
  private func steps(
    _ before: [ImageProcessor],
    _ resizing: [ImageProcessor],
    _ after: [ImageProcessor],
    _ context: ImageOperation.Context,
  ) -> ImageProcessor {
    let names = (before + resizing + after).map(\.identifier) + [context.box.rules.text]
    return .container("container(thumbnail \(names.joined(separator: " > ")))") {
      (image, processing) throws(ImageError) in
      // A decoder that has fitted the image has left its size in the header.
      let isTurned = [90, 270].contains(self[.rotate]?.amount("angle") ?? 0)
      let (width, height) = (Double(image.info.width), Double(image.info.height))
      var sides = ImageOperation.Sides(width: isTurned ? height : width, height: isTurned ? width : height)
      var result = image
      // Each frame comes here by itself.
      result.animation = nil
      for step in before { result = try step.process(result, processing) }
      if !resizing.isEmpty {
        sides = ImageOperation.Sides(width: Double(result.bitmap.width), height: Double(result.bitmap.height))
      }
      for step in resizing { result = try step.process(result, processing) }
      var context = context
      context.box = context.box.fitted(sides)
      let later: [ImageProcessor]
      do throws(ImageOperationError) {
        later = try make(ImageOperation.afterResize, context)
      } catch {
        throw ImageError(.processingFailed, cause: error, "\(error)")
      }
      for step in later { result = try step.process(result, processing) }
      var changed = image.replacing(result.bitmap)
      (changed.gainMap, changed.subjects) = (result.gainMap, result.subjects)
      return changed
    }
  }

  private func make(
    _ steps: [ImageOperation],
    _ context: ImageOperation.Context,
  ) throws(ImageOperationError) -> [ImageProcessor] {
    var processors: [ImageProcessor] = []
    for step in steps { if let values = self[step] { processors += try step.processors(values, context) } }
    return processors
  }

  /// Returns the size of an image after steps.
  func size(
    _ sides: ImageOperation.Sides,
    after steps: [ImageOperation],
    _ context: ImageOperation.Context,
  ) -> ImageOperation.Sides {
    steps.reduce(sides) { sides, step in self[step].map { step.size($0, sides, context) } ?? sides }
  }

  /// The sides that the result has at most, as far as the operations tell: open ones have only their padding.
  package var mostSides: ImageOperation.Sides {
    let context = context([:])
    let box = context.box
    let sides = ImageOperation.Sides(
      width: box.width > 0 ? box.width : (box.rules.minimumWidth * box.ratio).rounded(),
      height: box.height > 0 ? box.height : (box.rules.minimumHeight * box.ratio).rounded(),
    )
    let most = size(sides, after: ImageOperation.afterResize, context)
    guard let limit = box.rules.limit?.side, max(most.width, most.height) > limit else { return most }
    let scale = limit / max(most.width, most.height)
    return ImageOperation.Sides(width: most.width * scale, height: most.height * scale)
  }

  func context(_ pictures: [String: Bitmap]) -> ImageOperation.Context {
    // An opaque image on an opaque canvas stays opaque, and is encoded as such.
    let background = self[.background]?.color("color").flatMap { $0.alpha == 255 ? $0 : nil }
    return ImageOperation.Context(
      box: ResizeBox(self),
      canvasColor: background ?? .clear,
      pictures: pictures,
    )
  }

  /// Returns whether a decoder can fit the image into the box.
  private func isSimple(_ context: ImageOperation.Context) -> Bool {
    let box = context.box
    return !ImageOperation.beforeResize.contains { self[$0] != nil && $0.needsOriginal }
      && (!box.crops || box.rules.gravity != .smart)
  }

  /// The turns and mirrorings that follow a decoder.
  private var turn: Orientation {
    let flip = self[.flip]
    var (quarters, isMirrored) = (Int(self[.rotate]?.amount("angle") ?? 0) / 90, flip?.flag("left and right") ?? false)
    if flip?.flag("top and bottom") ?? false { (quarters, isMirrored) = (quarters + 2, !isMirrored) }
    let turns: [Orientation] =
      isMirrored ? [.upMirrored, .leftMirrored, .downMirrored, .rightMirrored] : [.up, .right, .down, .left]
    return turns[quarters % 4]
  }
}
