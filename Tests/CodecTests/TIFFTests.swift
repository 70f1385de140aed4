import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTesting

struct TIFFTests {
  /// A directory of one page, 2 by 2 grey pixels in one strip, little-endian.
  static func page(at offset: Int, next: Int, tags: [(tag: Int, type: Int, count: Int, value: Int)] = []) -> [UInt8] {
    var all: [(tag: Int, type: Int, count: Int, value: Int)] = [
      (256, 3, 1, 2), (257, 3, 1, 2), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1), (273, 4, 1, offset),
      (277, 3, 1, 1),
      (278, 3, 1, 2), (279, 4, 1, 4),
    ]
    all.removeAll { entry in tags.contains { $0.tag == entry.tag } }
    let entries = (all + tags).sorted { $0.tag < $1.tag }
    let bytes = entries.flatMap {
      little($0.tag, 2) + little($0.type, 2) + little($0.count, 4) + little($0.value, 4)
    }
    return [10, 80, 160, 250] + little(entries.count, 2) + bytes + little(next, 4)
  }

  static func little(_ value: Int, _ size: Int) -> [UInt8] {
    (0..<size).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  static func file(_ next: Int = 0, tags: [(tag: Int, type: Int, count: Int, value: Int)] = []) -> Data {
    Data([0x49, 0x49, 42, 0] + little(12, 4) + page(at: 8, next: next, tags: tags))
  }

  @Test
  func aFileMadeByHandDecodes() throws {
    let bitmap = try decode(Self.file()).bitmap

    #expect([bitmap[0, 0].x, bitmap[1, 0].y, bitmap[0, 1].z, bitmap[1, 1].x] == [10, 80, 160, 250])
  }

  @Test
  func pagesHaveSizesOfTheirOwn() throws {
    let file = try Fixture.data("pages.tiff")

    let sizes = try (0..<3).map { page in try decode(file) { $0.frame = page }.bitmap.size }

    #expect(try registry.info(of: file).frameCount == 3)
    #expect(sizes == [[48, 32], [30, 20], [48, 32]])
    #expect(try decode(file, .pixels(15, 15)) { $0.frame = 1 }.bitmap.size == [15, 10])
    #expect(try decode(file) { $0.frame = 1 }.info.width == 30)
    #expect(failure { try decode(file) { $0.frame = 3 } }?.code == .noSuchFrame)
  }

  @Test
  func theLimitsHoldForEveryPage() throws {
    let small = Self.page(at: 8, next: 8 + 4 + 2 + 9 * 12 + 4 + 4)
    let large = Self.page(at: 8, next: 0, tags: [(256, 4, 1, 60_000), (257, 4, 1, 60_000), (278, 4, 1, 60_000)])
    let file = Data([0x49, 0x49, 42, 0] + Self.little(12, 4) + small + large)

    #expect(throws: Never.self) { try decode(file) }
    #expect(failure { try decode(file, .pixels(4, 4)) { $0.frame = 1 } }?.code == .overLimit)
  }

  @Test
  func coloursMultipliedByTheirCoverageAreDivided() throws {
    let reference = try Fixture.reference("picture-alpha")

    let bitmap = try decode(Fixture.data("associated.tiff")).bitmap

    for y in 0..<bitmap.height {
      for x in 0..<bitmap.width {
        let (pixel, expected) = (bitmap[x, y], reference[x, y])
        #expect(pixel.w == expected.w)
        // One level of the product is 255 / alpha levels of the colour.
        let tolerance = pixel.w == 0 ? 255 : 1 + 255 / Int(pixel.w)
        #expect(pixel.isWithin(tolerance, of: expected), "\(x), \(y)")
      }
    }
  }

  @Test
  func floatingPointIsSaidToBeUnsupported() throws {
    let error = failure { try decode(Fixture.data("float.tiff")) }

    #expect(error?.code == .unsupported)
    #expect(error?.detail.contains("32-bit") == true)
  }

  @Test
  func aChainOfDirectoriesThatLeadsBackIsRefused() {
    let error = failure { try decode(Self.file(12)) }

    #expect(error?.code == .corrupt)
    #expect(error?.detail.contains("leads back") == true)
  }

  @Test
  func aTagThatPromisesTooMuchTakesNoMemory() {
    // A profile of 4 GB, and as many strips.
    for tag in [(34_675, 7, 0xFFFF_FFF0, 8), (273, 4, 0xFFFF_FFF0, 8), (279, 4, 0x7FFF_FFFF, 8)] {
      do throws(ImageError) {
        let decoded = try decode(Self.file(tags: [tag]))
        #expect(decoded.info.colorProfile == nil)
      } catch {
        #expect([.corrupt, .truncated, .overLimit].contains(error.code), "\(error)")
      }
    }
  }

  @Test
  func aStripOverTheLimitIsRefused() {
    // 2 by 2 pixels of 65,535 samples are no picture that anyone keeps.
    let error = failure {
      try decode(Self.file(tags: [(277, 3, 1, 65_535), (256, 4, 1, 60_000), (278, 4, 1, 60_000)]))
    }

    #expect(error != nil)
  }

  @Test
  func smallerCopiesAndMasksAreNoPages() throws {
    let size = 4 + 2 + 10 * 12 + 4
    let first = Self.page(at: 8, next: 12 + size - 12, tags: [])
    let second = Self.page(at: 8, next: 0, tags: [(254, 4, 1, 1)])
    let file = Data([0x49, 0x49, 42, 0] + Self.little(12, 4) + first + second)

    #expect(try registry.info(of: file).frameCount == 1)
  }

  @Test
  func stripsStreamAndOneLargeStripDoesNot() throws {
    #expect(try registry.info(of: Fixture.data("packbits.tiff")).streamsRows)
    #expect(try registry.info(of: Fixture.data("tiles.tiff")).streamsRows)
    #expect(try registry.info(of: Self.file()).streamsRows == false)
  }
}
