// A thumbnail of a file, written as JPEG.

import Foundation
import VitrineImaging

// snippet.show
let data = try Data(contentsOf: URL(filePath: "photo.jpg"))
let thumbnail = try Bitmap(decoding: data, size: .pixels(300, 300, .fill))
try thumbnail.encoded(as: .jpeg).write(to: URL(filePath: "thumbnail.jpg"))
// snippet.hide
