// The calls of FromOtherLibraries.md that are for Linux only.
#if canImport(VitrineGTK)
import Foundation
import Vitrine
import VitrineGTK

@MainActor
func show(_ url: URL, _ bitmap: Bitmap, _ pipeline: ImagePipeline) -> RemotePicture {
  let picture = RemotePicture(pipeline, width: 188, height: 188)
  picture.load(url)
  picture.load(url, placeholder: .image(bitmap), failure: .symbol("image-missing"))
  picture.load(url, placeholder: .keepCurrent)
  picture.slot.cancel()
  picture.slot.onProgress = { print($0.fraction) }
  picture.onChange = { content in print(content) }
  picture.slot.whenLeft = .lower
  picture.showsProgress = true
  picture.animates = true
  picture.showsRetry = true
  picture.retry()
  return picture
}

func configure(_ meter: some PipelineObserver) -> ImagePipeline {
  ImagePipeline {
    $0.networkAccess = { .expensive("metered") }
    $0.observers = [meter]
  }
}
#endif
