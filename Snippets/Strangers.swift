// Takes URLs and files from strangers, within bounds.

#if canImport(VitrineSandbox)
import Foundation
import Vitrine
import VitrineImaging
import VitrineSandbox

// snippet.show
let pipeline = try ImagePipeline {
  // URLs: no private network, whatever a name or a redirect leads to, and no file: URL.
  $0.addressGuard = AddressGuard()
  $0.maxResponseBytes = 20_000_000
  $0.queueLimit = 200
  // Files: limits that are checked before they cost memory, and the time between rows.
  $0.decodeLimits.pixelCount = 40_000_000
  $0.decodeLimits.memoryByteCount = 200_000_000
  $0.decodeLimits.frameCount = 500
  $0.decodeLimits.timeLimit = .seconds(10)
  // Decoders: processes without files, network or rights.
  $0.decoders = try .sandboxed()
}

/// The status to answer with, the image if there is one, and the message for the stranger.
func answer(_ request: ImageRequest) async -> (status: Int, image: Bitmap?, message: String) {
  do {
    return (200, try await pipeline.image(for: request), "")
  } catch {
    let status =
      switch (error.code, (error.cause as? ImageError)?.code) {
      case (.overloaded, _): 503
      case (.forbidden, _): 403
      case (.tooLarge, _), (_, .overLimit): 413
      case (.undecodable, _): 422
      default: 502
      }
    return (status, nil, error.detail)
  }
}

func answer(upload: Data) async -> (status: Int, image: Bitmap?, message: String) {
  guard upload.count <= 20_000_000 else { return (413, nil, "more than 20 MB") }
  return await answer(ImageRequest(.data(upload, id: UUID().uuidString), size: .pixels(800, 800)))
}
// snippet.hide
#endif
