import Testing
import VitrineCaching
import VitrineRuntime

@testable import Vitrine

/// The latest answer about a source, and for how long it is remembered.
struct SourceRecordTests {
  private let records = SourceRecords()
  private let source = CacheKey { $0.append("source") }
  private let one = ContentID(low: 1, high: 1)
  private let two = ContentID(low: 2, high: 2)

  @Test
  func whatWasAskedForEarlierAndComesLaterTakesNobodyBack() {
    let record = records.record(of: source)
    let (early, late) = (records.nextSequence(), records.nextSequence())
    #expect(record.acceptResponse(late, two))
    #expect(!record.acceptResponse(early, one))
    #expect(record.sequence == late)
    #expect(record.isOutdated(early, one))
    // The same content, or what was asked for last, is not.
    #expect(!record.isOutdated(early, two))
    #expect(!record.isOutdated(late, one))
    // Who says it again is not late.
    #expect(record.acceptResponse(late, two))
  }

  @Test
  func allWhoHoldARecordSeeTheSameAndAfterThemNothingIsRemembered() {
    var held = [records.record(of: source), records.record(of: source)]
    let sequence = records.nextSequence()
    #expect(held[0].acceptResponse(sequence, one))
    #expect(held[1].sequence == sequence)
    #expect(records.record(of: CacheKey { $0.append("another") }).sequence == 0)
    held.removeFirst()
    #expect(held.map(\.sequence) == [sequence])
    held = []
    #expect(records.record(of: source).sequence == 0)
  }
}
