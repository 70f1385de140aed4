import VitrineAVIF
import VitrineConfinement
import VitrineHEIF
import VitrineImaging
import VitrineJXL
import VitrineRuntime
import VitrineSVG
import VitrineSandbox
import VitrineTIFF

/// The process in which a sandbox decodes or encodes.
///
/// It is not meant to be started by hand. It confines itself: one for drawings can read fonts, another no file at all.
@main
enum CodecWorker {
  static func main() {
    // Text needs fonts, and embedded pictures need plug-ins.
    let kind = CommandLine.arguments.dropFirst().first
    let draws = kind == "drawings"
    if draws { SVGDecoder.loadPlugins() }
    // Before the first thread, and before a stranger's first byte.
    let confinement = Confinement.enter(readsFonts: draws)
    // Ends with the program, even in the middle of a picture.
    let watch = WorkQueue(label: "watch", width: 1)
    _ = try? watch.enqueue { _ in
      var program = pollfd(fd: 0, events: 0, revents: 0)
      // The kernel writes only into `program`.
      while unsafe poll(&program, 1, -1) < 0, errno == EINTR {}
      exit(0)
    }
    let heavy: [any ImageDecoder] = [AVIFDecoder(), HEIFDecoder(), JXLDecoder(), TIFFDecoder()]
    var decoders = draws ? DecoderRegistry([SVGDecoder()]) : .standard
    if !draws { for decoder in heavy { decoders.add(decoder) } }
    let encodes = kind == "encoding"
    SandboxWorker(encodes ? DecoderRegistry([]) : decoders, encoders: encodes ? encoders : [], on: 0)
      .run(missingLayers: Set(confinement.missing.keys))
  }

  private static let encoders = [
    SandboxedEncoder(AVIFEncoder()) { options in
      let other = AVIFOptions(quality: options.quality, isLossless: options.isLossless)
      return AVIFOptions(
        quality: other.quality,
        isLossless: other.isLossless,
        subsampling: options.subsampling ?? other.subsampling,
        speed: options.effort.map { 10 - $0 } ?? other.speed,
      )
    },
    SandboxedEncoder(JXLEncoder()) { options in
      let other = JXLOptions(quality: options.quality, isLossless: options.isLossless)
      return JXLOptions(
        quality: other.quality,
        isLossless: other.isLossless,
        effort: options.effort ?? other.effort,
      )
    },
  ]
}
