import VitrineImaging
import VitrineRuntime

#if CODEC_PROCESS
import VitrineCodecProcess
#endif

/// The formats whose libraries would slow down every start of the tool.
enum HeavyCodecs {
  static let formats: [ImageFormat] = [.avif, .heic, .jxl, .svg, .tiff]

  /// The decoder for them, the program `vitrine-codecs`; `nil` if that is not in the folder of this one.
  fileprivate static var decoder: (any ImageDecoder)? {
    #if CODEC_PROCESS
    var path = [CChar](repeating: 0, count: 4096)
    // The given count leaves room for the terminating zero.
    let count = unsafe readlink("/proc/self/exe", &path, path.count - 1)
    guard count > 0, let slash = path[..<count].lastIndex(of: CChar(UInt8(ascii: "/"))) else { return nil }
    let folder = ByteString(bytes: path[...slash].map { UInt8(bitPattern: $0) })
    return ProcessDecoder(folder + "vitrine-codecs", formats: formats)
    #else
    return nil
    #endif
  }
}

extension DecoderRegistry {
  /// The decoders of the tool.
  static let ofTool: DecoderRegistry = {
    var decoders = DecoderRegistry.standard
    if let decoder = HeavyCodecs.decoder { decoders.add(decoder) }
    return decoders
  }()
}
