public import VitrineRuntime

/// Questions to Linux's codecs about files that ImageIO was given.
public enum StillCheck {
  /// Returns `true` if a file is one still picture and nothing of it is missing.
  public static func isWhole(_ data: Data) -> Bool {
    guard let info = try? DecoderRegistry.standard.info(of: data), info.frameCount == 1 else { return false }
    return (try? DecoderRegistry.standard.decode(data)) != nil
  }

  /// Returns the pixels of one frame, as Linux shows it.
  public static func pixels(of data: Data, frame: Int) -> [SIMD4<UInt8>]? {
    var options = DecodeOptions()
    options.frame = frame
    guard let bitmap = try? DecoderRegistry.standard.decode(data, options).bitmap else { return nil }
    return (0..<bitmap.height).flatMap { y in (0..<bitmap.width).map { bitmap[$0, y] } }
  }
}
