// uploads FILE...: makes avatars of strangers' files, within bounds, and says what a stranger may read.
import Foundation
import Vitrine
import VitrineImaging
import VitrineSandbox

@main
enum Uploads {
  static func answer(_ upload: Data, _ pipeline: ImagePipeline) async -> (status: Int, text: String, file: Data?) {
    guard upload.count <= 20_000_000 else { return (413, "more than 20 MB", nil) }
    let request = ImageRequest(.data(upload), size: .pixels(256, 256, .fill))
    do {
      return (200, "", try await pipeline.encoded(for: request, as: .webp()).data)
    } catch {
      switch (error.code, (error.cause as? ImageError)?.code) {
      case (.overloaded, _): return (503, error.detail, nil)
      case (_, .overLimit): return (413, error.detail, nil)
      default: return (422, error.detail, nil)
      }
    }
  }

  static func main() async throws {
    let pipeline = try ImagePipeline {
      $0.decodeLimits.pixelCount = 40_000_000
      $0.decodeLimits.frameCount = 500
      $0.decodeLimits.timeLimit = .seconds(10)
      $0.queueLimit = 200
      // Processes without files, network or rights; `vitrine-codecs` lies beside the program.
      $0.decoders = try .sandboxed()
    }
    for path in CommandLine.arguments.dropFirst() {
      let (status, text, file) = await answer(try Data(contentsOf: URL(filePath: path)), pipeline)
      print(path, status, file?.count ?? 0, text)
    }
  }
}
