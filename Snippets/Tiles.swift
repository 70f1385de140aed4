// Reads a picture of any size a tile at a time.

import Foundation
import Vitrine
import VitrineTiles

func show(_ bitmap: Bitmap) {}
func cut(_ url: URL) async throws {
  // snippet.show
  let picture = try await ImagePipeline.shared.tiledImage(for: url)
  for try await overview in picture.overviews(maximum: 1024) { show(overview) }
  let tile = try await picture.tile(TiledImage.Tile(level: 0, column: 3, row: 2))
  // snippet.hide
  show(tile)
}
