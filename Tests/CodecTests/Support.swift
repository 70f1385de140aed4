import Testing
import VitrineAVIF
import VitrineHEIF
import VitrineJXL
import VitrineSVG
import VitrineTIFF
import VitrineImaging
import VitrineRuntime
import VitrineTesting

/// The external codecs and no others, added as a user adds them.
let registry: DecoderRegistry = {
  var registry = DecoderRegistry([])
  registry.add(.avif)
  registry.add(.heif)
  registry.add(.jxl)
  registry.add(.svg)
  registry.add(.tiff)
  return registry
}()

func decode(
  _ data: Data,
  _ size: TargetSize? = nil,
  _ change: (inout DecodeOptions) -> Void = { _ in },
) throws(ImageError) -> ImageContainer {
  var options = DecodeOptions(size: size)
  change(&options)
  return try registry.decode(data, options)
}

extension Bitmap {
  /// The pixels in rows, with nothing where nothing is seen: codecs may leave any colour there.
  var visible: Bitmap {
    .pixels(width: width, height: height, alpha: alpha) { x, y in self[x, y].w == 0 ? SIMD4() : self[x, y] }
  }
}
