/// A change to an image, named so that its results can be cached.
///
/// ```swift
/// request.processors = [.resize(.pixels(300, 300, .fill)), .roundedCorners(radius: 16)]
///
/// let soft = try ImageProcessor.blur(radius: 8).process(bitmap)
/// ```
/// Processors with equal identifiers are equal, so an identifier must contain everything that the result depends on.
/// Those of Vitrine do: equal parameters have equal identifiers, and different parameters different ones. Their results
/// depend on nothing but the pixels, the parameters and, with lengths in points, the scale.
///
/// Colours are filtered multiplied by their coverage, so edges have no fringes. The result has straight alpha, or none
/// if the image has none and stays a rectangle. A parameter that changes nothing returns the same pixels without a copy.
/// Numbers that make no sense are accepted here, and rejected by ``process(_:_:)-(ImageContainer,_)``.
public struct ImageProcessor: Sendable, Hashable, CustomStringConvertible {
  /// The name of the processor, with all its parameters: `blur(8px)`.
  public let identifier: String
  /// A Boolean value that indicates whether previews are processed too.
  ///
  /// Defaults to `true`.
  ///
  /// Otherwise previews are shown unprocessed.
  public let processesPreviews: Bool
  /// True if the result depends on the number of pixels in a point.
  package let dependsOnScale: Bool
  private let work: Work

  private enum Work: Sendable {
    case step(Step)
    case chain([ImageProcessor])
  }

  private enum Step: Sendable {
    /// Changes colours, and leaves no gain map.
    case bitmap(BitmapChange)
    /// Turns the image upright, as if it were stored in an orientation; the gain map and the subjects turn with it.
    case turning(Orientation)
    /// Shows the image, or a part of it, at another size.
    case showing(PlannedChange)
    /// Keeps a part; all frames of an animation keep the first frame's.
    case part(@Sendable (Bitmap, ProcessingContext) throws(ImageError) -> PixelRegion)
    /// Changes more than the pixels.
    case container(@Sendable (ImageContainer, ProcessingContext) throws(ImageError) -> ImageContainer)
  }

  private typealias BitmapChange = @Sendable (Bitmap, ProcessingContext) throws(ImageError) -> Bitmap
  private typealias PlannedChange =
    @Sendable (Bitmap, ProcessingContext) throws(ImageError) -> (bitmap: Bitmap, plan: SamplingPlan)

  /// Makes a processor of Vitrine's own that changes colours; `arguments` must tell all parameters apart.
  package init(
    _ name: String,
    _ arguments: [String],
    lengths: [Length] = [],
    _ body: @escaping @Sendable (Bitmap, ProcessingContext) throws(ImageError) -> Bitmap,
  ) {
    self.init(name, arguments, lengths: lengths, .bitmap(body))
  }

  /// Makes a processor that turns an image upright, as if it were stored in an orientation.
  static func turning(_ name: String, _ arguments: [String], _ orientation: Orientation) -> ImageProcessor {
    ImageProcessor(name, arguments, lengths: [], .turning(orientation))
  }

  /// Makes a processor that shows the image, or a part of it, at another size, and tells the plan that it followed.
  static func showing(
    _ name: String,
    _ arguments: [String],
    lengths: [Length] = [],
    _ body: @escaping @Sendable (Bitmap, ProcessingContext) throws(ImageError) -> (bitmap: Bitmap, plan: SamplingPlan),
  ) -> ImageProcessor {
    ImageProcessor(name, arguments, lengths: lengths, .showing(body))
  }

  /// Makes a processor that keeps a part; `arguments` must tell all parameters apart.
  init(
    _ name: String,
    _ arguments: [String],
    lengths: [Length] = [],
    part: @escaping @Sendable (Bitmap, ProcessingContext) throws(ImageError) -> PixelRegion,
  ) {
    self.init(name, arguments, lengths: lengths, .part(part))
  }

