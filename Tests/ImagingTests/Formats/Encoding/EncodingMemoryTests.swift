import Testing
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineImaging

/// The memory that encoding holds of what all decodes have in common.
struct EncodingMemoryTests {
  /// An encoder that notes how much is held.
  private struct Watching: ImageEncoder, MeasuredEncoder {
    let budget: ByteBudget
    let held = Lock<[Int]>([])

    struct Options: EncodingOptions {
      let identifier = ""

      init(quality: Int?, isLossless: Bool) {}
    }

    var format: ImageFormat { .png }
    var features: EncoderFeatures { .animation }
    var byteCountPerPixel: Int { 10 }

    func encode(_ input: EncoderInput, _ options: Options) throws(ImageError) -> Data {
      note()
      guard let animation = input.animation else { return Data() }
      var frames = try input.frames(of: animation)
      while try frames.next() != nil { note() }
      return Data()
    }

    private func note() { held.withLock { $0.append(budget.heldCount) } }
  }

  private let budget = ByteBudget(limit: 1 << 30)

  @Test
  func aPictureHoldsWhatItsEncoderSays() throws {
    let (share, encoder) = (MemoryShare(of: budget), Watching(budget: budget))
    let image = ImageContainer(Bitmap.testPattern(width: 30, height: 20))

    _ = try EncoderRegistry([encoder]).encode(image, as: ImageEncoding(.png), within: share, isCancelled: nil)

    #expect(encoder.held.withLock { $0 } == [6000])
    share.release()
    #expect(budget.heldCount == 0)
  }

  @Test
  func theFramesOfAnAnimationAreDecodedWithinTheSameShare() throws {
    let (share, encoder) = (MemoryShare(of: budget), Watching(budget: budget))
    let animation = try AnimatedImage(AnimatedImageTests.file(3))
    var image = ImageContainer(animation.poster)
    image.animation = animation
    let own = 10 * image.bitmap.width * image.bitmap.height

    _ = try EncoderRegistry([encoder]).encode(image, as: ImageEncoding(.png), within: share, isCancelled: nil)

    let held = encoder.held.withLock { $0 }
    #expect(held.count == 4)
    #expect(held.first == own)
    // And as much as a frame.
    #expect(held.dropFirst().allSatisfy { $0 >= own + image.bitmap.byteCount })
    share.release()
    #expect(budget.heldCount == 0)
  }

  @Test
  func whoWaitsForMemoryCanBeCancelled() throws {
    let (other, share, encoder) = (MemoryShare(of: budget), MemoryShare(of: budget), Watching(budget: budget))
    #expect(other.tryHold(1 << 30))
    let asked = Lock(0)

    let error = failure {
      try EncoderRegistry([encoder]).encode(
        ImageContainer(Bitmap.testPattern(width: 3, height: 2)),
        as: ImageEncoding(.png),
        within: share,
        isCancelled: {
          asked.withLock { asked in
            asked += 1; return asked > 2
          }
        },
      )
    }

    #expect(error?.isCancellation == true)
    #expect(encoder.held.withLock { $0 }.isEmpty)
    other.release()
    #expect(budget.heldCount == 0)
  }
}
