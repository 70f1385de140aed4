import VitrineAVIF
import VitrineConfinement
import VitrineHEIF
import VitrineImaging
import VitrineJXL
import VitrineRuntime
import VitrineSVG
import VitrineSandbox
import VitrineTIFF

/// The process in which a sandbox decodes or encodes images of one kind.
///
/// It is not meant to be started by hand. It opens the library of its kind, and confines itself: one for drawings can read
/// fonts, another no file at all.
@main
enum CodecWorker {
  static func main() {
    guard let kind = StartedProgram.arguments.first?.text.flatMap({ WorkerKind(rawValue: $0) }) else {
      return print("vitrine-codecs decodes images for programs with Vitrine, which start it.")
    }
    let (decoders, encoders) = open(kind)
    // Before the first thread, and before a stranger's first byte.
    let confinement = Confinement.enter(readsFonts: kind == .drawings)
    // Ends with the program, even in the middle of a picture.
    let watch = WorkQueue(label: "watch", width: 1)
    _ = try? watch.enqueue { _ in
      var program = pollfd(fd: 0, events: 0, revents: 0)
      // The kernel writes only into `program`.
      while unsafe poll(&program, 1, -1) < 0, errno == EINTR {}
      exit(0)
    }
    SandboxWorker(decoders, encoders: encoders, on: 0).run(missingLayers: Set(confinement.missing.keys))
  }

  /// Opens the library of a kind, since no file can be opened later; says no to images where it cannot be.
  private static func open(_ kind: WorkerKind) -> (DecoderRegistry, [SandboxedEncoder]) {
    switch kind {
    case .pictures: return (.standard, [])
    case .avif: return (decoders(with: AVIFDecoder(), from: AVIFDecoder.library), [])
    case .heif: return (decoders(with: HEIFDecoder(), from: HEIFDecoder.library), [])
    case .jxl: return (decoders(with: JXLDecoder(), from: JXLDecoder.library), [])
    case .tiff: return (decoders(with: TIFFDecoder(), from: TIFFDecoder.library), [])
    case .drawings:
      // Text needs fonts, and embedded pictures need plug-ins.
      SVGDecoder.loadPlugins()
      return (DecoderRegistry([SVGDecoder()]), [])
    case .avifEncoding:
      _ = AVIFDecoder.library
      return (DecoderRegistry([]), [avif])
    case .jxlEncoding:
      _ = JXLDecoder.library
      return (DecoderRegistry([]), [jxl])
    }
  }

  /// Adds a heavy decoder to the light ones; its library has been opened by being passed.
  private static func decoders(with heavy: any ImageDecoder, from _: CodecLibrary) -> DecoderRegistry {
    var decoders = DecoderRegistry.standard
    decoders.add(heavy)
    return decoders
  }

  private static let avif = SandboxedEncoder(AVIFEncoder()) { options in
    let other = AVIFOptions(quality: options.quality, isLossless: options.isLossless)
    return AVIFOptions(
      quality: other.quality,
      isLossless: other.isLossless,
      subsampling: options.subsampling ?? other.subsampling,
      speed: options.effort.map { 10 - $0 } ?? other.speed,
    )
  }

  private static let jxl = SandboxedEncoder(JXLEncoder()) { options in
    let other = JXLOptions(quality: options.quality, isLossless: options.isLossless)
    return JXLOptions(quality: other.quality, isLossless: other.isLossless, effort: options.effort ?? other.effort)
  }
}
