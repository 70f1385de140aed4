import AppKit
import Testing
import UIKit
import Vitrine
import VitrineApple
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

extension ClockTests {
  /// The views of Vitrine's own, of UIKit and of AppKit.
  @MainActor
  @Suite(.patient)
  struct RemoteImageViewTests {
    private let setting: Setting
    private let history = History()
    private let window = UIWindow(frame: CGRect(x: 0, y: 0, width: 100, height: 100))

    init() throws {
      setting = try Setting()
      window._displayScale = 2
    }

    private func makeView() -> RemoteImageView {
      let view = RemoteImageView(setting.pipeline)
      view.vitrine.onChange = { [history] in history.note($0) }
      view.frame = CGRect(x: 0, y: 0, width: 10, height: 10)
      return view
    }

    @Test
    func anImageFadesInOverItsPlaceholderWhichThenGoes() async throws {
      let view = makeView()
      window.addSubview(view)
      view.vitrine.load(Setting.cat, placeholder: .symbol("photo"))
      window.layoutIfNeeded()
      await history.settled()

      #expect(history.kinds == ["placeholder", "image, fading"])
      #expect(view.imageView.image?.cgImage?.width == 20)
      #expect(view.placeholderView.image != nil)
      _RunLoop._advance(by: 1)
      #expect(view.placeholderView.image == nil)
      #expect(view.imageView.alpha == 1)
    }

    @Test
    func anImageInMemoryIsThereAtOnceWithoutAPlaceholder() async throws {
      _ = try await setting.pipeline.image(for: Setting.request(Setting.cat))
      let view = makeView()
      view.vitrine.animates = false
      view.vitrine.load(Setting.request(Setting.cat), placeholder: .symbol("photo"))
      #expect(history.kinds == ["image"])
      #expect(view.placeholderView._imageHistory.compactMap { $0 }.isEmpty)
      #expect(view.imageView.image?.cgImage?.width == 20)
    }

    @Test
    func nothingIsLoadedOutsideOfAWindowAndLeavingItCancels() async throws {
      let view = makeView()
      view.vitrine.load(Setting.slow)
      view.layoutIfNeeded()
      #expect(setting.loader.counts.loads == 0)
      window.addSubview(view)
      window.layoutIfNeeded()
      let load = try await setting.loader.nextLoad(of: Setting.slow)
      view.removeFromSuperview()
      await load.wait { $0.isCancelled }
    }

    @Test
    func aFadeThatIsCutOffLeavesTheNextPlaceholder() async throws {
      let view = makeView()
      window.addSubview(view)
      window.layoutIfNeeded()
      view.vitrine.load(Setting.cat, placeholder: .symbol("photo"))
      await history.settled()
      view.vitrine.load(Setting.slow, placeholder: .symbol("hourglass"))
      _RunLoop._advance(by: 1)
      #expect(view.placeholderView.image?._facts.symbolName == "hourglass")
      #expect(view.imageView.image == nil)
    }

    @Test
    func aSecondImageFadesInOverTheFirstWhoseFadeHasNotEnded() async throws {
      let view = makeView()
      window.addSubview(view)
      window.layoutIfNeeded()
      view.vitrine.load(Setting.cat, placeholder: .symbol("photo"), transition: .fade(1))
      await history.settled()
      _RunLoop._advance(by: 0.5)
      let first = try #require(view.imageView.image)

      view.vitrine.load(Setting.dog, placeholder: .keepCurrent, transition: .fade(2))
      await history.settled()
      #expect(view.imageView.image !== first)
      // Past the end of the first fade.
      _RunLoop._advance(by: 1)
      #expect(view.placeholderView.image === first)
      _RunLoop._advance(by: 2)
      #expect(view.placeholderView.image == nil)
      #expect(view.imageView.alpha == 1)
    }

    @Test
    func anImageInMemoryEndsTheFadeOfTheFirst() async throws {
      _ = try await setting.pipeline.image(for: Setting.request(Setting.dog))
      let view = makeView()
      view.vitrine.animates = false
      window.addSubview(view)
      window.layoutIfNeeded()
      view.vitrine.load(Setting.cat, placeholder: .symbol("photo"), transition: .fade(1))
      await history.settled()
      _RunLoop._advance(by: 0.5)

      view.vitrine.load(Setting.request(Setting.dog))
      #expect(history.kinds.last == "image")
      #expect(view.imageView.alpha == 1)
      #expect(view.imageView.layer.animationKeys() == nil)
      #expect(view.placeholderView.image == nil)
    }

    @Test
    func aLoadDoesNotKeepTheViewAlive() async throws {
      weak var released: RemoteImageView?
      let load: FakeLoad
      do {
        let view = makeView()
        window.addSubview(view)
        view.vitrine.load(Setting.slow, placeholder: .symbol("photo"))
        window.layoutIfNeeded()
        load = try await setting.loader.nextLoad(of: Setting.slow)
        released = view
        view.removeFromSuperview()
      }
      await load.wait { $0.isCancelled }
      #expect(released == nil)
    }

    @Test
    func aCellThatIsUsedAgainShowsItsOwnImageOnly() async throws {
      let cell = UICollectionViewCell(frame: CGRect(x: 0, y: 0, width: 10, height: 10))
      window.addSubview(cell)
      cell.contentConfiguration = RemoteImageConfiguration(ImageRequest(url: Setting.slow), pipeline: setting.pipeline)
      window.layoutIfNeeded()
      let late = try await setting.loader.nextLoad(of: Setting.slow)
      let view = try #require(cell.contentView as? RemoteImageView)
      view.vitrine.onChange = { [history] in history.note($0) }

      cell.contentConfiguration = RemoteImageConfiguration(ImageRequest(url: Setting.cat), pipeline: setting.pipeline)
      #expect(cell.contentView === view)
      await late.wait { $0.isCancelled }
      late.respond(with: setting.response)
      await history.settled()

      #expect(view.imageView._imageHistory.compactMap { $0 }.count == 1)
    }

    @Test
    func aViewOfAppKitLoadsInItsWindowAtItsPixels() async throws {
      let window = NSWindow(
        contentRect: CGRect(x: 0, y: 0, width: 50, height: 50),
        styleMask: .titled,
        backing: .buffered,
        defer: false,
      )
      let view = MacRemoteImageView(setting.pipeline)
      view.vitrine.onChange = { [history] in history.note($0) }
      view.frame = CGRect(x: 0, y: 0, width: 10, height: 10)
      view.vitrine.load(Setting.cat, placeholder: .symbol("photo"))
      #expect(setting.loader.counts.loads == 0)
      window.contentView?.addSubview(view)
      window.layoutIfNeeded()
      await history.settled()
      #expect(view.imageView.image?.size == CGSize(width: 20, height: 20))
      #expect(view.placeholderView.image == nil)
      view.vitrine.clear()
      #expect(view.imageView.image == nil)
    }
  }
}
