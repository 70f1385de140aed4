/// A file format of images, detected from the bytes and never from a name or a content type.
///
/// The type is open: a codec of your own may add a format with its own ``name``. ``all`` lists the formats of Vitrine.
public struct ImageFormat: Hashable, Sendable, CustomStringConvertible {
  private final class Storage: Sendable {
    let row: Row

    init(_ row: Row) { self.row = row }
  }

  private let storage: Storage

  /// The row of the table; a row of a program's own format has only its names.
  package var row: Row { storage.row }

  /// The short lower-case name, such as `jpeg`, which the command-line tool prints and accepts.
  public var name: String { storage.row.name }
  /// The registered media type, such as `image/jpeg`.
  public var mediaType: String { storage.row.types.first ?? "" }
  /// The usual file name extension, without the dot, such as `jpg`.
  public var fileExtension: String { storage.row.extensions.first ?? "" }
  /// The registered media type and its aliases.
  public var mediaTypes: [String] { storage.row.types }
  /// The extensions of file names in lower case, without the dot and the usual one first, such as `jpg` and `jfif`.
  public var fileExtensions: [String] { storage.row.extensions }

  /// Makes a format that Vitrine does not define.
  public init(name: String, mediaType: String, fileExtension: String) {
    let known = Self.all.first { $0.name.utf8.elementsEqual(name.utf8) }
    if let known, known.mediaType == mediaType, known.fileExtension == fileExtension {
      self = known
    } else {
      var row = known?.row ?? Row(name: name, title: name, extensions: [], types: [])
      (row.types, row.extensions) = ([mediaType], [fileExtension])
      self.init(row)
    }
  }

  /// Returns the format that Vitrine knows by an extension of file names, in upper or lower case; `nil` without one.
  public init?(fileExtension: some StringProtocol) {
    let name = fileExtension.lowercased()
    guard let known = Self.all.first(where: { $0.fileExtensions.contains(name) }) else { return nil }
    self = known
  }

  init(_ row: Row) { storage = Storage(row) }

  /// Returns `true` if a text in lower case is the name or an extension.
  package func isNamed(_ text: String) -> Bool { name == text || fileExtensions.contains(text) }

  /// The ``name``.
  public var description: String { name }

  /// Returns `true` if the names are equal.
  public static func == (left: Self, right: Self) -> Bool {
    left.storage === right.storage || left.name.utf8.elementsEqual(right.name.utf8)
  }

  /// Hashes the name.
  public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

extension ImageFormat {
  /// A row of the table of formats: all that is known of a format outside the folder of its decoder and encoder.
  package struct Row: Sendable {
    package var name: String
    /// The name in texts for people.
    package var title: String
    package var extensions: [String]
    package var types: [String]
    /// The uniform type identifier, by which ImageIO knows the format.
    var uniformType: String?
    /// Returns `true` if a file begins like one of the format.
    ///
    /// ``ImageFormat/sniff(_:)`` asks the rows in their order.
    var signature: @Sendable (ByteReader) -> Bool = { _ in false }
    package var hasAlpha = true
    package var motion = Motion.never
    /// Returns `true` if a file with this beginning shows one picture and no animation; `nil` if ``motion`` says so.
    var isStill: (@Sendable (ByteReader) -> Bool)?
    /// Returns `true` if a file has the end that the format prescribes; `false` where nothing shows it.
    var hasEnd: @Sendable (ByteReader) -> Bool = { _ in false }
    package var loss = Loss.never
    package var isDrawing = false
    package var reader = Reader.none
    package var writer = Writer.none
    package var web = WebSupport.none
    /// The maximum number of threads that its codec can use for one image.
    package var threads = 1
  }

  /// The pictures of a file.
  package enum Motion: Sendable {
    case never
    /// Several pictures that are no animation.
    case pages
    case sometimes
    case mostly
  }

  /// The information that encoding drops.
  package enum Loss: Sendable {
    case never
    /// All colours but 256.
    case palette
    /// The caller chooses.
    case either
    case always
  }

  /// The decoder of a format.
  package enum Reader: Equatable, Sendable {
    /// The format is recognised so that a message can name it.
    case none
    /// A decoder of this room.
    case builtIn
    /// A product of its own, such as `VitrineAVIF` for `AVIF`, whose library is large.
    ///
    /// Programs decode it in workers of `vitrine-codecs`. On Apple's platforms ImageIO may read it.
    case external(codec: String)
  }

  /// The encoder of a format.
  package enum Writer: Equatable, Sendable {
    case none
    /// An encoder of this room.
    case builtIn
    /// The encoder of the same product as the decoder, which holds so many bytes for each pixel: planes, and the library's
    /// copies of them.
    case external(byteCountPerPixel: Int)
  }

  /// The clients on the web that show a format.
  package enum WebSupport: Equatable, Sendable {
    case none
    /// All of them.
    case all
    /// Clients whose `Accept` header names it.
    ///
    /// It has the milliseconds of encoding a megapixel on one core of a common server, and the size of a file
    /// relative to a JPEG that looks as good. `make bench NAME=encoding` measures both (`Benchmarks/Results/encoding.txt`). Times
    /// are for small pictures, which take longer for each pixel: of 300x225, half as long at 1200x900; JPEG takes 8.
    /// Sizes are the means of both, brought to the PSNR of the JPEG by a ninth of the bytes for a decibel.
    case negotiated(milliseconds: Int, relativeSize: Double)
  }
}

extension ImageFormat.Row {
  /// The product that reads and writes the format, such as `AVIF`; `nil` for one of this room, or none.
  package var codec: String? { if case .external(let codec) = reader { codec } else { nil } }

  /// An estimate of the bytes that the encoder of another product holds for each pixel.
  package var encodingByteCount: Int { if case .external(let count) = writer { count } else { 0 } }

  /// A Boolean value that indicates whether this version of Vitrine has a decoder.
  package var isRead: Bool { reader != .none }

  /// A Boolean value that indicates whether this version of Vitrine has an encoder.
  package var isWritten: Bool { writer != .none }
}

extension ImageFormat {
  /// The formats whose codecs are products of their own.
  package static let external = all.filter { $0.row.codec != nil }

  /// The formats whose encoders are in products of their own.
  package static let writtenExternally = external.filter(\.row.isWritten)

  /// The formats with an encoder.
  package static let written = all.filter(\.row.isWritten)

  /// The formats that not every client on the web shows, in ascending order of the sizes of files.
  package static let negotiated = all.compactMap { format in
    if case .negotiated(_, let size) = format.row.web { (format, size) } else { nil }
  }.sorted { $0.1 < $1.1 }.map(\.0)

  /// The formats that every browser shows, whose encoders are in this room.
  package static let common = all.filter { $0.row.writer == .builtIn && $0.row.web != .none }

  /// The format of the encoder for files of this format: an APNG has a name of its own, and the encoder of PNG.
  var written: ImageFormat { self == .apng ? .png : self }

  /// The formats that a server may be asked for.
  package static let served = written.filter { $0.row.web != .none }
}
