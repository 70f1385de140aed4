import AppKit
import Testing
import UIKit
import Vitrine
import VitrineApple
import VitrineTestSupport
import VitrineTesting

/// Pictures of the asset catalogue that stand for an image, by their names.
@MainActor
@Suite(.patient)
struct CatalogueTests {
  private let setting: Setting
  private let history = History()

  init() throws {
    setting = try Setting()
    let pixels = try #require(Bitmap.testPattern(width: 8, height: 8).cgImage)
    for name in ["cat-outline", "broken-heart"] {
      UIImage._register(UIImage(cgImage: pixels), named: name)
      NSImage._register(pixels, size: CGSize(width: 8, height: 8), named: name)
    }
  }

  private func load(_ loader: ImageViewLoader) {
    loader.pipeline = setting.pipeline
    loader.onChange = { [history] in history.note($0) }
    loader.load(Setting.missing, placeholder: .resource("cat-outline"), failure: .resource("broken-heart"))
  }

  @Test
  func anImageViewOfUIKitShowsThem() async {
    let view = UIImageView(frame: CGRect(x: 0, y: 0, width: 20, height: 15))
    load(view.vitrine)
    #expect(view.image?._facts.assetName == "cat-outline")
    await history.settled()
    #expect(view.image?._facts.assetName == "broken-heart")
  }

  @Test
  func anImageViewOfAppKitShowsThem() async {
    let view = NSImageView(frame: CGRect(x: 0, y: 0, width: 20, height: 15))
    load(view.vitrine)
    #expect(view.image?.name() == "cat-outline")
    await history.settled()
    #expect(view.image?.name() == "broken-heart")
  }

  @Test
  func viewsWithLayersShowThemBeneathTheImage() async {
    let views = (RemoteImageView(setting.pipeline), MacRemoteImageView(setting.pipeline))
    for loader in [views.0.vitrine, views.1.vitrine] {
      loader.slot.isVisible = true
      loader.load(Setting.request(Setting.missing), placeholder: .resource("cat-outline"))
    }
    #expect(views.0.placeholderView.image?._facts.assetName == "cat-outline")
    #expect(views.1.placeholderView.image?.name() == "cat-outline")
    #expect(views.0.imageView.image == nil)
    #expect(views.1.imageView.image == nil)
  }

  @Test
  func aNameThatIsNotThereShowsNothing() {
    let view = UIImageView(frame: CGRect(x: 0, y: 0, width: 20, height: 15))
    view.vitrine.pipeline = setting.pipeline
    view.vitrine.load(Setting.slow, placeholder: .resource("no-such-picture"))
    #expect(view.image == nil)
  }
}
