// Loads with a callback, and loads bytes.

import Foundation
import Vitrine

func load(_ request: ImageRequest, show: @escaping @Sendable (Bitmap) -> Void) {
  // snippet.show
  let task = ImagePipeline.shared.loadImage(for: request) { result in
    switch result {
    case .success(let response): show(response.image)
    case .failure(let error): print(error)
    }
  }
  task.priority = .veryHigh  // tapped
  task.cancel()  // scrolled away
  // snippet.hide
}

@MainActor
func load(_ request: ImageRequest, from pipeline: ImagePipeline, show: @escaping (Bitmap) -> Void) {
  // snippet.show
  pipeline.loadImage(for: request, on: #isolation) { result in
    if case .success(let response) = result { show(response.image) }
  }
  // snippet.hide
}

func bytes(of url: URL) async throws -> Data {
  // snippet.show
  let data = try await ImagePipeline.shared.data(for: url)
  // snippet.hide
  return data
}

func response(of url: URL) async throws -> DataResponse {
  // snippet.show
  let task = ImagePipeline.shared.dataTask(for: url)
  for await case .progress(let progress) in task.events { print(progress.fraction) }
  let response = try await task.response
  print(response.origin, response.status ?? 0, response.headers["Content-Type"] ?? "")  // network 200 image/jpeg
  // snippet.hide
  return response
}
