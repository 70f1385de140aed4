import VitrineImaging

/// The kinds of pictures among which a gallery shows one, told from the names.
package enum ItemKind: String, Sendable, CaseIterable, Codable {
  case all
  /// Pictures in the formats of cameras and phones.
  case photographs
  /// Drawings, screenshots, and pictures of the web.
  case graphics
  /// Pictures that move, as far as a name tells.
  case animations

  /// Returns `true` if a picture is of this kind.
  func includes(_ item: GalleryItem) -> Bool { self == .all || item.isFolder || Self.of(item.name) == self }

  private static func of(_ name: String) -> ItemKind {
    let ending = name.split(separator: ".").last.map { $0.lowercased() } ?? ""
    if ["gif", "apng", "avifs"].contains(ending) { return .animations }
    return photographic.contains(ending) ? .photographs : .graphics
  }

  private static let photographic = Set([ImageFormat.jpeg, .heic, .tiff].flatMap(\.fileExtensions) + ["avif"])
}

/// The time for which a slideshow shows each picture.
package enum SlideInterval: String, Sendable, CaseIterable, Codable {
  case three, five, ten, thirty

  package var seconds: Int {
    switch self {
    case .three: 3
    case .five: 5
    case .ten: 10
    case .thirty: 30
    }
  }
}
