import VitrineRuntime

/// A picture of the gallery, a file or a URL, or a folder of pictures.
package struct GalleryItem: Sendable, Identifiable, Equatable {
  /// The place of a picture's bytes.
  package enum Place: Sendable, Hashable {
    /// A file, by its absolute path.
    case file(String)
    /// An http or https URL.
    case url(String)
    /// A folder, by its absolute path.
    case folder(String)

    /// Two are equal if their bytes are.
    package static func == (one: Self, other: Self) -> Bool {
      switch (one, other) {
      case (.file(let one), .file(let other)), (.url(let one), .url(let other)),
        (.folder(let one), .folder(let other)):
        ItemID(one) == ItemID(other)
      default: false
      }
    }

    package func hash(into hasher: inout Hasher) { ItemID(text).hash(into: &hasher) }
  }

  /// The place of its bytes.
  package let place: Place
  /// The name that is shown and searched.
  package let name: String
  /// The number of bytes; `nil` for a URL.
  package let byteCount: Int?
  /// The time of the last change, in nanoseconds since 1970; `nil` for a URL.
  package let modified: Int64?
  /// The time at which the photograph was taken, in nanoseconds since 1970 of the camera's clock; `nil` until it was read,
  /// and for a picture without one.
  package var taken: Int64?
  /// The key by which names are sorted.
  let nameKey: NameKey

  package init(_ place: Place, byteCount: Int? = nil, modified: Int64? = nil) {
    (self.place, self.byteCount, self.modified) = (place, byteCount, modified)
    switch place {
    case .file(let path), .folder(let path):
      // Of 20,000 files at once: bytes are faster than characters.
      name =
        path.utf8.lastIndex(of: UInt8(ascii: "/"))
        .map { String(path[path.utf8.index(after: $0)...]).readablePath } ?? path
    case .url(let text):
      // What follows the path is for the server.
      let path = text.prefix { $0 != "?" && $0 != "#" }
      let last = path.split(separator: "/").dropFirst(2).last.map(String.init)
      name = last?.removingPercentEncoding ?? text
    }
    nameKey = NameKey(name)
  }

  /// The path or the URL, unique in a gallery.
  package var id: ItemID { ItemID(place.text) }

  /// True if it is a folder.
  package var isFolder: Bool { if case .folder = place { true } else { false } }

  /// The path of a file; `nil` for a URL or a folder.
  package var path: String? { if case .file(let path) = place { path } else { nil } }

  /// The path of the folder that a file or a folder is in; `nil` for a URL.
  package var folder: String? {
    let path: String
    switch place {
    case .file(let text), .folder(let text): path = text
    case .url: return nil
    }
    let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    return folder.isEmpty ? "/" : folder
  }

  /// The folder of a file, or the host of a URL, for people.
  package var container: String {
    switch place {
    case .file, .folder: return (folder ?? "/").readablePath
    case .url(let text):
      return text.split(separator: "/").dropFirst().first.map(String.init) ?? text
    }
  }

  /// A text that differs from one version of a file to the next; empty for a URL, whose server knows.
  package var version: String { modified.map { "\($0) \(byteCount ?? 0)" } ?? "" }

  /// Two are equal if nothing about them differs; the name follows from the place.
  package static func == (one: Self, other: Self) -> Bool {
    one.place == other.place && one.byteCount == other.byteCount && one.modified == other.modified
      && one.taken == other.taken
  }
}
