import Testing
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import Vitrine

/// Reads that do not return, as those of a dead network file system.
@Suite(.patient)
struct FileReadsTests {
  private let clock = ManualClock()
  private let begun = Counter()
  private let gate = Gate()
  private let reads: FileReads

  init() { reads = FileReads(queueLimit: nil, clock: clock) }

  private func block() throws {
    _ = try reads.enqueue(priority: .normal) { [begun, gate] _ in
      begun.increase()
      gate.wait()
    }
  }

  private func read() async throws {
    let done = Deferred<Void>()
    _ = try reads.enqueue(priority: .normal) { _ in done.resolve(()) }
    await done.value()
  }

  @Test
  func othersAreReadWhileManyDoNotReturn() async throws {
    defer { gate.open() }
    for round in 1...5 {
      // Both places are taken.
      try block()
      try block()
      await begun.reaches(2 * round)
      await clock.pendingCount(reaches: 1)
      clock.advance(by: FileReads.patience)
      try await read()
    }
  }

  @Test
  func nobodyLosesAPlaceBeforeItsTime() async throws {
    defer { gate.open() }
    try block()
    await begun.reaches(1)
    clock.advance(by: .seconds(3))
    try block()
    await begun.reaches(2)
    _ = try reads.enqueue(priority: .normal) { _ in }
    clock.advance(by: FileReads.patience - .seconds(3) - .milliseconds(1))
    #expect(reads.queue.pendingCount == 1)

    // The first one is late now, and the other takes its place.
    clock.advance(by: .milliseconds(1))
    try await read()
    #expect(reads.queue.pendingCount == 0)
    // The alarm waits for the second one.
    #expect(clock.pendingCount == 1)
  }

  @Test
  func readsThatEndLeaveNothingBehind() async throws {
    for _ in 0..<10 { try await read() }
    #expect(clock.pendingCount == 1)
    clock.advance(by: FileReads.patience)
    #expect(clock.pendingCount == 0)
  }
}
