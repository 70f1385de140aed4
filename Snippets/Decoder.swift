// Adds formats.

import Foundation
import Vitrine

#if canImport(VitrineAVIF)
import VitrineAVIF

func pipelineWithAVIF() -> ImagePipeline {
  // snippet.show
  let pipeline = ImagePipeline { $0.decoders.add(.avif) }
  // snippet.hide
  return pipeline
}
#endif

func install(_ decoder: some ImageDecoder) {
  // snippet.show
  DecoderRegistry.standard.add(decoder)
  // snippet.hide
}
