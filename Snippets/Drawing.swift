// Makes a picture, draws on it, and writes on it.

import Vitrine
import VitrineText

func card(_ photo: Bitmap) throws -> Bitmap {
  // snippet.show
  var card = try Bitmap(width: 640, height: 480, color: .white)
  card.draw(photo, at: (x: 20, y: 20))
  let title = try Bitmap(text: "Sunset at sea", font: .serif, size: 36, width: 600, alignment: .center)
  card.draw(title, at: (x: (card.width - title.width) / 2, y: 420))

  // Pixels as values, and bytes in place: R, G, B and A, row after row.
  let negative = card.map { SIMD4(255 - $0.x, 255 - $0.y, 255 - $0.z, $0.w) }
  card.withMutableBytes { bytes in
    for x in 0..<640 { bytes[4 * x] = 0 }
  }
  // snippet.hide
  _ = negative
  return card
}

func captioned(_ request: ImageRequest) -> ImageRequest {
  var request = request
  // snippet.show
  request.processors = [
    .sepia(), .text("© Ada", font: .serif, size: .fraction(0.06), at: .bottomRight, margin: 16),
  ]
  // snippet.hide
  return request
}
