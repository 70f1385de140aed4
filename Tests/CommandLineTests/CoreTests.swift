import Testing
import VitrineImaging
import VitrineRuntime

@testable import VitrineCommandLine

/// The cores that the tool lends to decodes.
struct CoreTests {
  private func options(_ arguments: String...) throws -> DecodeOptions {
    let words = (["--size", "300x300", "-o", "/nowhere/out.png"] + arguments).map { ByteString($0) }
    return try ThumbnailCommand(Arguments(words[...], options: ThumbnailCommand.manual.options)).options
  }

  @Test
  func oneJobAtATimeHasOneThread() throws {
    #expect(try options("--jobs", "1", "a.heic").cores?.count == 1)
  }

  @Test
  func aLoneImageMayUseAllCores() throws {
    let cores = try #require(try options("a.heic").cores)

    #expect(cores.count == min(Batch.standardWidth(for: []), CoreBudget.machine.count))
    #expect(cores.enter().extend(to: 1024) == cores.count)
  }

  /// Each image of a batch takes its core from the same budget, so that none is left to lend.
  @Test
  func theImagesOfABatchShareTheCores() throws {
    let cores = try #require(try options("--jobs", "1024", "a.heic").cores)
    let shares = (0..<cores.count).map { _ in cores.enter() }

    #expect(cores.count == CoreBudget.machine.count)
    #expect(shares.map { $0.extend(to: 8) } == shares.map { _ in 1 })
  }
}
