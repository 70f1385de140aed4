import VitrineAVIF
import VitrineConfinement
import VitrineHEIF
import VitrineImaging
import VitrineJXL
import VitrineRuntime
import VitrineSVG
import VitrineSandbox
import VitrineTIFF

/// The process in which a sandbox decodes.
///
/// It is not meant to be started by hand. It confines itself: one for drawings can read fonts, another no file at all.
@main
enum CodecWorker {
  static func main() {
    // Text needs fonts, and embedded pictures need plug-ins.
    let draws = CommandLine.arguments.dropFirst().first == "drawings"
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
    SandboxWorker(decoders, on: 0).run(missingLayers: Set(confinement.missing.keys))
  }
}
