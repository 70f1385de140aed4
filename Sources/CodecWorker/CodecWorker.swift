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
    guard let kind = StartedProgram.arguments.first?.text.flatMap({ WorkerKind($0) }) else {
      return print("vitrine-codecs decodes images for programs with Vitrine, which start it.")
    }
    let (decoders, encoders, failure) = open(kind)
    // Before the first thread, and before a stranger's first byte.
    let confinement = Confinement.enter(readsFonts: kind.isOfDrawings)
    // Ends with the program, even in the middle of a picture.
    let watch = WorkQueue(label: "watch", width: 1)
    _ = try? watch.enqueue { _ in
      var program = pollfd(fd: 0, events: 0, revents: 0)
      // The kernel writes only into `program`.
      while unsafe poll(&program, 1, -1) < 0, errno == EINTR {}
      exit(0)
    }
    SandboxWorker(decoders, encoders: encoders, on: 0).run(
      missingLayers: Set(confinement.missing.keys),
      without: failure,
    )
  }

  /// A codec, whose library is opened before the process is confined: no file can be opened later.
  private struct Codec {
    let decoder: any ImageDecoder
    var encoder: SandboxedEncoder?
    let open: @Sendable () -> CodecLibrary
  }

  private static var codecs: [Codec] {
    [
      Codec(decoder: AVIFDecoder(), encoder: avif) { AVIFDecoder.library },
      Codec(decoder: HEIFDecoder()) { HEIFDecoder.library },
      Codec(decoder: JXLDecoder(), encoder: jxl) { JXLDecoder.library },
      Codec(decoder: TIFFDecoder()) { TIFFDecoder.library },
      // Text needs fonts, and embedded pictures need plug-ins.
      Codec(decoder: SVGDecoder()) {
        SVGDecoder.loadPlugins()
        return SVGDecoder.library
      },
    ]
  }

  /// Opens the library of a kind; if that fails, its images do.
  private static func open(_ kind: WorkerKind) -> (DecoderRegistry, [SandboxedEncoder], LibraryFailure?) {
    guard let format = kind.format, let codec = codecs.first(where: { $0.decoder.formats.contains(format) }) else {
      return (.standard, [], nil)
    }
    let failure = codec.open().failure
    guard !kind.encodes else { return (DecoderRegistry([]), [codec.encoder].compactMap { $0 }, failure) }
    // A file may change after the program has seen its format.
    var decoders = kind.isOfDrawings ? DecoderRegistry([]) : .standard
    decoders.add(codec.decoder)
    return (decoders, [], failure)
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
