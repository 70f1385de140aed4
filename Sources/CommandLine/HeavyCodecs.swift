import VitrineImaging
import VitrineRuntime

#if CODEC_PROCESS
import VitrineCodecProcess
#endif

/// The formats whose libraries would slow down every start of the tool.
enum HeavyCodecs {
  static let formats: [ImageFormat] = [.avif, .heic, .jxl, .svg, .tiff]

  /// Delegates their decoding to the program `vitrine-codecs`, if it lies beside this one.
  static func install() {
    #if CODEC_PROCESS
    var path = [CChar](repeating: 0, count: 4096)
    // The given count leaves room for the terminating zero.
    let count = unsafe readlink("/proc/self/exe", &path, path.count - 1)
    guard count > 0, let slash = path[..<count].lastIndex(of: CChar(UInt8(ascii: "/"))) else { return }
    let folder = ByteString(bytes: path[...slash].map { UInt8(bitPattern: $0) })
    guard let decoder = ProcessDecoder(folder + "vitrine-codecs", formats: formats) else { return }
    DecoderRegistry.standard.add(decoder)
    #endif
  }
}
