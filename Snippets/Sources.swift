// Loads from more than one URL.

import Foundation
import Vitrine

func requests(_ url: URL, _ mirror: URL, _ bytes: Data) -> [ImageRequest] {
  // snippet.show
  let request = ImageRequest(.first(of: [.url(url), .url(mirror), .resource("missing.png")]))
  // snippet.hide
  // snippet.show
  let sized = ImageRequest(
    .url { size in "https://example.org/cat?w=\(Int(size?.width ?? 800))" },
    size: .pixels(300, 300),
  )
  // snippet.hide
  // snippet.show
  let file = ImageRequest(.file("photos/cat.jpg"))
  let data = ImageRequest(.data(bytes, id: "clipboard 1"))
  let closure = ImageRequest(.closure(id: "frame 12") { try await frame(12) })
  // snippet.hide
  return [request, sized, file, data, closure]
}

func frame(_ number: Int) async throws -> Data { Data() }