  private init(_ name: String, _ arguments: [String], lengths: [Length], _ step: Step) {
    self.init(
      "\(name)(\(arguments.joined(separator: ",")))",
      step,
      dependsOnScale: lengths.contains { $0.unit == .points },
    )
  }

  private init(_ identifier: String, _ step: Step, dependsOnScale: Bool = false) {
    (self.identifier, self.dependsOnScale, processesPreviews) = (identifier, dependsOnScale, true)
    work = .step(step)
  }

  private init(
    identifier: String,
    processesPreviews: Bool,
    dependsOnScale: Bool = false,
    _ body: @escaping @Sendable (ImageContainer, ProcessingContext) throws -> ImageContainer,
  ) {
    self.identifier = identifier
    self.processesPreviews = processesPreviews
    self.dependsOnScale = dependsOnScale
    work = .step(
      .container { (image, context) throws(ImageError) in
        do {
          return try body(image, context)
        } catch {
          try context.checkCancellation()
          throw ImageError(.processingFailed, cause: error, "\(error)")
        }
      }
    )
  }

  private init(chain steps: [ImageProcessor]) {
    // A separator within an identifier is marked, so that two chains never share a name.
    let names = steps.map { step in
      step.identifier.reduce(into: "") { name, character in
        if character == "\\" || character == ">" { name.append("\\") }
        name.append(character)
      }
    }
    identifier = "chain(\(names.joined(separator: " > ")))"
    processesPreviews = steps.allSatisfy(\.processesPreviews)
    dependsOnScale = steps.contains(where: \.dependsOnScale)
    work = .chain(steps)
  }

  // MARK: Making

  /// Makes one processor of several, which are applied in order.
  ///
  /// The first failure stops the rest, and its error names the step. One processor is itself; chains within a chain are
  /// the same as their steps.
  public static func chain(_ processors: [ImageProcessor]) -> ImageProcessor {
    let steps = processors.flatMap { processor in
      if case .chain(let steps) = processor.work { steps } else { [processor] }
    }
    return steps.count == 1 ? steps[0] : ImageProcessor(chain: steps)
  }

  /// Makes a processor that changes only the pixels.
  ///
  /// - Parameters:
  ///   - id: The identifier. It must differ for different results.
  ///   - processesPreviews: A Boolean value that indicates whether previews are processed too. Defaults to `true`.
  ///   - body: The change. It is called on a thread of the pipeline and may block.
  /// - Returns: The processor.
  public static func custom(
    id: String,
    processesPreviews: Bool = true,
    _ body: @escaping @Sendable (Bitmap) throws -> Bitmap,
  ) -> ImageProcessor {
    ImageProcessor(identifier: "custom(\(id))", processesPreviews: processesPreviews) { image, _ in
      image.replacing(try body(image.bitmap))
    }
  }

  /// Makes a processor that receives the whole image container and may change all of it.
  ///
  /// ```swift
  /// request.processors = [
  ///   .customContainer(id: "credit") { image in
  ///     var image = image
  ///     image.userInfo["credit"] = image.metadata?.fields.artist
  ///     return image
  ///   }
  /// ]
  /// ```
  /// The frames of an animation are changed like the image, if the body changes the pixels. If it sets
  /// ``ImageContainer/animation``, or returns a container of its own, the result has that animation or none.
  ///
  /// - Parameters:
  ///   - id: The identifier. It must differ for different results.
  ///   - processesPreviews: A Boolean value that indicates whether previews are processed too. Defaults to `true`.
  ///   - body: The change. It is called on a thread of the pipeline and may block.
  /// - Returns: The processor.
  public static func customContainer(
    id: String,
    processesPreviews: Bool = true,
    _ body: @escaping @Sendable (ImageContainer) throws -> ImageContainer,
  ) -> ImageProcessor {
    ImageProcessor(identifier: "container(\(id))", processesPreviews: processesPreviews) { image, _ in try body(image) }
  }

