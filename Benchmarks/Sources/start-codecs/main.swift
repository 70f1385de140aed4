// Like start-imaging, with every codec.

import VitrineAVIF
import VitrineHEIF
import VitrineImaging
import VitrineJXL
import VitrineSVG
import VitrineTIFF

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

if CommandLine.arguments.count > 1 {
  var decoders = DecoderRegistry.standard
  decoders.add(.avif)
  decoders.add(.heif)
  decoders.add(.jxl)
  decoders.add(.tiff)
  decoders.add(.svg)
  let data = try Data(contentsOf: URL(filePath: CommandLine.arguments[1]))
  print(try decoders.decode(data, DecodeOptions(size: .pixels(300, 300))).bitmap.width)
}
