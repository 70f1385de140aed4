import VitrineCaching
import VitrineRuntime

/// The latest answer about one source, while anything is under way that was made of an earlier one perhaps.
///
/// Answers are ordered by when they were asked for: one that was asked for earlier and comes later takes nobody back. Every
/// job of a source holds a record from its beginning to its end, and all of them see the same answer; when nothing is under
/// way, nothing can come late, and nothing is remembered.
final class SourceRecord: Sendable {
  /// A place in the order of all questions of a pipeline; the later one is the greater.
  typealias Ask = UInt64

  private let source: CacheKey
  private let records: SourceRecords

  fileprivate init(_ source: CacheKey, _ records: SourceRecords) { (self.source, self.records) = (source, records) }

  deinit { records.release(source) }

  /// The question that the latest answer belongs to; what is in the caches counts as that answer.
  var ask: Ask { latest.ask }

  private var latest: SourceRecords.Entry { records.state.withLock { $0.entries[source] ?? SourceRecords.Entry() } }

  /// Takes note of an answer, unless one to a later question has come.
  ///
  /// - Returns: Whether it is the latest now.
  func claim(_ ask: Ask, _ contentID: ContentID) -> Bool {
    records.state.withLock { state in
      // Whoever asks holds the record.
      guard let index = state.entries.index(forKey: source), state.entries.values[index].ask <= ask else {
        return false
      }
      (state.entries.values[index].ask, state.entries.values[index].contentID) = (ask, contentID)
      return true
    }
  }

  /// Whether other content has come in answer to a later question.
  func isOutdated(_ ask: Ask, _ contentID: ContentID) -> Bool {
    let latest = latest
    return latest.ask > ask && latest.contentID != contentID
  }
}

/// The latest answers about all sources of which something is under way.
final class SourceRecords: Sendable {
  fileprivate struct Entry {
    var holds = 1
    var ask: SourceRecord.Ask = 0
    var contentID = ContentID.none
  }

  fileprivate struct State {
    var entries: [CacheKey: Entry] = [:]
    var lastAsk: SourceRecord.Ask = 0
  }

  fileprivate let state = Lock(State())

  /// Returns the record of a source, for whoever works on it to hold.
  func record(of source: CacheKey) -> SourceRecord {
    state.withLock { $0.entries[source, default: Entry(holds: 0)].holds += 1 }
    return SourceRecord(source, self)
  }

  /// Returns the place of a question that is asked now.
  func nextAsk() -> SourceRecord.Ask {
    state.withLock { state in
      state.lastAsk += 1
      return state.lastAsk
    }
  }

  fileprivate func release(_ source: CacheKey) {
    state.withLock { state in
      guard let index = state.entries.index(forKey: source) else { return }
      state.entries.values[index].holds -= 1
      if state.entries.values[index].holds == 0 { state.entries.remove(at: index) }
    }
  }
}
