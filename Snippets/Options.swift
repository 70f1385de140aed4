// Decodes files from strangers within limits.

import Foundation
import VitrineImaging

func thumbnail(of upload: Data, deadline: Duration) -> Bitmap? {
  // snippet.show
  var options = DecodeOptions(size: .pixels(width: 1200))
  options.quality = .best
  options.limits.pixelCount = 40_000_000
  options.limits.timeLimit = deadline
  options.isCancelled = { Task.isCancelled }

  do {
    return try DecoderRegistry.standard.decode(upload, options).bitmap
  } catch {
    // Typed: an ImageError. "jpeg of 60000x60000 pixels, over the limit of 40 megapixels"
    print(error.code == .overLimit ? "Too large: \(error)" : "Not a picture: \(error)")
    return nil
  }
  // snippet.hide
}
