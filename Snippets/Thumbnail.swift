// Makes a thumbnail of a file.

import Foundation
import VitrineImaging

// snippet.show
let data = try Data(contentsOf: URL(filePath: "photo.jpg"))
let thumbnail = try Bitmap(decoding: data, size: .pixels(300, 300, .fill))
try thumbnail.encoded(as: .jpeg).write(to: URL(filePath: "thumbnail.jpg"))
// snippet.hide

func inBackground(_ data: Data, show: @escaping @Sendable (Bitmap) -> Void) async throws {
  // snippet.show
  // On a thread of its own, awaited.
  show(try await Bitmap.byDecoding(data, size: .pixels(300, 300)))

  // The same, with a callback.
  Bitmap.decode(data, size: .pixels(300, 300)) { result in
    if case .success(let bitmap) = result { show(bitmap) }
  }
  // snippet.hide
}
