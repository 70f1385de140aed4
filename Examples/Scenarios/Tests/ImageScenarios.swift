import Testing
import Vitrine
import VitrineTesting

/// Thumbnails of bytes and of bitmaps, without a pipeline.
@Suite(.timeLimit(.minutes(5)))
struct ImageScenarios {
  private let setting: Setting
  private let size = TargetSize.points(100, 100, scale: 2)

  init() throws {
    setting = try Setting()
  }

  @Test(arguments: [1.0, 2, 3])
  func downsamplingMultipliesPointsByTheScale(scale: Double) throws {
    let thumbnail = try Bitmap(decoding: setting.bytes, size: .points(100, 75, scale: scale))
    #expect(thumbnail.width == Int(100 * scale))
    #expect(thumbnail.height == Int(75 * scale))
  }

  @Test
  func aThumbnailHasThreeForms() async throws {
    let now = try Bitmap(decoding: setting.bytes, size: size)
    let awaited = try await Bitmap.byDecoding(setting.bytes, size: size)
    let calledBack = await withCheckedContinuation { done in
      Bitmap.decode(setting.bytes, size: size) { done.resume(returning: $0) }
    }
    for thumbnail in [now, awaited, try calledBack.get()] { #expect(thumbnail.width == 200) }
  }

  @Test
  func aBitmapIsResizedInThreeForms() async throws {
    let whole = try Bitmap(decoding: setting.bytes)
    let now = try whole.resized(to: size)
    let awaited = try await whole.byResizing(to: size)
    let calledBack = await withCheckedContinuation { done in
      whole.resize(to: size) { done.resume(returning: $0) }
    }
    for thumbnail in [now, awaited, try calledBack.get()] { #expect(thumbnail.width == 200) }
  }
}
