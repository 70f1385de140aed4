import Foundation
import VitrineAVIF
import VitrineHEIF
import VitrineRuntime

@testable import VitrineImaging

private let registry = DecoderRegistry([JPEGDecoder(), AVIFDecoder(), HEIFDecoder()])

/// The parsers of gain maps: of the numbers alone, of each container whatever it is, and from a file into another one.
@Sendable
func gainMap(_ data: Data) {
  if let formula = GainMapFormula(xmp: data), formula.isValid {
    precondition(GainMapFormula(xmp: formula.xmp) != nil, "what is written is not read")
  }
  data.withUnsafeBytes { bytes in
    let reader = ByteReader(bytes)
    if let formula = GainMapFormula(iso: reader, base: .sRGB, alternate: .displayP3), formula.isValid {
      precondition(formula.gains.allSatisfy { $0.allSatisfy(\.isFinite) }, "a gain is no number")
    }
    for format in [ImageFormat.jpeg, .avif, .heic] {
      let info = ImageInfo(format: format, storedWidth: 64, storedHeight: 64)
      if let map = EmbeddedGainMap(reader, info) { precondition(map.formula.isValid && map.data.count <= data.count) }
    }
  }
  var options = DecodeOptions(size: .pixels(20, 20, .fill))
  (options.limits, options.dynamicRange) = (limits(), .high)
  guard let image = try? registry.decode(data, options), let map = image.gainMap else { return }
  precondition(map.bitmap.width <= image.bitmap.width && map.bitmap.height <= image.bitmap.height, "too large a map")
  _ = try? HighRangeBitmap(image.bitmap, map)
  guard let file = try? EncoderRegistry.standard.encode(image, as: .jpeg().metadata(.only(.gainMap))).data else {
    return
  }
  let again = try? registry.decode(file, options)
  precondition(again?.gainMap != nil, "the map that was written is not read")
}
