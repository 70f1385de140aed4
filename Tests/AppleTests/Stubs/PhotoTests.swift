import Photos
import PhotosUI
import Synchronization
import Testing
import Vitrine
import VitrinePhotos
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Pictures of the photo library and of its picker; the library answers one test at a time.
@Suite(.patient, .serialized)
struct PhotoTests {
  private let setting: Setting
  private var pipeline: ImagePipeline { setting.pipeline }
  private let manager = PHImageManager.default()

  init() throws { setting = try Setting() }

  private func asset(_ name: String, modified: Date? = nil) -> PHAsset {
    let asset = PHAsset(_identifier: name, modified: modified)
    PHAsset._library.withLock { $0[name] = asset }
    return asset
  }

  /// Has the library answer each request in a task of its own.
  private func answer(_ data: Data?, _ info: [String: any Sendable] = [:]) {
    manager._whenAsked { number in
      Task { PHImageManager.default()._take(number)?._answer(data, info) }
    }
  }

  @Test
  func anAssetIsDecodedToTheSizeOfTheRequest() async throws {
    answer(setting.bytes)
    let request = ImageRequest(.photo(asset("cat")), size: .pixels(20, 20))
    let image = try await pipeline.image(for: request)
    #expect((image.width, image.height) == (20, 15))
    #expect(pipeline.cachedImage(for: request) != nil)
  }

  @Test
  func anotherEditIsAnotherSource() async throws {
    answer(setting.bytes)
    let first = ImageRequest(.photo(asset("cat", modified: Date(timeIntervalSinceReferenceDate: 1))))
    _ = try await pipeline.image(for: first)
    let edited = ImageRequest(.photo(asset("cat", modified: Date(timeIntervalSinceReferenceDate: 2))))
    #expect(pipeline.cachedImage(for: first) != nil)
    #expect(pipeline.cachedImage(for: edited) == nil)
  }

  @Test
  func anAssetThatHasLeftTheLibraryFails() async {
    let request = ImageRequest(.photo(PHAsset(_identifier: "gone")))
    await #expect {
      try await pipeline.image(for: request)
    } throws: {
      ($0 as? LoadError)?.code == .unreadable && "\($0)".contains("no such picture")
    }
  }

  @Test
  func aFileOnICloudFailsIfItMayNotBeFetched() async {
    answer(nil, [PHImageResultIsInCloudKey: true])
    let request = ImageRequest(.photo(asset("cloud"), allowsNetwork: false))
    await #expect { try await pipeline.image(for: request) } throws: { "\($0)".contains("only on iCloud") }
  }

  @Test
  func theLibrarysErrorIsTheCause() async {
    answer(nil, [PHImageErrorKey: HTTPError(.timedOut, url: "icloud.invalid", "took too long")])
    let request = ImageRequest(.photo(asset("slow")))
    await #expect {
      try await pipeline.image(for: request)
    } throws: {
      (($0 as? LoadError)?.cause as? HTTPError)?.code == .timedOut
    }
  }

  @Test
  func aLoadThatIsCancelledIsCancelledInTheLibraryToo() async throws {
    let (asked, continuation) = AsyncStream.makeStream(of: PHImageRequestID.self)
    manager._whenAsked { continuation.yield($0) }
    let task = pipeline.imageTask(for: ImageRequest(.photo(asset("cat"))))
    var numbers = asked.makeAsyncIterator()
    let number = try #require(await numbers.next())
    task.cancel()
    await #expect(throws: LoadError.self) { try await task.response }
    // The closure of the source hears of it on a thread of its own.
    while let request = manager._take(number) {
      manager._putBack(request, number)
      await Task.yield()
    }
  }

  @Test
  func aPickedItemIsAPicture() async throws {
    let item = PhotosPickerItem(_data: setting.bytes, number: 1)
    let request = ImageRequest(.photo(item))
    #expect(try await pipeline.image(for: request).width == 40)
    #expect(pipeline.cachedImage(for: ImageRequest(.photo(PhotosPickerItem(_data: nil, number: 2)))) == nil)
    #expect(pipeline.cachedImage(for: ImageRequest(.photo(item))) != nil)
  }

  @Test
  func aPickedItemWithoutDataFails() async {
    let request = ImageRequest(.photo(PhotosPickerItem(_data: nil, itemIdentifier: "video")))
    await #expect { try await pipeline.image(for: request) } throws: { "\($0)".contains("no image") }
  }
}
