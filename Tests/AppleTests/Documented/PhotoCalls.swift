// The calls about the user's own pictures, and about previews, that stand in the documentation of VitrineApple and
// VitrinePhotos, so that they compile.

#if !os(macOS) && !os(watchOS)
import Photos
import PhotosUI
import SwiftUI
import UIKit
import Vitrine
import VitrineApple
import VitrinePhotos

@MainActor
func load(_ asset: PHAsset, into imageView: UIImageView) {
  imageView.vitrine.load(ImageRequest(.photo(asset)))
}

struct PickedPicture: View {
  let item: PhotosPickerItem?
  let displayScale: Double

  var body: some View {
    RemoteImage(item.map { ImageRequest(.photo($0), size: .points(300, 200, scale: displayScale)) }) { phase in
      phase.image?.resizable()
    }
  }
}

func requests(_ asset: PHAsset, _ item: PhotosPickerItem) -> [ImageRequest] {
  [
    ImageRequest(.photo(asset)),
    ImageRequest(.photo(item)),
  ]
}

struct AlbumView: View {
  let album: [URL]

  init(_ album: [URL]) { self.album = album }

  var body: some View { RemoteImage(album.first) { $0.image?.resizable() } }
}

@MainActor
@ViewBuilder
func preview(_ album: [URL]) -> some View {
  AlbumView(album).environment(\.imagePipeline, .preview())
  AlbumView(album).environment(\.imagePipeline, .preview(.failure))  // what it shows offline
}
#endif
