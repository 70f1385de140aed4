package import VitrineRuntime

/// GIFs of 4x4 pixels, of which each frame has one colour.
package enum MovingGIF {
  private static let palette: [[UInt8]] = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [250, 250, 0]]

  /// The colour of a frame, counted from 0.
  package static func color(_ frame: Int) -> SIMD4<UInt8> {
    let color = palette[frame % 4]
    return SIMD4(color[0], color[1], color[2], 255)
  }

  /// Returns a file that plays once, each frame for a tenth of a second.
  package static func file(frameCount: Int) -> Data {
    var bytes = Array("GIF89a".utf8) + [4, 0, 4, 0, 0x81, 0, 0] + palette.flatMap { $0 }
    for frame in 0..<frameCount {
      bytes += [0x21, 0xF9, 4, 0, 10, 0, 0, 0, 0x2C, 0, 0, 0, 0, 4, 0, 4, 0, 0, 2]
      // Codes of three bits: one clears the table before every two pixels, so that none becomes longer.
      var codes: [Int] = []
      for pixel in 0..<16 {
        if pixel % 2 == 0 { codes.append(4) }
        codes.append(frame % 4)
      }
      codes.append(5)
      var packed: [UInt8] = []
      var (bits, count) = (0, 0)
      for code in codes {
        bits |= code << count
        count += 3
        while count >= 8 {
          packed.append(UInt8(bits & 255))
          bits >>= 8
          count -= 8
        }
      }
      packed.append(UInt8(bits & 255))
      bytes += [UInt8(packed.count)] + packed + [0]
    }
    return Data(bytes + [0x3B])
  }
}
