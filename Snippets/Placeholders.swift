// Shows another size or a hash of an image until it arrives.

import Foundation
import Vitrine

@MainActor
func show(_ url: URL, in slot: ImageSlot) {
  // snippet.show
  // A tap on a thumbnail: the thumbnail at once, then the photograph in its place, without a flash.
  slot.load(ImageRequest(url: url), placeholder: .cachedVariant(else: .color(.init(0x303030))))
  // snippet.hide
  // snippet.show
  slot.showsPreviews = true
  slot.animates = true
  // snippet.hide
}

@MainActor
func show(_ photo: Photo, in slot: ImageSlot) {
  // snippet.show
  // The small URL, unless its image is in memory, and then the large one in its place, without a flash.
  var photograph = ImageRequest(url: photo.url)
  photograph.placeholder = .request(ImageRequest(url: photo.thumbnail), else: .color(.init(0x303030)))
  slot.load(photograph)
  // snippet.hide
}

struct Photo {
  let url: URL
  let thumbnail: URL
  let hash: String
}

func request(for photo: Photo) -> ImageRequest {
  // snippet.show
  // 25 bytes that came with the URL: a blurred picture, over which the image fades in.
  var request = ImageRequest(url: photo.url)
  request.placeholder = .thumbHash(base64: photo.hash, else: .color(.init(0x303030)))
  // snippet.hide
  return request
}

func hash(of upload: Data) throws -> String {
  // snippet.show
  // On the server, once for each image. At a shell: vitrine info --hashes photo.jpg
  let hash = ThumbHash(try Bitmap(decoding: upload, size: .pixels(100, 100)))
  return hash.base64  // "1QcSHQRnh493V4dIh4eXh1h4kJUI"
  // snippet.hide
}

func look(for request: ImageRequest, show: (Bitmap) -> Void) {
  // snippet.show
  if let variant = ImagePipeline.shared.cachedVariant(for: request), variant.processing == .same {
    print(variant.pixelRatio < 1 ? "blurred" : "sharp")
    show(variant.image)
  }
  // snippet.hide
}
