import Testing
import Vitrine
import VitrineCaching
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Images of files that the disk cache keeps, as long as the file is of one version.
@Suite(.patient)
struct StoredFileImageTests {
  private let parts = PipelineParts()
  private let folder: TemporaryFolder
  private let path: String
  private let photograph = Bitmap.testPattern(width: 1200, height: 900)

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path + "/a.png"
    try write(photograph)
  }

  private func write(_ bitmap: Bitmap) throws { try bitmap.encoded(as: .png).write(to: URL(filePath: path)) }

  private func request(
    version: String? = "1",
    _ storage: StoragePolicy? = .automatic,
    size: TargetSize? = .pixels(64, 64),
  ) -> ImageRequest {
    var request = ImageRequest(.file(path), size: size)
    (request.cachePartition, request.storagePolicy) = (version, storage)
    return request
  }

  /// Loads an image as after a start of the program; everything that it stores is stored when this returns.
  private func load(_ request: ImageRequest) async throws -> ImageResponse {
    let pipeline = ImagePipeline.testing(parts)
    let response = try await pipeline.imageTask(for: request).response
    await pipeline.cache.flush()
    return response
  }

  @Test(arguments: [StoragePolicy.automatic, .finished, .both])
  func anImageOfAVersionIsReadInPlaceOfTheFile(storage: StoragePolicy) async throws {
    let first = try await load(request(storage))
    try FileManager.default.removeItem(atPath: path)
    let second = try await load(request(storage))

    #expect(first.origin == .local && second.origin == .disk)
    #expect(second.image.isSamePixels(as: first.image) || second.image.psnr(against: first.image) > 40)
    #expect((second.container.info.width, second.container.info.height) == (1200, 900))
  }

  @Test
  func anotherVersionIsAnotherImage() async throws {
    _ = try await load(request())
    try write(.solid(SIMD4(255, 0, 0, 255), width: 1200, height: 900))
    let response = try await load(request(version: "2"))

    #expect(response.origin == .local)
    #expect(response.image[30, 20] == SIMD4(255, 0, 0, 255))
  }

  @Test
  func withoutAVersionOrAPolicyNothingIsStored() async throws {
    for request in [
      request(version: nil), request(version: ""), request(nil), request(.original), request(size: nil),
    ] {
      #expect(try await load(request).origin == .local)
      #expect(try await load(request).origin == .local)
    }
    // Half a million pixels are read as quickly as an image of them.
    try write(.testPattern(width: 800, height: 600))
    #expect(try await load(request()).origin == .local)
    #expect(try await load(request()).origin == .local)
  }

  @Test
  func whatIsRemovedIsReadAgain() async throws {
    _ = try await load(request())
    await ImagePipeline.testing(parts).cache.remove(request())

    #expect(try await load(request()).origin == .local)
  }

  @Test
  func aReloadReadsTheFile() async throws {
    _ = try await load(request())
    var again = request()
    again.cachePolicy = .reload

    #expect(try await load(again).origin == .local)
  }
}