  /// Makes a processor that changes the pixels, and knows the scale, the limits and whether it is still wanted.
  ///
  /// Results for different scales are kept apart.
  ///
  /// - Parameters:
  ///   - id: The identifier. It must differ for different results.
  ///   - processesPreviews: A Boolean value that indicates whether previews are processed too. Defaults to `true`.
  ///   - body: The change. It is called on a thread of the pipeline and may block.
  /// - Returns: The processor.
  public static func customInContext(
    id: String,
    processesPreviews: Bool = true,
    _ body: @escaping @Sendable (Bitmap, ProcessingContext) throws -> Bitmap,
  ) -> ImageProcessor {
    ImageProcessor(identifier: "context(\(id))", processesPreviews: processesPreviews, dependsOnScale: true) {
      $0.replacing(try body($0.bitmap, $1))
    }
  }

  /// Makes a processor of Vitrine's own that changes more than the pixels; `identifier` must tell all parameters apart.
  static func container(
    _ identifier: String,
    _ body: @escaping @Sendable (ImageContainer, ProcessingContext) throws(ImageError) -> ImageContainer,
  ) -> ImageProcessor {
    ImageProcessor(identifier, .container(body))
  }

  // MARK: Running

  /// Returns the changed image.
  ///
  /// Blocks until done.
  ///
  /// - Parameters:
  ///   - image: The image.
  ///   - context: The circumstances. Defaults to a scale of 1 and the default limits.
  /// - Returns: The changed image; the same one if nothing has to change.
  /// - Throws: ``ImageError``, whose detail begins with the identifier of the step that failed: `.processingFailed` or
  ///   `.invalidSize` for impossible parameters, `.overLimit` for a result that would be too large, `.cancelled` if the
  ///   context says so. What a processor of your own throws is the ``ImageError/cause`` of an error of code
  ///   `.processingFailed`.
  public func process(
    _ image: ImageContainer,
    _ context: ProcessingContext = ProcessingContext(),
  ) throws(ImageError) -> ImageContainer {
    switch work {
    case .step(let step): return try process(image, context, step)
    case .chain(let steps):
      var image = image
      for step in steps { image = try step.process(image, context) }
      return image
    }
  }

  private func process(
    _ image: ImageContainer,
    _ context: ProcessingContext,
    _ step: Step,
  ) throws(ImageError) -> ImageContainer {
    let context = context.processing(image.subjects)
    let change = try change(of: image, context, step)
    let result = try change(image, context)
    // A step that sets the animation decides about it.
    guard let animation = image.animation, result.animationChanges == image.animationChanges,
      !result.bitmap.isSamePixels(as: image.bitmap)
    else { return result }
    // Frames are changed when they are shown, by the caller that shows them then.
    let still = image.replacing(result.bitmap)
    var moving = result
    moving.animation = AnimatedImage(animation, poster: result.bitmap) { (frame, isCancelled) throws(ImageError) in
      var later = context
      later.isCancelled = isCancelled
      return try change(still.replacing(frame), later).bitmap
    }
    return moving
  }

  /// A change of an image, or of a frame of it.
  private typealias Change = @Sendable (ImageContainer, ProcessingContext) throws(ImageError) -> ImageContainer

