import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

struct LimitTests {
  static let files = [
    "lossy-420.avif", "animated.avif", "lossy.heic", "thumbnail.heic", "lossy.jxl", "animated.jxl", "lzw.tiff",
    "tiles.tiff",
  ]

  @Test(arguments: files)
  func pixelsAreLimited(name: String) throws {
    let file = try Fixture.data(name)
    let info = try registry.info(of: file)

    let error = failure {
      try decode(file, .pixels(4, 4)) { options in
        options.limits.pixelCount = info.width * info.height - 1
      }
    }

    #expect(error?.code == .overLimit)
    #expect(error?.format == info.format)
    #expect(error?.detail.contains("over the limit") == true)
    #expect(throws: Never.self) { try decode(file) { $0.limits.pixelCount = info.width * info.height } }
  }

  @Test(arguments: files)
  func aSideIsLimited(name: String) throws {
    #expect(failure { try decode(Fixture.data(name)) { $0.limits.side = 40 } }?.code == .overLimit)
  }

  @Test(arguments: ["animated.avif", "animated.jxl", "pages.tiff"])
  func framesAreLimited(name: String) throws {
    let file = try Fixture.data(name)

    #expect(failure { try decode(file) { $0.limits.frameCount = 2 } }?.code == .overLimit)
    #expect(throws: Never.self) { try decode(file) { $0.limits.frameCount = 3 } }
  }

  @Test(arguments: files)
  func aTimeLimitOfZeroIsOver(name: String) throws {
    #expect(failure { try decode(Fixture.data(name)) { $0.limits.timeLimit = .zero } }?.code == .outOfTime)
  }

  @Test(arguments: files, [nil, TargetSize.pixels(10, 10)])
  func whatIsCancelledUnderWayStops(name: String, size: TargetSize?) throws {
    let file = try Fixture.data(name)
    let questions = Lock(0)

    let error = failure {
      try decode(file, size) { options in
        options.isCancelled = {
          questions.withLock {
            $0 += 1
            return $0 > 2
          }
        }
        options.acceptsPartial = true
      }
    }

    #expect(error?.isCancellation == true)
    #expect(questions.withLock { $0 } == 3)
  }

  @Test(arguments: ["animated.avif"])
  func framesThatALaterOneBuildsOnCanBeCancelled(name: String) throws {
    let file = try Fixture.data(name)
    let questions = Lock(0)

    let error = failure {
      try decode(file) { options in
        options.frame = 2
        // One question before anything, one before the rows, and one for each frame.
        options.isCancelled = {
          questions.withLock {
            $0 += 1
            return $0 == 4
          }
        }
      }
    }

    #expect(error?.isCancellation == true)
  }
}
