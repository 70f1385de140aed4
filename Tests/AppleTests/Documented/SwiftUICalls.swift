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

struct Turned: View {
  let url: URL

  var body: some View {
    RemoteImage(url) { $0.image?.resizable() }
      .whenLeft(.lower)  // a page that is turned back soon: its download goes on, behind those that are seen
  }
}

struct Styled: View {
  let url: URL

  var body: some View {
    RemoteImage(url, style: { $0.resizable().scaledToFill() }) {
      Color.gray
    } failure: { _ in
      Image(systemName: "photo")
    }
  }
}

@MainActor
final class Gallery {
  private var cancellables: Set<AnyCancellable> = []

  func load(_ request: ImageRequest, _ pipeline: ImagePipeline, _ show: @escaping (Bitmap) -> Void) {
    pipeline.publisher(for: request, onMain: true)
      .sink(receiveCompletion: { _ in }, receiveValue: { show($0.image) })
      .store(in: &cancellables)
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
