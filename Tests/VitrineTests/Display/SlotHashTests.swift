import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import Vitrine

/// A hash as the placeholder of an image.
@MainActor
@Suite(.patient)
struct SlotHashTests {
  private let loading = FakeLoading()
  private let mailbox = FrameMailbox.manual()
  private let screen = ContentScreen()
  private let slot: ImageSlot
  private let photo = Bitmap.testPattern(width: 60, height: 40)

  init() {
    slot = ImageSlot(loader: loading, mailbox: mailbox)
    slot.display = screen
    slot.showsPreviews = true
  }

  @Test
  func itsPictureIsShownWithinTheCallAndTheImageFadesInOverIt() {
    let hash = ThumbHash(photo)
    slot.load(.named("A"), placeholder: .thumbHash(hash))
    #expect(screen.sizes == [[hash.bitmap.width, hash.bitmap.height]])
    for (x, y) in [(0, 0), (31, 0), (16, 10)] { #expect(screen.bitmaps.first?[x, y] == hash.bitmap[x, y]) }
    loading.loads[0].end(1)
    mailbox.deliver()
    guard case .image(_, fades: true) = screen.contents.last else {
      Issue.record("\(screen.contents)")
      return
    }
  }

  @Test
  func aPreviewTakesItsPlace() {
    slot.load(.named("A"), placeholder: .thumbHash(ThumbHash(photo)))
    loading.loads[0].send(.preview(.tagged("A", 0)))
    mailbox.deliver()
    guard case .preview = screen.contents.last else {
      Issue.record("\(screen.contents)")
      return
    }
  }

  @Test(arguments: [
    (ratio: 2.0, width: 32, height: 16), (0.25, 8, 32), (1000, 32, 1), (-1, 32, 32), (.nan, 32, 32),
    (.infinity, 32, 32),
  ])
  func aBlurHashHasTheGivenShape(ratio: Double, width: Int, height: Int) throws {
    let hash = try BlurHash(photo)
    slot.load(.named("A"), placeholder: .blurHash(hash, aspectRatio: ratio))
    #expect(screen.sizes == [[width, height]])
  }

  @Test
  func aBlurHashWithoutAShapeHasThatOfTheRequestOrOfTheView() throws {
    let hash = try BlurHash(photo)
    slot.load(.named("A"), placeholder: .blurHash(hash))
    slot.sizeChanged(width: 100, height: 200)
    slot.load(.named("B"), placeholder: .blurHash(hash))
    var request = ImageRequest.named("C")
    request.size = .pixels(80, 20)
    slot.load(request, placeholder: .blurHash(hash))
    request = .named("D")
    request.size = .pixels(width: 80)
    slot.load(request, placeholder: .blurHash(hash))
    #expect(screen.sizes == [[32, 32], [16, 32], [32, 8], [16, 32]])
  }

  @Test
  func thePlaceholderOfARequestIsShownInPlaceOfTheSlots() {
    var request = ImageRequest.named("A")
    request.placeholder = .thumbHash(ThumbHash(photo))
    slot.load(request, placeholder: .symbol("slot"))
    #expect(screen.bitmaps.count == 1)
    slot.load(.named("B"), placeholder: .symbol("slot"))
    guard case .placeholder(.symbol("slot")) = screen.contents.last else {
      Issue.record("\(screen.contents)")
      return
    }
  }

  /// A blurred picture would look as if it were still loading.
  @Test(arguments: [true, false])
  func aFailureShowsTheAverageColour(isNamed: Bool) throws {
    let hash = ThumbHash(photo)
    slot.load(.named("A"), placeholder: .thumbHash(hash), failure: isNamed ? .thumbHash(hash) : nil)
    loading.loads[0].end(nil)
    mailbox.deliver()
    guard case .failure(_, shows: .color(hash.averageColor)) = screen.contents.last else {
      Issue.record("\(screen.contents)")
      return
    }
  }

  @Test
  func aHashThatIsNoneGivesTheAlternative() throws {
    let hash = try BlurHash(photo)
    #expect(Placeholder.thumbHash(base64: ThumbHash(photo).base64).isEqual(to: .thumbHash(ThumbHash(photo))))
    #expect(Placeholder.thumbHash(base64: "no hash", else: .symbol("photo")).isEqual(to: .symbol("photo")))
    #expect(Placeholder.thumbHash(base64: "").isEqual(to: .none))
    #expect(Placeholder.blurHash(hash.string, aspectRatio: 2).isEqual(to: .blurHash(hash, aspectRatio: 2)))
    #expect(Placeholder.blurHash("\u{1F600}", else: .color(.black)).isEqual(to: .color(.black)))
  }

  @Test
  func itDoesNotAffectTheImage() {
    var request = ImageRequest.named("A")
    let plain = request
    request.placeholder = .thumbHash(ThumbHash(photo))
    #expect(request.imageKey == plain.imageKey)
    #expect(request.isSame(as: plain))
    #expect(request != plain)
    var other = plain
    other.placeholder = .thumbHash(ThumbHash(photo))
    #expect(request == other)
    (request.placeholder, other.placeholder) = (.image(photo), .image(photo))
    #expect(request == other)
    other.placeholder = .image(Bitmap.testPattern(width: 60, height: 40))
    #expect(request != other)
  }
}

/// A view that remembers all that it shows.
private final class ContentScreen: ImageDisplay {
  private(set) var contents: [ImageSlot.Content] = []

  /// The bitmaps of placeholders.
  var bitmaps: [Bitmap] {
    contents.compactMap { if case .placeholder(.image(let bitmap)) = $0 { bitmap } else { nil } }
  }

  var sizes: [[Int]] { bitmaps.map { [$0.width, $0.height] } }

  func show(_ content: ImageSlot.Content) { contents.append(content) }
}
