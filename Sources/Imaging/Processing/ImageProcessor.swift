/// A change to an image, named so that its results can be cached.
///
/// Processors with equal identifiers are equal, so an identifier must contain everything that the result depends on.
public struct ImageProcessor: Sendable, Hashable, CustomStringConvertible {
  /// The name of the processor, with all its parameters.
  public let identifier: String
  /// A Boolean value that indicates whether previews are processed too.
  ///
  /// Defaults to `true`.
  ///
  /// Otherwise previews are shown unprocessed.
  public let processesPreviews: Bool
  private let body: @Sendable (ImageContainer) throws -> ImageContainer

  /// Makes a processor from a function that changes pixels; see ``custom(id:processesPreviews:_:)``.
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
    ImageProcessor(identifier: "custom(\(id))", processesPreviews: processesPreviews, body)
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
    ImageProcessor(identifier: "container(\(id))", processesPreviews: processesPreviews, body: body)
  }

  /// Resizes to a size.
  ///
  /// Enlarges only if the size says so. See ``Bitmap/resized(to:filter:usesLinearLight:limits:isCancelled:)``.
  public static func resize(
    _ size: TargetSize,
    filter: ResamplingFilter = .lanczos3,
    usesLinearLight: Bool = false,
  ) -> ImageProcessor {
    ImageProcessor(identifier: "resize(\(size.identifier),\(filter.rawValue),\(usesLinearLight))") { bitmap in
      try bitmap.resized(to: size, filter: filter, usesLinearLight: usesLinearLight)
    }
  }

  /// Returns the changed image.
  ///
  /// Blocks until done.
  ///
  /// - Throws: The error of the change.
  public func process(_ image: ImageContainer) throws -> ImageContainer { try body(image) }

  /// Returns the changed pixels of a bare bitmap.
  ///
  /// Blocks until done.
  ///
  /// - Throws: The error of the change.
  public func process(_ bitmap: Bitmap) throws -> Bitmap { try process(ImageContainer(bitmap)).bitmap }

  /// The ``identifier``.
  public var description: String { identifier }

  /// Returns `true` if the identifiers are equal.
  public static func == (left: Self, right: Self) -> Bool { left.identifier == right.identifier }

  /// Hashes the identifier.
  public func hash(into hasher: inout Hasher) { hasher.combine(identifier) }
}
