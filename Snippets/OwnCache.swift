// A cache of bytes of a program's own.

import Foundation
import Vitrine
import VitrineCaching

// snippet.show
/// A file for each value.
struct FolderCache: SimpleDataCache {
  let folder: URL

  func read(_ name: String) throws -> Data? {
    let file = folder.appending(path: name)
    return FileManager.default.fileExists(atPath: file.path()) ? try Data(contentsOf: file) : nil
  }

  func write(_ data: Data, _ name: String) throws {
    try data.write(to: folder.appending(path: name), options: .atomic)
  }

  func remove(_ prefix: String) throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path()) where name.hasPrefix(prefix) {
      try FileManager.default.removeItem(at: folder.appending(path: name))
    }
  }

  func removeAll() throws { try remove("") }
}
// snippet.hide

func pipeline(in folder: URL) -> ImagePipeline {
  // snippet.show
  let pipeline = ImagePipeline { $0.diskCache = AdaptedDataCache(FolderCache(folder: folder)) }
  // snippet.hide
  return pipeline
}
