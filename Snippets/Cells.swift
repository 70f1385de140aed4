// Shows images in cells that are recycled.

import Foundation
import Vitrine

// snippet.show
@MainActor
final class Cell: ImageDisplay {
  let slot = ImageSlot(pipeline: .shared)

  init(width: Int, height: Int) {
    slot.display = self
    slot.sizing = .view(.fill)
    slot.sizeChanged(width: width, height: height)  // device pixels
  }

  func bind(_ url: URL) {
    slot.load(url, placeholder: .color(.init(0xE0E0E0)), failure: .symbol("image-missing"))
  }

  func unbind() {
    slot.prepareForReuse()
  }

  func show(_ content: ImageSlot.Content) {
    switch content {
    case .image(let response, let fades): draw(response.image, fades: fades)
    case .preview(let preview): draw(preview.bitmap, fades: false)
    case .placeholder(let picture), .failure(_, shows: let picture): draw(picture)  // a colour, a bitmap or an icon
    case .empty: draw(nil, fades: false)
    }
  }
}
// snippet.hide

extension Cell {
  func draw(_ bitmap: Bitmap?, fades: Bool) {}
  func draw(_ picture: Placeholder) {}
}

@MainActor
func leave(_ slot: ImageSlot, _ request: ImageRequest) {
  // snippet.show
  slot.whenLeft = .lower  // from now on downloads are finished at low priority, for the cache
  slot.cancel()  // cancels the load in any case; the view keeps its picture
  ImagePipeline.shared.cancel(for: request)  // cancels the tasks of imageTask(for:) and image(for:), not those of views
  // snippet.hide
}

@MainActor
func bindState(_ url: URL) -> ImageLoader {
  // snippet.show
  let loader = ImageLoader()
  loader.load(ImageRequest(url: url, size: .pixels(300, 300)))
  // loader.image, loader.phase and loader.progress change, and their observers update.
  // snippet.hide
  return loader
}
