import VitrineImaging
import VitrineRuntime

/// The sources of a gallery: folders, files and URLs.
package struct GallerySources: Sendable, Equatable {
  /// The folders, all of whose pictures are shown, and which are watched.
  package var folders: [String] = []
  /// Pictures that are shown by themselves.
  package var items: [GalleryItem] = []
  /// True if the pictures of the folders within are shown, too, in place of these folders.
  package var isRecursive = false
  /// The picture to open at once.
  package var opened: ItemID?
  /// Messages about arguments that are neither pictures nor folders nor lists.
  package private(set) var problems: [String] = []

  package init() {}

  /// True if there is nothing.
  package var isEmpty: Bool { folders.isEmpty && items.isEmpty }

  /// Finds out what the arguments are; blocks.
  ///
  /// One picture alone stands for its folder, and is opened in it. A text file is a list of URLs or paths, one a line.
  /// Files and folders that do not exist are left out, with a message in ``problems``.
  package init(_ arguments: [String]) {
    var seen: Set<ItemID> = []
    for argument in arguments { add(argument, &seen, readsLists: true) }
    if arguments.count == 1, folders.isEmpty, items.count == 1, let path = items[0].path, let folder = items[0].folder {
      folders = [folder]
      (items, opened) = ([], ItemID(path))
    }
  }

  /// Makes the paths that GTK makes of arguments.
  ///
  /// - Parameters:
  ///   - arguments: The words of the command line.
  ///   - folder: The folder of the process.
  /// - Returns: The paths; `nil` if an argument is no plain path.
  package static func paths(_ arguments: [String], in folder: String) -> [String]? {
    var paths: [String] = []
    for argument in arguments {
      let steps = argument.split(separator: "/")
      // GTK tidies up such paths, and keeps URLs as they are.
      guard !argument.isEmpty, !argument.contains("//"), !steps.contains("."), !steps.contains(".."),
        argument.hasPrefix("/") || !argument.contains(":")
      else { return nil }
      let path = argument.hasPrefix("/") ? argument : (folder.hasSuffix("/") ? folder : folder + "/") + argument
      paths.append(path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path)
    }
    return paths
  }

  private mutating func add(_ argument: String, _ seen: inout Set<ItemID>, readsLists: Bool) {
    guard let place = PastedText.place(argument) else { return }
    switch place {
    case .folder: break
    case .url:
      if seen.insert(ItemID(argument)).inserted { items.append(GalleryItem(place)) }
    case .file(let path):
      guard let status = ByteString(fileText: path).status() else {
        if readsLists { problems.append("\(path.readablePath): \(FileError(code: ENOENT))") }
        return
      }
      guard seen.insert(ItemID(path)).inserted else { return }
      if status.kind == S_IFDIR {
        folders.append(path)
      } else if let item = FolderListing.item(at: path) {
        items.append(item)
      } else if readsLists, status.kind == S_IFREG, status.st_size < PastedText.sizeLimit,
        let data = try? FileContents.at(ByteString(fileText: path)), let text = String(validating: data, as: UTF8.self)
      {
        for place in PastedText.places(in: text) { add(place.text, &seen, readsLists: false) }
      }
      if readsLists, folders.isEmpty, items.isEmpty {
        problems.append("\(path.readablePath): it is no picture, and names none")
      }
    }
  }

  /// Returns all pictures; blocks.
  ///
  /// - Parameter visit: Called with a folder, and with each one within it before that is listed, if they are.
  /// - Returns: The pictures, and the messages about folders that cannot be listed.
  package func listed(
    visit: (_ folder: String, _ inner: String) -> Void = { _, _ in }
  ) -> (items: [GalleryItem], problems: [String]) {
    var problems = problems
    var all = items
    for folder in folders {
      do throws(FolderListing.Failure) {
        all +=
          isRecursive
          ? try FolderListing.allItems(of: folder) { visit(folder, $0) }
          : try FolderListing.items(of: folder, withFolders: true)
      } catch {
        problems.append(error.description)
      }
    }
    return (all, problems)
  }
}

/// Text from the clipboard, from another program, or from a list: files and URLs, one a line.
package enum PastedText {
  /// The largest list that is read, in bytes.
  static let sizeLimit = 16 << 20

  /// Returns the places that a text names, without lines that are none and comments, which begin with `#`.
  package static func places(in text: String) -> [GalleryItem.Place] {
    text.split(whereSeparator: \.isNewline).compactMap { place(String($0)) }
  }

  /// Returns the lines of a text that name places, as ``GallerySources/init(_:)`` takes them.
  package static func lines(in text: String) -> [String] { places(in: text).map(\.text) }

  /// Returns the place that a line names: an http, https or file URL, or an absolute path.
  static func place(_ line: String) -> GalleryItem.Place? {
    let text = line.trimmingPrefix { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed()
    let line = String(Array(text))
    let lower = line.prefix(8).lowercased()
    if lower.hasPrefix("http://") || lower.hasPrefix("https://") {
      return line.split(separator: "/").count > 1 ? .url(line) : nil
    }
    if lower.hasPrefix("file://") {
      // Of this machine, which has no name or this one.
      let rest = line.dropFirst(7)
      let path = rest.hasPrefix("localhost/") ? rest.dropFirst(9) : rest
      guard path.hasPrefix("/") else { return nil }
      return String(path).bytesWithoutPercentEncoding.map { .file(cleaned($0.fileText)) }
    }
    return line.hasPrefix("/") ? .file(cleaned(line)) : nil
  }

  private static func cleaned(_ path: String) -> String {
    path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
  }
}

extension GalleryItem.Place {
  /// The path or the URL.
  package var text: String {
    switch self {
    case .file(let text), .url(let text), .folder(let text): text
    }
  }
}
