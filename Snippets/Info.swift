// Reads headers and metadata without decoding a pixel.

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
