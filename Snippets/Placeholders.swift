// Shows another size of an image until it arrives.

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
