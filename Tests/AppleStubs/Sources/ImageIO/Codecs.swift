/// The facts of a file, as the stub's codecs know them.
public struct _ImageDescription {
  /// The type identifier.
  public var type: String
  /// The properties of each image.
  public var properties: [[String: Any]]
  /// The properties of the file.
  public var container: [String: Any] = [:]
  /// A packet of XMP.
  public var xmp: Data?
  /// The index of the main image.
  public var primary = 0

  /// Makes a description.
  public init(type: String, properties: [[String: Any]]) {
    (self.type, self.properties) = (type, properties)
  }
}

/// A request for one image.
public struct _DecodeRequest: Sendable {
  /// The index of the image.
  public var index: Int
  /// The most pixels of the longer side; `nil` for no limit.
  public var longestSide: Int?
  /// By how much the decoder reduces the size.
  public var subsampling: Int
  /// A Boolean value that indicates whether the image is turned upright.
  public var isUpright: Bool
  /// A Boolean value that indicates whether the whole file is there.
  public var isFinal: Bool
  /// A Boolean value that indicates whether high dynamic range is requested.
  public var isHighRange = false
}

/// What reads and writes images for the stub; tests install it.
public protocol _ImageCodecs: Sendable {
  /// The types that can be read.
  var readable: [String] { get }
  /// The types that can be written.
  var writable: [String] { get }
  /// Returns the facts of a file; `nil` if they are not known.
  func describe(_ data: Data, isFinal: Bool) -> _ImageDescription?
  /// Returns an image; `nil` if it cannot be decoded.
  func decode(_ data: Data, _ request: _DecodeRequest) -> CGImage?
  /// Returns a file; `nil` if the image cannot be encoded.
  func encode(_ image: CGImage, as type: String, quality: Double, isProgressive: Bool) -> Data?
}

/// The hooks of the stub.
public enum _ImageIO {
  // @unchecked: options hold numbers, strings and Booleans, which nobody changes.
  /// A call to ImageIO, with the values of its options by their keys.
  public enum Call: @unchecked Sendable {
    /// A source of a whole file.
    case create(Data, [String: Any])
    /// More of a file that is arriving.
    case update(Data, isFinal: Bool)
    /// An image in its own size.
    case image(Int, [String: Any])
    /// A smaller image.
    case thumbnail(Int, [String: Any])
    /// A written file.
    case finalize(String, [String: Any])
  }

  // Written once, before tests run.
  /// The codecs.
  nonisolated(unsafe) public static var codecs: (any _ImageCodecs)?

  /// Receives each call on the thread of the caller while `body` runs in this task.
  @TaskLocal
  public static var observer: (@Sendable (Call) -> Void)?

  static func note(_ call: Call) { observer?(call) }

  static func names(_ options: CFDictionary) -> [String: Any] {
    var names: [String: Any] = [:]
    for (key, value) in options { names["\(key)"] = value }
    return names
  }
}
