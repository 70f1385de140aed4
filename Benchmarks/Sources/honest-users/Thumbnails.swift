import Foundation
import Vitrine
import VitrineImaging
import VitrineSVG
import VitrineTIFF

/// The program under attack, as its author would write it: it makes thumbnails of what strangers name.
struct Thumbnails {
  let pipeline: ImagePipeline

  init(cache: URL, addressGuard: AddressGuard, decoders: [any ImageDecoder]) throws {
    pipeline = try ImagePipeline(.ephemeral) {
      $0.diskCache = try DiskCache(directory: cache, sizeLimit: 500_000_000)
      $0.addressGuard = addressGuard
      $0.allowsFileURLs = true
      $0.decoders.add(.svg)
      $0.decoders.add(.tiff)
      for decoder in decoders { $0.decoders.add(decoder) }
      // Hostile files occupy threads until the time limit.
      $0.maxConcurrentDecodes = 8
      $0.decodeLimits.timeLimit = .seconds(1)
    }
  }

  func thumbnail(of url: URL, from access: CacheAccess = .all) async throws -> Data {
    var request = ImageRequest(url: url, size: .pixels(300, 300))
    request.cacheAccess = access
    return try await pipeline.image(for: request).encoded(as: .jpeg)
  }
}
