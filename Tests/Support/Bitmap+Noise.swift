package import VitrineImaging
import VitrineTesting

extension Bitmap {
  /// What no codec makes small: three bytes a pixel.
  package static func noise(width: Int, height: Int, seed: UInt64) -> Bitmap {
    .pixels(width: width, height: height, alpha: .opaque) { x, y in
      var noise = (UInt64(truncatingIfNeeded: y * width + x + 1) &+ seed << 40) &* 0x9E37_79B9_7F4A_7C15
      noise = (noise ^ (noise >> 30)) &* 0xBF58_476D_1CE4_E5B9
      noise = (noise ^ (noise >> 27)) &* 0x94D0_49BB_1331_11EB
      return SIMD4(UInt8(noise >> 56), UInt8(noise >> 48 & 255), UInt8(noise >> 40 & 255), 255)
    }
  }
}
