import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

struct HostileTests {
  @Test(arguments: HostileImage.heavy.filter { $0.limit != nil })
  func aBombIsRefusedByTheLimitItPasses(image: HostileImage) {
    let error = failure { try decode(image.data, .pixels(64, 64)) }

    #expect(error?.code == .overLimit)
    #expect(error?.limit == image.limit)
  }

  @Test(arguments: HostileImage.heavy.filter { $0.limit == nil && $0.name.contains("multiply") })
  func whatMultipliesIsRefused(image: HostileImage) {
    let error = failure { try decode(image.data, .pixels(64, 64)) }

    #expect(error?.code == .overLimit || error?.code == .corrupt)
  }

  @Test
  func directoriesThatOnlyLeadBackAreNoPicture() throws {
    let image = try #require(HostileImage.heavy.first { $0.name.hasPrefix("circle") })

    #expect(failure { try decode(image.data) }?.code == .corrupt)
  }

  /// Found by fuzzing: nobody asks all of four thousand million strips where they are.
  @Test
  func aDirectoryOfStripsWithoutEndIsRefused() throws {
    let file = try #require(
      Data(
        base64Encoded: "SUkqAAgAAAAIAAABBAABAAAAAQAAAAEBBAABAAAAAQAA+P3+/AAEAAAAbgAAAAYBAwABAAAABQAAABEBBAAB"
          + "AAAAdgAAABUBAwABAAAABAAAABYBBAABAAAAAQAAABcBBAABAAAABAAAAAAAAAAIAAgACAAIAAAAAEE="
      )
    )

    let error = failure { try decode(file) }

    #expect(error?.code == .truncated || error?.code == .corrupt)
  }

  @Test(arguments: [("animated.avif", 2), ("animated.jxl", 2)])
  func framesBelowTheOneAskedForAreCounted(name: String, frame: Int) throws {
    let file = try Fixture.data(name)
    let info = try registry.info(of: file)

    let error = failure {
      try decode(file) { options in
        options.frame = frame
        options.limits.composedPixelCount = info.width * info.height
      }
    }

    #expect(error?.limit == .composedPixelCount)
  }
}
