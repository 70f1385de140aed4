package import VitrineImaging

/// The kind of images that a worker decodes or encodes, which decides what libraries it opens, and what it can read.
///
/// Heavy formats have workers of their own, since opening all libraries costs each start 17 ms. Encoders have others,
/// since one waits for frames that another decodes.
package enum WorkerKind: String, CaseIterable, Sendable {
  /// All formats but the heavy ones; no file can be read.
  case pictures
  case avif
  case heif
  case jxl
  case tiff
  /// SVG; fonts can be read, for text.
  case drawings
  case avifEncoding = "avif-encoding"
  case jxlEncoding = "jxl-encoding"

  /// Kinds that share the limit of concurrent images.
  enum Group {
    case pictures
    case drawings
    case encoding
  }

  /// The kind that decodes a format.
  package init(decoding format: ImageFormat) {
    switch format {
    case .avif: self = .avif
    case .heic: self = .heif
    case .jxl: self = .jxl
    case .tiff: self = .tiff
    case .svg: self = .drawings
    default: self = .pictures
    }
  }

  /// The kind that encodes a format.
  package init(encoding format: ImageFormat) { self = format == .jxl ? .jxlEncoding : .avifEncoding }

  /// The group of the kind.
  var group: Group {
    switch self {
    case .pictures, .avif, .heif, .jxl, .tiff: .pictures
    case .drawings: .drawings
    case .avifEncoding, .jxlEncoding: .encoding
    }
  }
}
