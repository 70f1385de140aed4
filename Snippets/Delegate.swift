// Rewrites requests, chooses decoders, and decides what is kept.

import Foundation
import Vitrine

// snippet.show
struct House: PipelineDelegate {
  let decodersOfScans: DecoderRegistry

  // Before the request has keys, so look-ups, prefetching and the caches all see the result.
  func willLoad(_ request: ImageRequest) -> ImageRequest {
    guard let url = request.url, url.host() == "images.example.org" else { return request }
    var request = request
    request.source = .url(url.absoluteString.replacingOccurrences(of: "https://images.", with: "https://images-eu."))
    return request
  }

  // Little-endian TIFF.
  func decoders(for request: ImageRequest, firstBytes: Data) -> DecoderRegistry? {
    firstBytes.starts(with: [0x49, 0x49, 0x2A, 0x00]) ? decodersOfScans : nil
  }

  // Nothing private reaches the disk: neither the original nor the finished image.
  func willStore(_ data: Data, for request: ImageRequest, response: HTTPResponse) -> Data? {
    request.cachePartition == nil ? data : nil
  }

  func storesFinished(_ image: ImageResponse, for request: ImageRequest) -> Bool { request.cachePartition == nil }
}
// snippet.hide

func pipeline(scans: DecoderRegistry) -> ImagePipeline {
  // snippet.show
  let pipeline = ImagePipeline {
    $0.delegate = House(decodersOfScans: scans)
  }
  // snippet.hide
  return pipeline
}
