/// A change to pixels, named so that its results can be cached.
///
/// Two processors are equal when their identifiers are, so an identifier must say everything that the result depends on.
public struct ImageProcessor: Sendable, Hashable, CustomStringConvertible {
  /// Says what the processor does, with all its parameters.
  public let identifier: String
  private let body: @Sendable (Bitmap) throws -> Bitmap

  /// Makes a processor of a function; see ``custom(id:_:)``.
  init(identifier: String, _ body: @escaping @Sendable (Bitmap) throws -> Bitmap) {
    self.identifier = identifier
    self.body = body
  }

  /// A change of one's own.
  ///
  /// - Parameters:
  ///   - id: Must be different for whatever gives different results.
  ///   - body: Called on a thread of the pipeline's; it may block for as long as it works.
  /// - Returns: The processor.
  public static func custom(
    id: String,
    _ body: @escaping @Sendable (Bitmap) throws -> Bitmap,
  ) -> ImageProcessor {
    ImageProcessor(identifier: "custom(\(id))", body)
  }

  /// Shrinks (or, if told, enlarges) to a size; see ``Bitmap/resized(to:filter:linearLight:limits:isCancelled:)``.
  public static func resize(
    _ size: TargetSize,
    filter: ResamplingFilter = .lanczos3,
    linearLight: Bool = false,
  ) -> ImageProcessor {
    ImageProcessor(identifier: "resize(\(size.identifier),\(filter.rawValue),\(linearLight))") { bitmap in
      try bitmap.resized(to: size, filter: filter, linearLight: linearLight)
    }
  }

  /// Makes the changed picture.
  ///
  /// Blocks for as long as it takes.
  ///
  /// - Throws: Whatever the change throws.
  public func process(_ bitmap: Bitmap) throws -> Bitmap { try body(bitmap) }

  /// The ``identifier``.
  public var description: String { identifier }

  /// Compares identifiers.
  public static func == (left: Self, right: Self) -> Bool { left.identifier == right.identifier }

  /// Hashes the identifier.
  public func hash(into hasher: inout Hasher) { hasher.combine(identifier) }
}
