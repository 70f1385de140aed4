// Shows the new picture after the one at a URL has changed.

import Foundation
import Vitrine

func change(_ avatar: Data, at url: URL, upload: (Data, URL) async throws -> Void) async throws {
  // snippet.show
  try await upload(avatar, url)
  await ImagePipeline.shared.refresh(url)  // the caches forget it; views keep the old picture until the new one arrives
  // snippet.hide
}

@MainActor
func show(_ newURL: URL, in slot: ImageSlot) {
  // snippet.show
  slot.load(newURL, placeholder: .keepCurrent)  // no flash of a placeholder between two pictures of one thing
  // snippet.hide
}
