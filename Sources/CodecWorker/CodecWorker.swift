import VitrineAVIF
import VitrineCodecProcess
import VitrineHEIF
import VitrineJXL
import VitrineRuntime
import VitrineSVG
import VitrineTIFF

/// The process in which `vitrine` decodes heavy formats.
///
/// It is not meant to be started by hand.
@main
enum CodecWorker {
  static func main() {
    // Ends with the program, even in the middle of a picture.
    let watch = WorkQueue(label: "watch", width: 1)
    _ = try? watch.enqueue { _ in
      var program = pollfd(fd: 0, events: 0, revents: 0)
      // The kernel writes only into `program`.
      while unsafe poll(&program, 1, -1) < 0, errno == EINTR {}
      exit(0)
    }
    CodecService(
      [AVIFDecoder(), HEIFDecoder(), JXLDecoder(), SVGDecoder(), TIFFDecoder()],
      on: 0,
    ).run()
  }
}
