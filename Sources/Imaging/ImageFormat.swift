/// A file format of images, detected from the bytes and never from a name or a content type.
///
/// The type is open: a codec of your own may add a format with its own ``name``.
public struct ImageFormat: Hashable, Sendable, CustomStringConvertible {
  /// The short lower-case name, such as `jpeg`, which the command-line tool prints and accepts.
  public let name: String
  /// The registered media type, such as `image/jpeg`.
  public let mediaType: String
  /// The usual file name extension, without the dot, such as `jpg`.
  public let fileExtension: String

  /// Makes a format that Vitrine does not define.
  public init(name: String, mediaType: String, fileExtension: String) {
    self.name = name
    self.mediaType = mediaType
    self.fileExtension = fileExtension
  }

  /// The ``name``.
  public var description: String { name }

  /// Returns `true` if the names are equal.
  public static func == (left: Self, right: Self) -> Bool { left.name.utf8.elementsEqual(right.name.utf8) }

  /// Hashes the name.
  public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

extension ImageFormat {
  /// JPEG (ITU-T T.81).
  public static let jpeg = Self(name: "jpeg", mediaType: "image/jpeg", fileExtension: "jpg")
  /// PNG with a single picture.
  public static let png = Self(name: "png", mediaType: "image/png", fileExtension: "png")
  /// PNG with an animation.
  public static let apng = Self(name: "apng", mediaType: "image/apng", fileExtension: "png")
  /// GIF, 87a and 89a.
  public static let gif = Self(name: "gif", mediaType: "image/gif", fileExtension: "gif")
  /// WebP (RFC 9649).
  public static let webp = Self(name: "webp", mediaType: "image/webp", fileExtension: "webp")
  /// AVIF: AV1 in HEIF.
  public static let avif = Self(name: "avif", mediaType: "image/avif", fileExtension: "avif")
  /// HEIC and other HEIF: HEVC in HEIF.
  public static let heic = Self(name: "heic", mediaType: "image/heic", fileExtension: "heic")
  /// JPEG XL.
  public static let jxl = Self(name: "jxl", mediaType: "image/jxl", fileExtension: "jxl")
  /// TIFF, classic and BigTIFF, either byte order.
  public static let tiff = Self(name: "tiff", mediaType: "image/tiff", fileExtension: "tiff")
  /// Windows bitmap.
  public static let bmp = Self(name: "bmp", mediaType: "image/bmp", fileExtension: "bmp")
  /// Windows icon or cursor.
  public static let ico = Self(name: "ico", mediaType: "image/vnd.microsoft.icon", fileExtension: "ico")
  /// SVG, recognised by its root element.
  public static let svg = Self(name: "svg", mediaType: "image/svg+xml", fileExtension: "svg")
  /// The Quite OK Image format.
  public static let qoi = Self(name: "qoi", mediaType: "image/qoi", fileExtension: "qoi")
  /// JPEG 2000, recognised so that a message can name it.
  public static let jpeg2000 = Self(name: "jp2", mediaType: "image/jp2", fileExtension: "jp2")
  /// No file: pixels made by a program.
  public static let bitmap = Self(name: "bitmap", mediaType: "", fileExtension: "")

  /// The formats whose decoders are products of their own, since their libraries are large.
  package static let heavy: [ImageFormat] = [.avif, .heic, .jxl, .svg, .tiff]
}
