// Changes the pixels of images.

import Foundation
import Vitrine

func processed(_ url: URL) -> ImageRequest {
  // snippet.show
  var request = ImageRequest(url: url, size: .points(150, 150, .fill, scale: 2))
  request.processors = [
    .smartCrop(aspectRatio: 1),
    .roundedCorners(radius: .points(16)),
    .custom(id: "white background") { $0.flattenedOverWhite() },
  ]
  // snippet.hide
  return request
}
