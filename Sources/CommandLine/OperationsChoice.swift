import VitrineHTTP
import VitrineImaging
import VitrineRuntime

/// The size and the operations of the command line.
struct OperationsChoice: Sendable {
  /// The options that have an effect; for manuals.
  static let options: [Option] = [.size, .mode, .operations]

  private let size: TargetSize?
  private let operations: ImageOperations?

  init(_ parsed: Arguments) throws(UsageError) {
    let mode: TargetSize.Mode = try parsed.choice(.mode) ?? .fit
    size = try parsed.size(mode)
    operations = try parsed.text(.operations).map { [size] text throws(UsageError) in
      do throws(ImageOperationError) {
        var operations = try Self.operations(text)
        if let size {
          try operations.fit(into: size)
        } else if parsed.bytes(.mode) != nil {
          throw ImageOperationError("resizing_type", "sets the mode if there is no --size")
        }
        guard !operations.pictureNames.contains("") else {
          throw ImageOperationError("watermark", "needs a picture, as in watermark:logo.png:se")
        }
        return operations
      } catch {
        throw UsageError("--do: \(error)")
      }
    }
  }

  /// A Boolean value that indicates whether the image is to be changed.
  var isChanging: Bool { size != nil || operations != nil }

  /// Reads operations, in whose values `:`, `|` and `%` are percent-encoded, as in a URL.
  private static func operations(_ text: String) throws(ImageOperationError) -> ImageOperations {
    var operations = ImageOperations()
    for pieces in ImageOperations.pieces(text) {
      let values = pieces.compactMap { PercentEncoding.decode($0) }
      guard values.count == pieces.count else {
        throw ImageOperationError(pieces[0], "has a % that encodes nothing; a % is written %25")
      }
      try operations.apply(values[0], Array(values.dropFirst()), at: .shell)
    }
    return operations
  }

  /// Returns the work on each image, for which pictures are read.
  ///
  /// Blocks.
  func plan(timeLimit: Duration?, _ console: Console) throws(Failure) -> ImageOperations.Plan {
    guard let operations else { return ImageOperations.Plan(size: size, processors: []) }
    var pictures: [String: Bitmap] = [:]
    for name in operations.pictureNames {
      pictures[name] = try Self.picture(name, timeLimit, console)
    }
    do throws(ImageOperationError) {
      return try operations.plan(pictures: pictures)
    } catch {
      throw Failure(stage: .process, error.description)
    }
  }

  private static func picture(_ name: String, _ timeLimit: Duration?, _ console: Console) throws(Failure) -> Bitmap {
    let source = Source(ByteString(name))
    var options = DecodeOptions()
    options.limits.timeLimit = timeLimit
    do throws(Failure) {
      return try SourceReader([source], connections: 1, timeLimit: timeLimit, console).image(of: source, options).bitmap
    } catch {
      throw Failure(stage: .process, "'watermark' cannot use '\(name)': \(error.reason)")
    }
  }
}

extension ImageOperations {
  /// Sets the box of `--size` and `--mode`.
  fileprivate mutating func fit(into size: TargetSize) throws(ImageOperationError) {
    guard self[number: .width] == nil, self[number: .height] == nil, self[.resizingType] == nil else {
      throw ImageOperationError("resize", "and --size exclude each other")
    }
    (self[number: .width], self[number: .height]) = (size.width, size.height)
    let type = [TargetSize.Mode.fit: "fit", .fill: "fill", .exact: "force"][size.mode] ?? "fit"
    try apply("resizing_type", [type], at: .shell)
  }
}
