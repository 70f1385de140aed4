import VitrineCaching
import VitrineHTTP
import VitrineRuntime

/// The latest response of one source, kept while any work on that source is running.
///
/// Responses are ordered by their requests: a late response to an earlier request changes nothing. Every job of a
/// source holds a record, and all of them see the same response; without jobs, nothing is remembered.
final class SourceRecord: Sendable {
  /// The place of a request in the order of all requests of a pipeline.
  typealias Ask = UInt64

  private let source: CacheKey
  private let records: SourceRecords

  fileprivate init(_ source: CacheKey, _ records: SourceRecords) { (self.source, self.records) = (source, records) }

  deinit { records.release(source) }

  /// The request of the latest response; cached data counts as that response.
  var ask: Ask { latest.ask }

  private var latest: SourceRecords.Entry { records.state.withLock { $0.entries[source] ?? SourceRecords.Entry() } }

  /// Records a response, unless a later request has been answered.
  ///
  /// - Returns: True if it is now the latest response.
  func claim(_ ask: Ask, _ contentID: ContentID) -> Bool {
    records.state.withLock { state in
      // The caller holds the record, so there is an entry.
      guard let index = state.entries.index(forKey: source), state.entries.values[index].ask <= ask else {
        return false
      }
      (state.entries.values[index].ask, state.entries.values[index].contentID) = (ask, contentID)
      return true
    }
  }

  /// Records the values of the request fields that a response's `Vary` names, unless another response came before.
  ///
  /// - Returns: The values of the first response.
  func first(_ variation: HTTPFields) -> HTTPFields {
    records.state.withLock { state in
      let first = state.entries[source]?.variation ?? variation
      state.entries[source]?.variation = first
      return first
    }
  }

  /// Returns true if a later request has brought other content.
  func isOutdated(_ ask: Ask, _ contentID: ContentID) -> Bool {
    let latest = latest
    return latest.ask > ask && latest.contentID != contentID
  }
}

/// The latest responses of all sources that are being worked on.
final class SourceRecords: Sendable {
  fileprivate struct Entry {
    var holds = 1
    var ask: SourceRecord.Ask = 0
    var contentID = ContentID.none
    /// The values of the first response with a `Vary`, which has the plain key; `nil` before one has come.
    var variation: HTTPFields?
  }

  fileprivate struct State {
    var entries: [CacheKey: Entry] = [:]
    var lastAsk: SourceRecord.Ask = 0
  }

  fileprivate let state = Lock(State())

  /// Returns the record of a source, to be held while working on it.
  func record(of source: CacheKey) -> SourceRecord {
    state.withLock { $0.entries[source, default: Entry(holds: 0)].holds += 1 }
    return SourceRecord(source, self)
  }

  /// Returns the place of a request that is made now.
  func nextAsk() -> SourceRecord.Ask {
    state.withLock { state in
      state.lastAsk += 1
      return state.lastAsk
    }
  }

  /// Makes everything outdated that was asked for before, as if a response with other content had come.
  ///
  /// Without a job there is nothing that could come late.
  func outdate(_ source: CacheKey) {
    state.withLock { state in
      state.lastAsk += 1
      guard let index = state.entries.index(forKey: source) else { return }
      Self.outdate(&state.entries.values[index], at: state.lastAsk)
    }
  }

  /// Makes everything outdated that was asked for before, whatever its source.
  func outdateAll() {
    state.withLock { state in
      state.lastAsk += 1
      for index in state.entries.indices { Self.outdate(&state.entries.values[index], at: state.lastAsk) }
    }
  }

  private static func outdate(_ entry: inout Entry, at ask: SourceRecord.Ask) {
    (entry.ask, entry.contentID, entry.variation) = (ask, .none, nil)
  }

  fileprivate func release(_ source: CacheKey) {
    state.withLock { state in
      guard let index = state.entries.index(forKey: source) else { return }
      state.entries.values[index].holds -= 1
      if state.entries.values[index].holds == 0 { state.entries.remove(at: index) }
    }
  }
}
