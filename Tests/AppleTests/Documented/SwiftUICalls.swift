// The calls of SwiftUI and Combine that stand in VitrineApple.md, so that they compile.

import Combine
import SwiftUI
import Vitrine
import VitrineApple

struct Portrait: View {
  let url: URL

  var body: some View {
    RemoteImage(url) { phase in
      switch phase {
      case .empty: ProgressView()
      case .preview(let image), .success(let image, _): image.resizable().scaledToFill()
      case .failure: Image(systemName: "photo")
      }
    }
    .frame(width: 300, height: 200)
  }
}

struct Album: View {
  let url: URL
  let pipeline: ImagePipeline

  var body: some View {
    RemoteImage(url) { phase in phase.image?.resizable() }
      .whenLeft(.lower)
      .environment(\.imagePipeline, pipeline)
      .allowedDynamicRange(.constrainedHigh)
  }
}

struct Styled: View {
  let url: URL

  var body: some View {
    RemoteImage(url, style: { $0.resizable().scaledToFill() }) {
      ProgressView()
    } failure: { _ in
      Image(systemName: "photo")
    }
  }
}

@MainActor
func subscribe(_ url: URL, _ pipeline: ImagePipeline, _ show: @escaping (Bitmap) -> Void) -> AnyCancellable {
  pipeline.publisher(for: url, onMain: true)
    .sink(receiveCompletion: { _ in }, receiveValue: { show($0.image) })
}

@MainActor
func observe(_ request: ImageRequest) -> ImageLoader {
  let loader = ImageLoader()
  loader.load(request)
  return loader
}
