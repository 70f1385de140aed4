import Testing
import VitrineImaging
import VitrineRuntime

@testable import VitrineCommandLine

/// The cores that the tool lends to decodes.
struct CoreTests {
  private func cores(_ arguments: String...) throws -> CoreBudget {
    let words = (["--size", "300x300", "-o", "/nowhere/out.png"] + arguments).map { ByteString($0) }
    return try ThumbnailCommand(Arguments(words[...], options: ThumbnailCommand.manual.options)).cores
  }

  @Test
  func oneJobAtATimeHasOneThread() throws {
    #expect(try cores("--jobs", "1", "a.heic").count == 1)
  }

  @Test
  func aLoneImageMayUseAllCores() throws {
    let cores = try cores("a.heic")

    #expect(cores.count == min(Batch.standardWidth(for: []), CoreBudget.machine.count))
    #expect(cores.enter().extend(to: 1024) == cores.count)
  }

  /// Each image of a batch takes its core from the same budget, so that none is left to lend.
  @Test
  func theImagesOfABatchShareTheCores() throws {
    let cores = try cores("--jobs", "1024", "a.heic")
    let shares = (0..<cores.count).map { _ in cores.enter() }

    #expect(cores.count == CoreBudget.machine.count)
    #expect(shares.map { $0.extend(to: 8) } == shares.map { _ in 1 })
  }
}