  /// Returns the change that all frames of an image have in common.
  private func change(
    of image: ImageContainer,
    _ context: ProcessingContext,
    _ step: Step,
  ) throws(ImageError) -> Change {
    switch step {
    case .bitmap(let body):
      return change { (bitmap, _, context) throws(ImageError) in
        let changed = try body(bitmap, context)
        // A border moves the picture within the bitmap.
        let isInPlace = (changed.width, changed.height) == (bitmap.width, bitmap.height)
        return Changed(changed, subjects: isInPlace ? context.subjects : [])
      }
    case .turning(let orientation):
      return change { (bitmap, map, context) throws(ImageError) in
        let turned = try bitmap.turned(orientation, context)
        let subjects = context.subjects.map { $0.upright(orientation) }
        guard let map else { return Changed(turned, subjects: subjects) }
        return Changed(turned, GainMap(try map.bitmap.turned(orientation, context), map.formula), subjects: subjects)
      }
    case .showing(let body):
      return change { (bitmap, map, context) throws(ImageError) in
        let (shown, plan) = try body(bitmap, context)
        return try Changed(shown, map, by: plan, of: bitmap, context)
      }
    case .part(let choose):
      let part = try named { () throws(ImageError) in
        try context.checkCancellation()
        return try choose(image.bitmap, context)
      }
      return change { (bitmap, map, context) throws(ImageError) in
        let shown = try bitmap.cropped(to: part) { () throws(ImageError) in try context.checkCancellation() }
        return try Changed(shown, map, by: SamplingPlan(nil, part), of: bitmap, context)
      }
    case .container(let body):
      return { [self] (image, context) throws(ImageError) in
        try named { () throws(ImageError) in
          try context.checkCancellation()
          return try body(image, context)
        }
      }
    }
  }

  /// The result of a step.
  private struct Changed {
    let bitmap: Bitmap
    let map: GainMap?
    let subjects: [SubjectRegion]

    init(_ bitmap: Bitmap, _ map: GainMap? = nil, subjects: [SubjectRegion]) {
      (self.bitmap, self.map, self.subjects) = (bitmap, map, subjects)
    }

    /// Makes the result of a step that shows a bitmap, or a part of it, by a plan.
    init(
      _ shown: Bitmap,
      _ map: GainMap?,
      by plan: SamplingPlan,
      of bitmap: Bitmap,
      _ context: ProcessingContext,
    ) throws(ImageError) {
      let size = (bitmap.width, bitmap.height)
      self.init(
        shown,
        try map?.showing(plan, of: size, context),
        subjects: context.subjects.showing(plan, of: size),
      )
    }
  }

  private func change(
    _ body: @escaping @Sendable (Bitmap, GainMap?, ProcessingContext) throws(ImageError) -> Changed
  ) -> Change {
    { [self] (image, context) throws(ImageError) in
      try named { () throws(ImageError) in
        try context.checkCancellation()
        let changed = try body(image.bitmap, image.gainMap, context)
        guard !changed.bitmap.isSamePixels(as: image.bitmap) else { return image }
        var result = image.replacing(changed.bitmap.straightened())
        (result.gainMap, result.subjects) = (changed.map, changed.subjects)
        return result
      }
    }
  }

  /// Adds the identifier to an error.
  private func named<Value>(_ body: () throws(ImageError) -> Value) throws(ImageError) -> Value {
    do throws(ImageError) {
      return try body()
    } catch {
      throw error.prefixed(identifier)
    }
  }

  /// Returns the changed pixels of a bare bitmap.
  ///
  /// Blocks until done.
  ///
  /// - Parameters:
  ///   - bitmap: The pixels.
  ///   - context: The circumstances. Defaults to a scale of 1 and the default limits.
  /// - Returns: The changed pixels; the same ones if nothing has to change.
  /// - Throws: ``ImageError``, as ``process(_:_:)-(ImageContainer,_)`` does.
  public func process(
    _ bitmap: Bitmap,
    _ context: ProcessingContext = ProcessingContext(),
  ) throws(ImageError) -> Bitmap {
    try process(ImageContainer(bitmap), context).bitmap
  }

  /// Returns the identifier of the results at a scale.
  package func identifier(atScale scale: Double) -> String {
    dependsOnScale && scale != 1 ? "\(identifier)@\(StepName.number(scale))x" : identifier
  }

  /// The ``identifier``.
  public var description: String { identifier }

  /// Returns `true` if the identifiers are equal.
  public static func == (left: Self, right: Self) -> Bool { left.identifier.utf8.elementsEqual(right.identifier.utf8) }

  /// Hashes the identifier.
  public func hash(into hasher: inout Hasher) { hasher.combine(identifier) }
}
