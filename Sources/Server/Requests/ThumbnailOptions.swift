public import VitrineImaging

/// The changes to an original that a URL can ask for.
public struct ThumbnailOptions: Sendable, Hashable {
  /// The operations on the picture, in pixels of the thumbnail at a ``pixelRatio`` of 1.
  ///
  /// Defaults to none.
  public var operations = ImageOperations()
  /// The operations of further pipelines, each on the picture of the one before.
  ///
  /// Defaults to none.
  public var chained: [ImageOperations] = []
  /// The quality, from 1 to 100; `nil` for the format's own default.
  public var quality: Int?
  /// The qualities of single formats, by name, where ``quality`` is `nil`.
  public var formatQualities: [String: Int] = [:]
  /// The metadata of the original that is kept.
  public var metadata = Metadata.copyright
  /// A Boolean value that indicates whether colours that sRGB lacks are kept, as Display P3.
  public var keepsWideColors = false
  /// A Boolean value that indicates whether the gain map is kept, where the format has room for it.
  ///
  /// Defaults to `false`. ``Metadata/all`` keeps it, too.
  public var keepsGainMap = false
  /// The page, or the frame of an animation, from 0.
  public var page = 0
  /// A Boolean value that indicates whether an animation moves.
  public var animates = true
  /// A Boolean value that indicates whether the response is to be saved as a file.
  public var isAttachment = false
  /// The name of that file, without an extension; `nil` for the source's own.
  public var fileName: String?
  /// A text that makes a difference for caches only.
  public var cacheBuster: String?

  /// The formats of sources that are passed on as they are, whatever else is asked for.
  ///
  /// Defaults to none.
  public var passedOn: Set<ImageFormat> = []

  /// The operations of all pipelines, in order; at least one.
  var pipelines: [ImageOperations] {
    get { [operations] + chained }
    set { (operations, chained) = (newValue[0], Array(newValue.dropFirst())) }
  }
  /// The width of the box; 0 for any.
  public var width: Int {
    get { Int(exactly: operations[number: .width] ?? 0) ?? .max }
    set { operations[number: .width] = Double(newValue) }
  }
  /// The height of the box; 0 for any.
  public var height: Int {
    get { Int(exactly: operations[number: .height] ?? 0) ?? .max }
    set { operations[number: .height] = Double(newValue) }
  }
  /// The number of pixels for each that the URL names; `nil` for 1, or what the client's headers say.
  public var pixelRatio: Double? {
    get { operations[number: .pixelRatio] }
    set { operations[number: .pixelRatio] = newValue }
  }

  /// Makes options that change nothing.
  public init() {}

  /// The metadata that is kept.
  public enum Metadata: String, Sendable, Hashable, CaseIterable {
    /// None.
    case none
    /// Copyright and author.
    case copyright
    /// All, with the place where the picture was taken.
    case all
  }
}
