// Reads headers and metadata without decoding a pixel, and plays animations.

import Foundation
import VitrineImaging

func describe(_ data: Data) throws {
  // snippet.show
  let info = try DecoderRegistry.standard.info(of: data)
  print("\(info.format), \(info.width)x\(info.height) upright, \(info.frameCount) frames")
  // snippet.hide

  // snippet.show
  let metadata = try DecoderRegistry.standard.metadata(of: data)
  print(metadata.fields.model ?? "unknown camera", metadata.fields.fNumber ?? 0)
  // snippet.hide
}

func play(_ data: Data, show: (Bitmap, Double) async -> Void) async throws {
  // snippet.show
  var options = DecodeOptions(size: .pixels(300, 300))
  for (frame, delay) in try DecoderRegistry.standard.frameDelays(of: data).enumerated() {
    options.frame = frame
    await show(try await DecoderRegistry.standard.byDecoding(data, options).bitmap, delay)
  }
  // snippet.hide
}
