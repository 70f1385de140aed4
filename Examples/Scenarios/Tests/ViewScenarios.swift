import Testing
import Vitrine
import VitrineTesting

/// Views, cells and state, without a toolkit.
@MainActor
@Suite(.timeLimit(.minutes(5)))
struct ViewScenarios {
  private let setting: Setting
  private let pipeline: ImagePipeline
  private let gray = Placeholder.color(.init(0xE0E0E0))
  private let errorImage = Placeholder.image(.solid(SIMD4(255, 0, 0, 255), width: 8, height: 8))

  init() throws {
    setting = try Setting()
    pipeline = ImagePipeline.testing(setting.parts)
  }

  @Test
  func oneLineShowsAPlaceholderThenTheImage() async {
    let view = FakeView(pipeline)
    view.slot.load(setting.cat, placeholder: gray, failure: errorImage)
    #expect(await view.result() == "image")
    #expect(view.history == ["placeholder", "image"])
  }

  @Test
  func onlyAnImageThatWasNotInMemoryFadesIn() async throws {
    _ = try await pipeline.image(for: setting.cat)
    let (near, far) = (FakeView(pipeline), FakeView(pipeline))
    near.slot.load(setting.cat, placeholder: gray)
    #expect(near.history == ["image"])
    #expect(near.image?.fades == false)
    far.slot.load(setting.slow, placeholder: gray)
    try await setting.loader.nextLoad(of: setting.slow).respond(with: setting.response)
    #expect(await far.result() == "image")
    #expect(far.image?.fades == true)
  }

  @Test
  func oneLineTakesAURLAsText() async {
    let (found, lost) = (FakeView(pipeline), FakeView(pipeline))
    found.slot.load("https://images.invalid/cat.jpg", placeholder: gray, failure: errorImage)
    lost.slot.load("https://images.invalid/missing.jpg", placeholder: gray, failure: errorImage)
    #expect(await found.result() == "image")
    #expect(await lost.result() == "error image")
    #expect(lost.history == ["placeholder", "error image"])
  }

  @Test
  func symbolsStandForAnImageAndForAFailure() async {
    let view = StyledView(pipeline) { content in
      switch content {
      case .placeholder(.symbol(let name)), .failure(_, shows: .symbol(let name)): name
      default: "other"
      }
    }
    view.slot.load(setting.missing, placeholder: .symbol("image-loading"), failure: .symbol("image-missing"))
    #expect(await view.styles(2) == ["image-loading", "image-missing"])
  }

  @Test
  func aStyleIsAppliedToThePlaceholderAndToTheImage() async {
    let view = StyledView(pipeline) { content in
      if case .image(_, let fades) = content { fades ? "rounded, fading" : "rounded" } else { "dimmed" }
    }
    view.slot.load(setting.cat, placeholder: gray)
    #expect(await view.styles(2) == ["dimmed", "rounded, fading"])
    view.slot.load(setting.cat, placeholder: gray)
    view.slot.load(nil)
    view.slot.load(setting.cat, placeholder: gray)
    #expect(await view.styles(2) == ["dimmed", "rounded"])
  }

  @Test
  func aRecycledCellIsCancelledClearedAndBoundInOneCall() async throws {
    let cell = FakeView(pipeline)
    cell.slot.load(setting.slow, placeholder: gray)
    let late = try await setting.loader.nextLoad(of: setting.slow)
    cell.slot.load(setting.cat, placeholder: gray)
    await late.wait { $0.isCancelled }
    late.respond(with: setting.response)
    #expect(await cell.result() == "image")
    #expect(cell.history == ["placeholder", "placeholder", "image"])
  }

  @Test
  func anErrorImageStandsForAFailure() async {
    let view = FakeView(pipeline)
    view.slot.load(setting.missing, placeholder: gray, failure: errorImage)
    #expect(await view.result() == "error image")
  }

  @Test
  func aBadURLShowsTheErrorImageAtOnce() {
    let view = FakeView(pipeline)
    view.slot.load("not a URL", placeholder: gray, failure: errorImage)
    #expect(view.history.last == "error image")
  }

  @Test
  func aTableShowsEveryRowButThe404() async {
    let rows = [setting.cat, setting.missing, setting.dog].map { url in
      let view = FakeView(pipeline)
      view.slot.load(url, placeholder: gray, failure: errorImage)
      return view
    }
    let results = [await rows[0].result(), await rows[1].result(), await rows[2].result()]
    #expect(results == ["image", "error image", "image"])
  }

  @Test
  func aRecycledCellNeverShowsAnEarlierImage() async throws {
    let cell = FakeView(pipeline)
    cell.slot.load(setting.slow, placeholder: gray)
    let load = try await setting.loader.nextLoad(of: setting.slow)
    cell.slot.prepareForReuse()
    #expect(cell.history == ["placeholder", "empty"])
    await load.wait { $0.isCancelled }
    cell.slot.load(setting.cat)
    #expect(await cell.result() == "image")
    #expect(cell.history == ["placeholder", "empty", "image"])
  }

  @Test
  func aViewThatDisappearsCancelsItsLoad() async throws {
    let view = FakeView(pipeline)
    view.slot.load(setting.slow, placeholder: gray)
    let load = try await setting.loader.nextLoad(of: setting.slow)
    view.slot.isVisible = false
    await load.wait { $0.isCancelled }
    #expect(view.history == ["placeholder"])
  }

  @Test
  func anObservableLoaderHasTheImage() async throws {
    let loader = ImageLoader(pipeline)
    loader.load(setting.slow)
    #expect(loader.image == nil)
    try await setting.loader.nextLoad(of: setting.slow).respond(with: setting.response)
    await loader.settle()
    #expect(loader.image?.width == 320)
  }
}
