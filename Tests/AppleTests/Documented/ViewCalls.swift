// The calls of views that stand in Sources/Apple/VitrineApple.docc/VitrineApple.md, so that they compile. They are not
// run. `make lint` compares the two.

#if !os(macOS) && !os(watchOS)
import Symbols
import UIKit
import Vitrine
import VitrineApple

@MainActor
func load(_ imageView: UIImageView, _ url: URL, _ request: ImageRequest, _ text: String, _ picture: UIImage) {
  imageView.vitrine.load(url, placeholder: .resource("cat-outline"), failure: .symbol("photo"))
  imageView.vitrine.load(url)
  imageView.vitrine.load(request)
  imageView.vitrine.load(url, placeholder: .symbol("photo"))
  imageView.vitrine.load(text, placeholder: .image(picture), failure: .resource("broken-heart"))
  imageView.vitrine.load(url, placeholder: .image(picture), failure: .symbol("photo"))
  imageView.vitrine.load(url, placeholder: .keepCurrent)
  imageView.vitrine.load(url, transition: .fade(0.3))
  imageView.vitrine.load(url, placeholder: .cached)
}

@MainActor
func loadParts(_ button: UIButton, _ attachment: NSTextAttachment, in textView: UITextView, _ icon: URL, _ emoji: URL) {
  let url = icon
  button.vitrine.showsTemplates = true  // the icon has the tint of the button
  button.vitrine.load(icon, placeholder: .symbol("photo"))
  button.vitrineBackground(for: .selected).load(url)
  attachment.vitrine(in: textView).load(emoji)
}

@MainActor
func makeAttachment(_ emoji: URL, in textView: UITextView) {
  let attachment = NSTextAttachment()
  attachment.bounds = CGRect(x: 0, y: -4, width: 20, height: 20)
  attachment.vitrine(in: textView).load(emoji)
}

@MainActor
func control(_ imageView: UIImageView, _ bar: UIView, _ pipeline: ImagePipeline) {
  imageView.vitrine.cancel()
  imageView.vitrine.clear()
  imageView.vitrine.pipeline = pipeline
  imageView.vitrine.slot.retry()
  imageView.vitrine.slot.showsPreviews = true
  imageView.vitrine.slot.whenLeft = .lower
  imageView.vitrine.slot.onProgress = { bar.alpha = $0.fraction }
  imageView.vitrine.onChange = { content in print(content) }
  imageView.vitrine.dynamicRange = .constrainedHigh  // highlights glow, and do not outshine what is beside them
}

@MainActor
func showSymbols(_ imageView: UIImageView, _ url: URL) {
  let loading = Symbol("photo", configuration: UIImage.SymbolConfiguration(textStyle: .title1))
  let drawn = Symbol("photo", effects: [Symbol.Effect(.pulse), Symbol.Effect(.drawOn)])
  let network = Symbol("wifi", variableValue: 0.5)
  imageView.vitrine.load(url, placeholder: .symbol(loading), failure: .symbol(drawn))
  imageView.vitrine.load(url, placeholder: .symbol(network))
  imageView.preferredSymbolConfiguration = UIImage.SymbolConfiguration(weight: .bold)
}

@MainActor
func showSymbols(_ url: URL, _ imageView: UIImageView) {
  let loading = Symbol("photo", configuration: .init(textStyle: .title1), effects: [Symbol.Effect(.pulse)])
  imageView.vitrine.load(url, placeholder: .symbol(loading), failure: .symbol("photo.badge.exclamationmark"))
}

@MainActor
func makeViews(_ url: URL, _ request: ImageRequest, in cell: UICollectionViewCell) -> RemoteImageView {
  let view = RemoteImageView()
  view.vitrine.load(url, placeholder: .symbol("photo"))
  view.vitrine.animates = false
  cell.contentConfiguration = RemoteImageConfiguration(request, placeholder: .color(.init(0xE0E0E0)))
  return view
}

@MainActor
func makeView(_ url: URL, _ hash: ThumbHash) -> RemoteImageView {
  let view = RemoteImageView()
  view.vitrine.load(url, placeholder: .thumbHash(hash), failure: .symbol("photo"))
  return view
}

struct Photo {
  let request: ImageRequest
}

@MainActor
func prefetch(_ photos: [Photo], _ tableView: UITableView, _ collectionView: UICollectionView) -> ImagePrefetchSource {
  let source = ImagePrefetchSource { path in photos[path.item].request }
  collectionView.prefetchDataSource = source  // a weak reference: keep the source
  tableView.prefetchDataSource = source
  return source
}

func convert(_ image: UIImage) async throws {
  _ = try image.decoded(at: .pixels(300, 300))
  _ = try await image.byDecoding(at: .pixels(300, 300))
  image.decode(at: .pixels(300, 300)) { result in print(result) }
  let bitmap = try Bitmap(image)
  _ = UIImage(bitmap, scale: 2)
}
#endif
