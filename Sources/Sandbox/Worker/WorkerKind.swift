package import VitrineImaging

/// The kind of images that a worker decodes or encodes, which decides what libraries it opens, and what it can read.
///
/// External formats have workers of their own, since opening all libraries costs each start 17 ms. Encoders have others,
/// since one waits for frames that another decodes.
package struct WorkerKind: Hashable, CaseIterable, CustomStringConvertible, Sendable {
  /// The external format; `nil` for all others, for which no file can be read.
  package let format: ImageFormat?
  /// A Boolean value that indicates whether it encodes.
  package let encodes: Bool

  /// The kind that decodes all formats but the external ones.
  package static let pictures = WorkerKind(nil, encodes: false)

  /// All kinds.
  package static let allCases =
    [pictures] + ImageFormat.external.map { WorkerKind($0, encodes: false) }
    + ImageFormat.writtenExternally.map { WorkerKind($0, encodes: true) }

  /// Kinds that share the limit of concurrent images.
  enum Group {
    case pictures
    case drawings
    case encoding
  }

  private init(_ format: ImageFormat?, encodes: Bool) { (self.format, self.encodes) = (format, encodes) }

  /// The kind that decodes a format.
  package init(decoding format: ImageFormat) { self.init(format.row.codec == nil ? nil : format, encodes: false) }

  /// The kind that encodes an external format.
  package init(encoding format: ImageFormat) { self.init(format, encodes: true) }

  /// The kind with a ``description``; `nil` if there is none.
  package init?(_ description: String) {
    guard let kind = Self.allCases.first(where: { $0.description == description }) else { return nil }
    self = kind
  }

  /// The argument of `vitrine-codecs`, such as `avif` or `avif-encoding`.
  package var description: String { (format?.name ?? "pictures") + (encodes ? "-encoding" : "") }

  /// A Boolean value that indicates whether it draws: text needs fonts, which can be read.
  package var isOfDrawings: Bool { format?.row.isDrawing ?? false }

  /// The group of the kind.
  var group: Group { encodes ? .encoding : isOfDrawings ? .drawings : .pictures }
}
