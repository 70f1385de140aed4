import Testing
import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// The faces that a file names are known of its image, wherever that comes from.
@Suite(.patient)
struct SubjectTests {
  private static let url = "https://example.org/a.jpg"
  private let parts = PipelineParts()

  /// Starts a pipeline as after a start of the program.
  private func start(_ storage: StoragePolicy = .both) -> ImagePipeline {
    .testing(parts) { $0.storagePolicy = storage }
  }

  private func request(_ side: Double?, _ processors: [ImageProcessor] = []) -> ImageRequest {
    ImageRequest(url: Self.url, size: side.map { .pixels($0, $0) }, processors: processors)
  }

  /// A picture with noise on the left, and a face on the right.
  private func serve() throws {
    var generator = SplitMix64(seed: 5)
    let picture = Bitmap.pixels(width: 160, height: 80, alpha: .opaque) { x, _ in
      let level = x < 60 ? UInt8.random(in: 0...255, using: &generator) : 128
      return SIMD4(level, level, level, 255)
    }
    let packet = """
      http://ns.adobe.com/xap/1.0/\0<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description \
      xmlns:mwg-rs="http://www.metadataworkinggroup.com/schemas/regions/" \
      xmlns:stArea="http://ns.adobe.com/xmp/sType/Area#"><mwg-rs:Regions rdf:parseType="Resource"><mwg-rs:RegionList>\
      <rdf:Bag><rdf:li mwg-rs:Type="Face"><mwg-rs:Area stArea:x="0.8" stArea:y="0.5" stArea:w="0.1" stArea:h="0.2"/></rdf:li>\
      </rdf:Bag></mwg-rs:RegionList></mwg-rs:Regions></rdf:Description></rdf:RDF>
      """
    let file = try picture.encoded(as: ImageEncoding(.jpeg, quality: 90))
    let length = packet.utf8.count + 2
    let segment = Data([0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 255)]) + Data(packet.utf8)
    let headers: HTTPFields = ["Cache-Control": "max-age=60", "ETag": "\"1\""]
    parts.loader.answer(Self.url, with: file.prefix(2) + segment + file.dropFirst(2), headers: headers)
  }

  private func load(_ request: ImageRequest, _ pipeline: ImagePipeline) async throws -> ImageResponse {
    let response = try await pipeline.imageTask(for: request).response
    await pipeline.cache.flush()
    return response
  }

  private func expectFace(_ response: ImageResponse) throws {
    let face = try #require(response.container.subjects.first)
    #expect(face.kind == .face && abs(face.x - 0.75) < 0.01 && abs(face.width - 0.1) < 0.01, "\(face)")
  }

  @Test
  func ofImagesFromServerDiskAndMemory() async throws {
    try serve()
    let pipeline = start()
    try expectFace(try await load(request(80), pipeline))
    // From the pixels that are kept on disk, and from the original.
    let again = try await load(request(80), start(.finished))
    #expect(again.origin == .disk)
    try expectFace(again)
    try expectFace(try await load(request(60), start(.original)))
    // Made of the larger image in memory.
    let smaller = try await load(request(40), pipeline)
    #expect(smaller.origin == .memory)
    try expectFace(smaller)
    #expect(parts.loader.counts.loads == 1)
  }

  /// Whatever the caches hold, a smart crop shows the same part.
  @Test
  func aSmartCropIsTheSameWhereverItsPixelsAreFrom() async throws {
    try serve()
    let cropped = request(80, [.smartCrop(aspectRatio: 1)])
    let pipeline = start()
    _ = try await load(request(80), pipeline)
    let ofMemory = try await load(cropped, pipeline)
    let ofDisk = try await load(cropped, start(.finished))
    let finished = try await load(request(80, [.smartCrop(aspectRatio: 1), .flip(.horizontal)]), start())
    #expect(ofMemory.image.width == 40)
    for response in [ofMemory, ofDisk, finished] { #expect(response.container.subjects.map(\.kind) == [.face]) }
    #expect(ofDisk.image.psnr(against: ofMemory.image) > 40)
  }
}
