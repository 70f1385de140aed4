import Foundation
import Vitrine

/// A picture of the list.
struct Picture: Sendable {
  let path: String
  /// The length of its encoded bytes, unique in the list.
  ///
  /// As many zero bytes as are missing follow the bytes of the file, and do not change the picture.
  let byteCount: Int
  private let modified: Int
  private let number: Int

  /// The name of the file, without its extension.
  var name: String { URL(filePath: path).deletingPathExtension().lastPathComponent }

  /// Returns the cell's request of a server's URL, without a size; made anew each time, because ten thousand of them would
  /// take 10 MB.
  func request(_ root: String) -> ImageRequest {
    var request = ImageRequest(url: "\(root)\(number)")
    // The URL of the server is different in each run.
    request.cacheID = "bench-gtk \(path) \(modified) \(byteCount)"
    return request
  }

  /// Returns the cell's request, at `pixels` a side.
  func request(_ root: String, pixels: Int) -> ImageRequest {
    var request = request(root)
    request.size = .pixels(Double(pixels), Double(pixels), .fill)
    return request
  }

  /// Returns the pictures that the options name, in order; a file that is no picture is left out.
  static func all(_ options: Options) throws(Mistake) -> [Picture] {
    var files: [(path: String, byteCount: Int, modified: Int)] = []
    var paths: [String] = []
    for source in options.sources { paths += try Self.paths(source) }
    for path in paths {
      let start = try? FileHandle(forReadingFrom: URL(filePath: path)).read(upToCount: 4096)
      guard let start, ImageFormat.sniff(start) != nil,
        let facts = try? FileManager.default.attributesOfItem(atPath: path),
        let byteCount = facts[.size] as? Int, let modified = facts[.modificationDate] as? Date
      else { continue }
      files.append((path, byteCount, Int(modified.timeIntervalSince1970)))
    }
    guard !files.isEmpty else { throw Mistake(message: "the sources contain no pictures") }
    var taken: Set<Int> = []
    return (0..<(options.count ?? files.count)).map { number in
      let file = files[number % files.count]
      var length = file.byteCount
      while !taken.insert(length).inserted { length += 1 }
      return Picture(path: file.path, byteCount: length, modified: file.modified, number: number)
    }
  }

  /// Returns the files of a folder in order, or the file itself.
  private static func paths(_ source: String) throws(Mistake) -> [String] {
    guard FileManager.default.fileExists(atPath: source) else {
      throw Mistake(message: "'\(source)' does not exist")
    }
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: source) else { return [source] }
    return names.filter { !$0.hasPrefix(".") }.sorted().map { "\(source)/\($0)" }
  }
}
