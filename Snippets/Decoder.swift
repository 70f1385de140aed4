// Adds formats.

#if canImport(VitrineAVIF)
import Foundation
import Vitrine
import VitrineImaging

#if canImport(VitrineAVIF)
import VitrineAVIF

func pipelineWithAVIF() -> ImagePipeline {
  // snippet.show
  let pipeline = ImagePipeline { $0.decoders.add(.avif) }
  // snippet.hide
  return pipeline
}
#endif

func image(_ data: Data, _ decoder: some ImageDecoder) throws -> Bitmap {
  // snippet.show
  // In a pipeline.
  let pipeline = ImagePipeline { $0.decoders.add(decoder) }

  // Without one.
  var decoders = DecoderRegistry.standard
  decoders.add(decoder)
  let image = try decoders.decode(data).bitmap
  // snippet.hide
  _ = pipeline
  return image
}
#endif
