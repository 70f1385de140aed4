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
  DecoderRegistry.standard.add(.avif)
  DecoderRegistry.standard.add(.heif)
  DecoderRegistry.standard.add(.jxl)
  DecoderRegistry.standard.add(.tiff)
  DecoderRegistry.standard.add(.svg)
  let data = try Data(contentsOf: URL(filePath: CommandLine.arguments[1]))
  print(try Bitmap(decoding: data, size: .pixels(300, 300)).width)
}
