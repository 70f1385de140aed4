import AppKit
import Testing
import UIKit
import Vitrine
import VitrineApple
import VitrineTestSupport
import VitrineTesting

/// Images that have the tint of their view for their colours.
@MainActor
@Suite(.patient)
struct TemplateTests {
  private let setting: Setting
  private let history = History()

  init() throws { setting = try Setting() }

  private func load(_ loader: ImageViewLoader, asTemplate: Bool = true) async {
    loader.pipeline = setting.pipeline
    loader.showsTemplates = asTemplate
    loader.onChange = { [history] in history.note($0) }
    loader.slot.isVisible = true
    loader.load(Setting.request(Setting.cat))
    await history.settled()
  }

  @Test
  func anImageViewOfUIKitShowsThem() async {
    let view = UIImageView(frame: CGRect(x: 0, y: 0, width: 20, height: 15))
    await load(view.vitrine)
    #expect(view.image?.renderingMode == .alwaysTemplate)
  }

  @Test
  func anImageViewOfAppKitShowsThem() async {
    let view = NSImageView(frame: CGRect(x: 0, y: 0, width: 20, height: 15))
    await load(view.vitrine)
    #expect(view.image?.isTemplate == true)
  }

  @Test
  func viewsWithLayersShowThem() async {
    let views = (RemoteImageView(setting.pipeline), MacRemoteImageView(setting.pipeline))
    await load(views.0.vitrine)
    await load(views.1.vitrine)
    #expect(views.0.imageView.image?.renderingMode == .alwaysTemplate)
    #expect(views.1.imageView.image?.isTemplate == true)
  }

  @Test
  func otherImagesKeepTheirColours() async {
    let view = UIImageView(frame: CGRect(x: 0, y: 0, width: 20, height: 15))
    await load(view.vitrine, asTemplate: false)
    #expect(view.image?.renderingMode == .automatic)
  }
}
