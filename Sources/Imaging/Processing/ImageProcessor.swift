/// A change to an image, named so that its results can be cached.
///
/// Two processors are equal when their identifiers are, so an identifier must say everything that the result depends on.
public struct ImageProcessor: Sendable, Hashable, CustomStringConvertible {
  /// The name of the processor, with all its parameters.
  public let identifier: String
  /// A Boolean value that indicates whether previews are processed too; those of other images are shown as they are.
  ///
  /// Defaults to `true`.
  public let processesPreviews: Bool
  private let body: @Sendable (ImageContainer) throws -> ImageContainer

  /// Makes a processor of a function that changes pixels; see ``custom(id:processesPreviews:_:)``.
  init(
    identifier: String,
    processesPreviews: Bool = true,
    _ body: @escaping @Sendable (Bitmap) throws -> Bitmap,
  ) {
    self.init(identifier: identifier, processesPreviews: processesPreviews) { image in
      image.replacing(try body(image.bitmap))
    }
  }

  private init(
    identifier: String,
    processesPreviews: Bool,
    body: @escaping @Sendable (ImageContainer) throws -> ImageContainer,
  ) {
    self.identifier = identifier
    self.processesPreviews = processesPreviews
    self.body = body
  }

  /// Makes a processor that changes pixels and leaves everything else as it is.
  ///
  /// - Parameters:
  ///   - id: Must be different for whatever gives different results.
  ///   - processesPreviews: A Boolean value that indicates whether previews are processed too. Defaults to `true`.
  ///   - body: Called on a thread of the pipeline's; it may block for as long as it works.
  /// - Returns: The processor.
  public static func custom(
    id: String,
    processesPreviews: Bool = true,
    _ body: @escaping @Sendable (Bitmap) throws -> Bitmap,
  ) -> ImageProcessor {
    ImageProcessor(identifier: "custom(\(id))", processesPreviews: processesPreviews, body)
  }

  /// Makes a processor that sees all that belongs to an image and may change all of it.
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
  ///
  /// - Parameters:
  ///   - id: Must be different for whatever gives different results.
  ///   - processesPreviews: A Boolean value that indicates whether previews are processed too. Defaults to `true`.
  ///   - body: Called on a thread of the pipeline's; it may block for as long as it works.
  /// - Returns: The processor.
  public static func customContainer(
    id: String,
    processesPreviews: Bool = true,
    _ body: @escaping @Sendable (ImageContainer) throws -> ImageContainer,
  ) -> ImageProcessor {
    ImageProcessor(identifier: "container(\(id))", processesPreviews: processesPreviews, body: body)
  }

  /// Shrinks (or, if told, enlarges) to a size; see ``Bitmap/resized(to:filter:usesLinearLight:limits:isCancelled:)``.
  public static func resize(
    _ size: TargetSize,
    filter: ResamplingFilter = .lanczos3,
    usesLinearLight: Bool = false,
  ) -> ImageProcessor {
    ImageProcessor(identifier: "resize(\(size.identifier),\(filter.rawValue),\(usesLinearLight))") { bitmap in
      try bitmap.resized(to: size, filter: filter, usesLinearLight: usesLinearLight)
    }
  }

  /// Makes the changed image.
  ///
  /// Blocks for as long as it takes.
  ///
  /// - Throws: Whatever the change throws.
  public func process(_ image: ImageContainer) throws -> ImageContainer { try body(image) }

  /// Makes the changed pixels of an image of which there is nothing else.
  ///
  /// Blocks for as long as it takes.
  ///
  /// - Throws: Whatever the change throws.
  public func process(_ bitmap: Bitmap) throws -> Bitmap { try process(ImageContainer(bitmap)).bitmap }

  /// The ``identifier``.
  public var description: String { identifier }

  /// Compares identifiers.
  public static func == (left: Self, right: Self) -> Bool { left.identifier == right.identifier }

  /// Hashes the identifier.
  public func hash(into hasher: inout Hasher) { hasher.combine(identifier) }
}
