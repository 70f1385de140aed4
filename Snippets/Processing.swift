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

func cropped(_ request: inout ImageRequest, find: @escaping @Sendable (Bitmap) throws -> [SubjectRegion]) {
  // snippet.show
  let faces = ImageProcessor.customContainer(id: "faces") { image in
    var image = image
    image.subjects = try find(image.bitmap)  // fractions of the picture: SubjectRegion(.face, x: 0.6, y: 0.1, …)
    return image
  }
  request.processors = [faces, .smartCrop(aspectRatio: 1)]
  // snippet.hide
}
